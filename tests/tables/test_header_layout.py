"""Where a table begins and ends in its file: titles, groups of columns, remarks, no header."""

from __future__ import annotations

import json

import pytest

from coterie.exceptions import InvalidData
from coterie.tables import read_table

BODY = "town,sold\nUlm,7\nRom,9\nBern,8\n"


def read(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_table(path)


@pytest.mark.parametrize(
    ("above", "lines"),
    [
        ("Sales of May\n", 1),
        ("# made by x\n# version 3, final\n", 2),
        ("Sales\n\nprinted 3 May\n", 2),
    ],
)
@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_titles_above_the_header_of_a_text_file(tmp_path, above, lines, sign):
    table = read(tmp_path / "t.csv", above + BODY.replace(",", sign))
    assert (table.names, table.n_rows) == (["town", "sold"], 3)
    assert table.notes == (f"{lines} line{'s' if lines > 1 else ''} above the header left out",)
    assert table.place(0) == f"line {above.count(chr(10)) + 2}"


def test_a_column_of_texts_with_signs_in_them_has_no_title(tmp_path):
    table = read(tmp_path / "t.csv", "text\nfast; cheap\nslow; dear\n")
    assert table.column("text").texts().tolist() == ["fast; cheap", "slow; dear"]
    with pytest.raises(InvalidData, match=r"line 2: 2 values for the 1 columns"):
        read(tmp_path / "t.csv", "text\nfast, cheap\nslow, dear\n")


STATEMENT = """"Account";"DE12"
"From:";"01.01.2024 - 31.01.2024"

"Day";"State";"To";"Sum";
"31.01.24";"booked";"Shop, Ulm";"-12,50 €";
"30.01.24";"booked";"Rent";"-1.890,00 €";
"""


def test_the_statement_of_a_bank(tmp_path):
    table = read(tmp_path / "t.csv", STATEMENT)
    assert table.names == ["Day", "State", "To", "Sum", "column_5"]
    assert (table.n_rows, table.place(0)) == (2, "line 5")
    assert table.notes[0] == "2 lines above the header left out"
    assert table.column("To").texts().tolist() == ["Shop, Ulm", "Rent"]
    plain = read(tmp_path / "t.csv", "Account of Ann, 2024\n" + "a;b\nx;1.200,50 €\ny;3,10 €\n")
    assert (plain.names, plain.n_rows) == (["a", "b"], 2)


SHEET = """Account of Ann,,,
From,01.01.2024 - 31.01.2024,,
,,,
Day,To,Remark,Sum
31.01.24,Shop,,"-12,50 €"
30.01.24,Rent,,"-1.890,00 €"
"""


def test_titles_that_a_spreadsheet_filled_up_to_the_width_of_the_table(tmp_path):
    table = read(tmp_path / "t.csv", SHEET)
    assert (table.names, table.n_rows) == (["Day", "To", "Remark", "Sum"], 2)
    assert (table.notes, table.place(0)) == (("3 lines above the header left out",), "line 5")
    assert table.column("To").texts().tolist() == ["Shop", "Rent"]


@pytest.mark.parametrize("rows", ["a,1,,\nb,2,,\n", "a,1,,\nb,2,x,7\n", "a,x,,\nb,y,x,7\n"])
def test_a_header_that_ends_in_columns_without_a_name_is_no_title(tmp_path, rows):
    table = read(tmp_path / "t.csv", "town,sold,,\n" + rows)
    assert table.names == ["town", "sold", "column_3", "column_4"]
    assert table.n_rows == 2


def test_a_line_that_is_cut_is_no_title(tmp_path):
    """All below it are as wide, but none is a header: their numbers stand where names should."""
    cut = "town,kind,sold\nUlm,a,7\nRom,9\nBern,b,8\nRom,NA,6\n"
    with pytest.raises(InvalidData, match="line 3: 2 values for the 3 columns of the header"):
        read(tmp_path / "t.csv", cut)


@pytest.mark.parametrize(
    ("content", "note"),
    [
        ({"data": [{"x": 1, "y": "a"}, {"x": 2, "y": "b"}], "meta": {"total": 2}, "next": None},
         ("rows are those of 'data' in the file; what is beside it is left out",)),
        ({"x": {"0": 1, "1": 2}, "y": {"0": "a", "1": "b"}}, ()),  # pandas' to_json
    ],
)  # fmt: skip
def test_rows_within_json(tmp_path, content, note):
    table = read(tmp_path / "t.json", json.dumps(content))
    assert (table.names, table.notes) == (["x", "y"], note)
    assert table.column("x").numbers.values.tolist() == [1.0, 2.0]
    two = {"a": [{"x": 1}], "b": [{"x": 2}], "c": 1}
    with pytest.raises(InvalidData, match="expected a list of objects"):
        read(tmp_path / "t.json", json.dumps(two))


def test_rows_without_a_header(tmp_path):
    table = read(tmp_path / "t.csv", "5.1,3.5,a\n4.9,3.0,b\n6.2,,b\n")
    assert (table.names, table.n_rows) == (["column_1", "column_2", "column_3"], 3)
    assert "it is a row, and columns are numbered" in table.notes[0]
    assert table.place(1) == "line 2"
    by_year = read(tmp_path / "t.csv", "2019,2020\n5.1,4\n3.2,5\n")
    assert (by_year.names, by_year.n_rows, by_year.notes) == (["2019", "2020"], 2, ())


def test_columns_without_a_name(tmp_path):
    table = read(tmp_path / "t.csv", ",x,\n0,1,\n1,2,\n")
    assert table.names == ["column_1", "x", "column_3"]
    assert "column 1 has no name in the header; it is called 'column_1'" in table.notes


@pytest.mark.parametrize("code", ["utf-16", "utf-16-le", "utf-16-be"])
def test_what_excel_calls_unicode_text(tmp_path, code):
    mark = {"utf-16": b"", "utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}[code]
    table = read(tmp_path / "t.csv", mark + "Größe\tn\r\n1,5\t2\r\n".encode(code))
    assert table.column("Größe").texts().tolist() == ["1,5"]


def workbook(path, rows):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return read_table(path)


def test_a_sheet_with_groups_of_columns_above_their_names(tmp_path):
    names = ["name", "height", "weight", "age"]
    rows = [[None, "sizes", None, None], names, ["ann", 1.6, 58, 30], ["bob", 1.9, 90, 41]]
    table = workbook(tmp_path / "b.xlsx", rows)
    assert (table.names, table.n_rows, table.place(0)) == (names, 2, "row 3")
    assert table.notes == ("1 row above the header left out",)


def test_a_sheet_with_remarks_below_the_table(tmp_path):
    rows = [["region", "sold", "rest"], ["N", 5, 1], ["S", 7, 2], [], ["Source: till"], ["3 May"]]
    table = workbook(tmp_path / "b.xlsx", rows)
    assert (table.n_rows, table.notes) == (2, ("2 rows below the table left out",))
    # Without an empty row between them it may be a row of the table.
    assert workbook(tmp_path / "c.xlsx", [*rows[:3], ["E"]]).n_rows == 3


def test_objects_inside_json_are_columns(tmp_path):
    rows = [
        {"id": 1, "who": {"age": 30, "home": {"town": "Ulm"}}, "tags": ["a", "b"]},
        {"id": 2, "who": {"age": 41}, "tags": ["a"]},
    ]
    lines = read(tmp_path / "t.jsonl", "\n".join(map(json.dumps, rows)))
    whole = read(tmp_path / "t.json", json.dumps(rows))
    for table in (lines, whole):
        assert table.names == ["id", "who.age", "who.home.town", "tags"]
        assert table.column("who.age").numbers.values.tolist() == [30, 41]
        assert table.column("who.home.town").texts().tolist() == ["Ulm", None]


@pytest.mark.parametrize("indent", ["", "   "])
def test_numbers_with_spaces_between_them(tmp_path, indent):
    path = tmp_path / "d.txt"
    rows = ["x   y z", "1.5 2   -3", "4   5e2  6"]
    path.write_bytes("".join(f"{indent}{row} \r\n" for row in rows).encode())
    table = read_table(path)
    found = {name: table.column(name).numbers.values.tolist() for name in table.columns}
    assert found == {"x": [1.5, 4.0], "y": [2.0, 500.0], "z": [-3.0, 6.0]}
    assert table.place(1) == "line 3"


def test_words_with_spaces_between_them_are_one_column(tmp_path):
    path = tmp_path / "d.txt"
    path.write_text("full name\nAnn Lee\nBob Ray\n")
    assert list(read_table(path).columns) == ["full name"]


def test_rows_that_are_too_short_or_too_long(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("a,b,c\n1,2\n")
    with pytest.raises(InvalidData, match=r"line 2: 2 values for the 3 columns .* Write a ','"):
        read_table(path)
    path.write_text("a,b,c\n1,2,3,4\n")
    with pytest.raises(InvalidData, match=r"line 2: 4 values .* Put values that hold a ',' in"):
        read_table(path)

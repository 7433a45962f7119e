"""Cells as people write them, second set: what is read, what is told, and what to type instead."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta

import pytest
from awkward import GROUP, RNG, N, numbers, write

DAYS = [datetime(2021, 1, 3) + timedelta(days=600 * int(g) + t) for t, g in enumerate(GROUP)]


def test_a_statement_of_accounts_with_european_decimals(folder, fit):
    x = numbers()
    write(
        "d.csv",
        {
            "Preis": [f"{v:.2f}".replace(".", ",") for v in x],
            "Saldo": [
                f"{v:.2f}".replace(".", ",") + "-" * int(g) for v, g in zip(x, GROUP, strict=True)
            ],
            "Menge": [f"{1000 * v:,.0f}".replace(",", "'") for v in x],
            "Gebühr": [("CHF 12.-", "CHF 7.-")[g] for g in GROUP],
            "Faktor": [f"{v:.3f}" for v in x],
        },
        delimiter=";",
    )
    said, right = fit("d.csv", "--scale")
    assert right
    assert "Clustered by 5 numbers\n" in said
    assert "Faktor: points read as parting thousands" in said
    assert "if not, say Faktor:number/point in --columns" in said
    said, right = fit("d.csv", "--features", "Saldo", "--force")
    assert right  # 99,50- is owed


@pytest.mark.parametrize("mixed", ["€", "$"])
def test_percent_basis_points_and_one_currency(folder, fit, run, mixed):
    x = numbers()
    price = [f"{mixed if t % 2 else '$'}{v:.2f}" for t, v in enumerate(x)]
    write(
        "d.csv",
        {
            "rate": [f"{v:.1f}%" for v in x],
            "change": [f"{v - 120:+.2f} %" for v in x],
            "fee": [f"{v:.0f} bps" for v in x],
            "area": [f"{v:.0f} sq ft" for v in x],
            "price": price,
        },
    )
    if mixed == "$":
        assert "Clustered by 5 numbers\n" in fit("d.csv", "--scale")[0]
        return
    said = run("fit", "d.csv", "-k", 2).output
    assert "column 'price' mixes $ and €: bring them to one unit, or leave the column out" in said


def test_kilograms_and_grams_are_not_mixed(folder, run):
    weight = [f"{v:.1f} kg" if t % 3 else f"{1000 * v:.0f} g" for t, v in enumerate(numbers())]
    write("d.csv", {"weight": weight, "x": numbers()})
    assert (
        "column 'weight' mixes G and KG: bring them to one" in run("fit", "d.csv", "-k", 2).output
    )


DATES = {
    "us": "%m/%d/%Y",
    "de": "%d.%m.%Y",
    "plain": "%Y%m%d",
    "long": "%A, %d %B %Y",
    "mail": "%a, %d %b %Y %H:%M:%S +0000",
    "month": "%m/%Y",
    "excel": "%d-%b-%y",
    "short": "%b-%y",
}


@pytest.mark.parametrize("name", DATES)
def test_dates_in_every_order_are_one_date(folder, fit, name):
    write("d.csv", {"when": [day.strftime(DATES[name]) for day in DAYS]})
    said, right = fit("d.csv")
    assert right
    assert "Clustered by 1 date\n" in said
    assert ("whole numbers read as dates" in said) == (name == "plain")


def test_dates_in_two_orders_in_one_column_are_refused(folder, run):
    when = [f"{d:%Y-%m-%d}" if t % 5 else f"{d:%d.%m.%Y}" for t, d in enumerate(DAYS)]
    write("d.csv", {"when": when, "x": numbers()})
    said = run("fit", "d.csv", "-k", 2).output
    assert "line 2: '03.01.2021' in column 'when' is not a date (year, month, day)" in said


def test_durations_are_no_times_of_day(folder, fit):
    x = numbers()
    write(
        "d.csv",
        {
            "worked": [f"{int(v // 10)}h {int(v) % 10}m" for v in x],
            "flown": [f"{int(v // 4)}:{int(v) % 60:02}:00" for v in x],
            "run": [f"PT{int(v)}M30S" for v in x],
            "waited": [f"{int(v)} min" if v < 120 else f"{v / 60:.2f} hrs" for v in x],
        },
    )
    said, right = fit("d.csv", "--scale")
    assert right
    assert "Clustered by 4 numbers\n" in said
    assert said.count("read as how long something took, in seconds") == 4


def test_clocks_that_may_be_durations_are_told(folder, fit):
    lap = [f"{1 + 20 * g}:{RNG.integers(0, 60):02}" for g in GROUP]
    write("d.csv", {"lap": lap})
    said, _ = fit("d.csv")
    assert "lap: read as times of the day; if they say how long something took, say" in said
    assert "lap:number/duration in --columns" in said
    said, right = fit("d.csv", "--columns", "lap:number/duration", "--force")
    assert right
    assert "Clustered by 1 number\n" in said
    assert "times of the day" not in said
    write("e.csv", {"at": [f"{1 + g}:{RNG.integers(0, 60):02} {'ap'[g]}m" for g in GROUP]})
    assert "took" not in fit("e.csv", "--force")[0]


def test_yes_and_no_in_several_languages(folder, fit):
    pairs = {"en": "no yes", "de": "nein ja", "fr": "non oui", "up": "FALSE TRUE", "tick": "✗ ✓"}
    write("d.csv", {name: [words.split()[g] for g in GROUP] for name, words in pairs.items()})
    said, right = fit("d.csv")
    assert right
    assert "Clustered by 5 categories\n" in said


def test_codes_of_every_kind(folder, fit):
    write(
        "d.csv",
        {
            "phone": [f"+49 30 {RNG.integers(10**6, 10**7)}" for _ in GROUP],
            "zip": [("01067", "80331")[g] for g in GROUP],
            "plz": [(8001, 3011, 4051)[t % 3] for t in range(N)],
            "isbn": [9780000000000 + int(v) for v in RNG.permutation(10**6)[:N]],
            "order": [f"ORD-{RNG.integers(10**5, 10**6)}" for _ in GROUP],
            "at": [
                f"{48.1 + g:.4f}, {11.2 + v:.4f}"
                for g, v in zip(GROUP, numbers() / 1e4, strict=True)
            ],
        },
    )
    said, right = fit("d.csv", "--columns", "plz:drop")
    assert right
    assert (
        "Clustered by 1 category, 1 vector; dropped: phone (all different), isbn (all different), "
        "order (all different)\n" in said
    )
    assert "2 categories, 1 vector" in fit("d.csv", "--force")[0]


def test_nested_json_lines(folder, fit):
    with open("d.jsonl", "w", encoding="utf-8") as file:
        for t, v in enumerate(numbers()):
            at = {"city": ("Ulm", "Rom")[GROUP[t]], "geo": [48.1 + GROUP[t], 11.5]}
            row = {"id": f"u{t}", "user": {"age": int(v), "at": at}, "on": bool(GROUP[t])}
            file.write(json.dumps({**row, "note": None}) + "\n")
    said, right = fit("d.jsonl", "--scale")
    assert right
    assert "dropped: id (an id: all different), note (no values)" in said
    assert "the same in every row: user.at.geo1" in said


def test_a_sheet_with_titles_a_remark_and_a_header_in_two_lines(folder, fit, run):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    for line in (["Quarterly report"], ["as of", datetime(2024, 5, 1)], []):
        sheet.append(line)
    sheet.append(["region", "Sales", None, "Date"])
    sheet.append([None, "EUR", "pieces", None])
    sheet.merge_cells("B4:C4")
    for t, v in enumerate(numbers()):
        sheet.append([("N", "S")[GROUP[t]], float(v), int(v), DAYS[t]])
    sheet.append(["Total", 1234.0, 99, None])
    book.save("d.xlsx")
    said = run("fit", "d.xlsx", "-k", 2).output
    assert "no value in column 'Date'. The last row (row 66) seems to be a total" in said
    said, right = fit("d.xlsx", "--where", "region != Total", "--scale", "--save", "m")
    assert right
    assert "3 rows above the header left out" in said
    assert "Clustered by 1 category, 2 numbers, 1 date\n" in said
    assert fit("d.xlsx", "--where", "Sales pieces < 1000", "--features", "Sales EUR", "--force")


QUOTED = ('5" pipe', 'he said "hi" to me')


def test_tabs_and_quotes_that_are_no_quotes(folder, fit, rows):
    with open("d.tsv", "w", encoding="utf-8") as file:
        file.write("name\tremark\tx\n")
        for t, v in enumerate(numbers()):
            file.write(f"n{t}\t{QUOTED[GROUP[t]]}\t{v:.2f}\n")
    _, right = fit("d.tsv")
    assert right
    assert {row["remark"] for row in rows("out.csv")} == set(QUOTED)


def test_empty_columns_and_headers_that_come_twice(folder, fit):
    with open("d.csv", "w") as file:
        file.write("x,,x,y,,\n")
        file.writelines(
            f"{v:.2f},,{v:.2f},{'ab'[g]},,\n" for v, g in zip(numbers(), GROUP, strict=True)
        )
    said, right = fit("d.csv")
    assert right
    assert "dropped: column_2 (no values), column_5 (no values), column_6 (no values)" in said


def test_every_word_for_no_value_is_named_at_once(folder, fit, run):
    def gaps(*words):
        values = numbers().round(1).astype(object)
        values[::3] = RNG.choice(words, len(values[::3]))
        return values

    a, b, c = gaps("-999"), gaps("n/a", "?"), gaps("-", ".", "none")
    write("d.csv", {"a": a, "b": b, "c": c, "x": numbers()})
    said = run("fit", "d.csv", "-k", 2).output
    assert "say --missing '?,-,.,n/a,none' if it means that there is no value" in said
    said, _ = fit("d.csv", "--missing", "?,-,.,n/a,none", "--impute")
    assert "say --missing '-999,-,.,?,n/a,none' (with --impute" in said
    said, right = fit("d.csv", "--missing", "-999,-,.,?,n/a,none", "--impute", "--force")
    assert right
    assert "far from" not in said


@pytest.mark.parametrize("code", ["utf-16", "utf-16-le", "utf-16-be", "latin-1", "cp850"])
def test_files_in_other_codes(folder, fit, run, code):
    write("d.csv", {"Straße": ["Müllerstraße", "Übergröße"] * (N // 2), "x": numbers()}, ",", code)
    if code == "cp850":
        said = run("fit", "d.csv", "-k", 2).output
        assert "line 1: not UTF-8 text" in said
        assert "iconv -f CODE -t utf-8 d.csv > new.csv, where CODE is cp850" in said
        return
    said, right = fit("d.csv")
    assert right
    wanted = "not UTF-8; read as Windows-1252 (Latin-1); if letters look wrong, save it as UTF-8"
    assert (wanted in said) == (code == "latin-1")


def test_very_long_texts(folder, fit):
    words = (["river", "water", "boat", "fish"], ["engine", "wheel", "brake", "gear"])
    body = [" ".join(["the", *RNG.choice(words[g], 5000), str(t)]) for t, g in enumerate(GROUP)]
    write("d.csv", {"body": body})
    said, right = fit("d.csv")
    assert right
    assert "Clustered by 1 text (body: " in said


def test_numbers_written_in_a_way_nobody_reads_are_told(folder, fit):
    measured = [f"{v:.0f} ± {t % 7}" for t, v in enumerate(numbers() / 10)]
    write("d.csv", {"pm": measured, "age": [("18-24", "65+")[g] for g in GROUP], "x": numbers()})
    said, right = fit("d.csv")
    assert right
    different = len(set(measured))
    assert f"pm: {different} categories, most of which begin with digits, as '" in said
    assert "if these are amounts, write them as numbers, or leave pm out with --drop" in said
    assert "age: " not in said


def test_columns_set_by_spaces_below_remarks(folder, fit):
    with open("d.txt", "w") as file:
        file.write("# made by probe 7\n# unit: mm\n  time   value  flag\n")
        for t, v in enumerate(numbers()):
            file.write(f"{t:6d} {v:8.2f}  {('ok', 'bad')[GROUP[t]]}\n")
    said, right = fit("d.txt", "--scale")
    assert right
    assert "2 lines above the header left out" in said
    assert "Clustered by 1 number, 1 category; dropped: time (numbers the rows)" in said


def test_digits_of_other_scripts_are_digits(folder, fit):
    """What forms in Japan and Egypt are filled in with; they had become categories."""
    scripts = {"wide": 0xFF10, "arabic": 0x660, "hindi": 0x966}
    texts = {name: [f"{x:.1f}" for x in numbers()] for name in scripts}
    for name, zero in scripts.items():
        signs = {ord(str(digit)): chr(zero + digit) for digit in range(10)}
        signs[ord(".")] = {"wide": "．", "arabic": "٫", "hindi": "."}[name]
        texts[name] = [text.translate(signs) for text in texts[name]]
    write("d.csv", texts)
    said, right = fit("d.csv", "--scale")
    assert right
    assert "Clustered by 3 numbers\n" in said


def test_a_file_of_whole_numbers_and_words_without_a_header(folder, fit, rows):
    """Its first row had become the names of the columns, and was not clustered."""
    x = numbers().astype(int)
    write("d.csv", {x[0]: x[1:], "ok": [("ok", "bad")[t % 2] for t in range(1, N)]})
    said, _ = fit("d.csv", "--features", "column_1")
    assert "it is a row, and columns are numbered" in said
    assert len(rows("out.csv")) == N
    write("d.csv", {"2019": x, "town": [("Ulm", "Rom")[t % 2] for t in range(N)]})
    said, right = fit("d.csv", "--features", "2019", "--force")
    assert right
    assert "it is a row" not in said


def test_amounts_that_are_left_out_as_texts_are_told(folder, fit):
    x = numbers()
    write(
        "d.csv",
        {
            "lat": [f"{v:.0f}°{t % 60}'{17 * t % 60}\"N" for t, v in enumerate(x)],
            "rated": [f"{v:.3f}{('*', '†', '')[t % 3]}" for t, v in enumerate(x)],
            "phone": [f"+49 30 {501234 + 77 * t}" for t in range(N)],
            "host": [f"10.0.{t}.{t % 7}" for t in range(N)],
            "x": x,
        },
    )
    said, right = fit("d.csv")
    assert right
    for name, text in (("lat", "°"), ("rated", "*")):
        assert re.search(rf"{name} \(all different, as '[^,]*\{text}[^,]*': if these are", said), (
            said
        )
    assert "phone (all different), host (all different)" in said


@pytest.mark.parametrize("sign", [" ", "\t"])
@pytest.mark.parametrize("quote", ['"', ""])
def test_a_table_as_r_writes_it(folder, fit, rows, sign, quote):
    """write.table has no name for the names of rows; the header had become one column's."""
    if quote:
        names = [f'"row {t} of {N}"' for t in range(N)]
    else:
        names = [str(t + 1) for t in range(N)]
    with open("d.txt", "w") as file:
        file.write(sign.join(f"{quote}{name}{quote}" for name in ("mpg", "cyl")) + "\n")
        for t, v in enumerate(numbers()):
            file.write(sign.join([names[t], f"{v:.3f}", str(4 + 2 * GROUP[t])]) + "\n")
    said, right = fit("d.txt", "--scale")
    assert right
    assert "the header has no name for the first column; it is called 'row'" in said
    why = "all different" if quote else "numbers the rows"
    assert f"Clustered by 2 numbers; dropped: row ({why})\n" in said
    assert rows("out.csv")[7]["row"] == names[7].strip('"')


def test_three_words_below_two_are_no_names_of_rows(folder, run):
    with open("d.csv", "w") as file:
        file.write("full name\n" + "".join(f"Ann{t} Lee {g}\n" for t, g in enumerate(GROUP)))
    assert "full name (all different)" in run("fit", "d.csv", "-k", 2).output


def test_files_that_are_no_text_say_what_they_are(folder, run):
    for start, remedy in (
        (b"PK\x03\x04", "name it .xlsx"),
        (b"\xd0\xcf\x11\xe0", "save it as .xlsx"),
        (b"PAR1", "name it .parquet"),
        (b"SQLite format 3\0", "name it .sqlite"),
    ):
        with open("d.csv", "wb") as file:
            file.write(start + b"\0\1\2")
        assert remedy in run("fit", "d.csv", "-k", 2).output

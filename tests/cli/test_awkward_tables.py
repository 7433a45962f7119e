"""Tables as people have them: each is used sensibly, and the command says what it did."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from datetime import datetime, timedelta

import numpy as np
import pytest
from awkward import GROUP, RNG, N, numbers, write


def test_german_csv(folder, fit):
    write(
        "d.csv",
        {
            "Größe": [f"{x:.1f}".replace(".", ",") for x in numbers()],
            "Umsatz": [
                f"{1000 * x:,.2f} €".translate(str.maketrans(",.", ".,")) for x in numbers()
            ],
            "Stück": [f"{int(x):,}".replace(",", ".") for x in 20 * numbers()],
            "Datum": [f"{1 + t % 28:02}.{1 + t % 12:02}.2024" for t in range(N)],
        },
        delimiter=";",
        encoding="cp1252",
    )
    said, right = fit("d.csv", "--scale")
    assert right
    assert "not UTF-8; read as Windows-1252" in said
    assert "Stück: points read as parting thousands" in said
    assert "Clustered by 3 numbers, 1 date\n" in said


def test_currency_percent_and_thousands(folder, fit):
    write(
        "d.csv",
        {
            "price": [f"${x:,.0f}" for x in 100 * numbers()],
            "share": [f"{x:.0f} %" for x in numbers()],
            "visits": [f"{x:,.0f}" for x in 1000 * numbers()],
        },
    )
    said, right = fit("d.csv", "--scale")
    assert right
    assert "Clustered by 3 numbers\n" in said
    assert (
        "visits: commas read as parting thousands; if not, say visits:number/comma in --columns"
        in said
    )


def test_dates_are_numbers_and_cycles(folder, fit):
    start = np.datetime64("2020-01-01T00:00")
    days = np.sort(RNG.integers(0, 1200, N))
    write(
        "d.csv",
        {
            "when": [
                str(start + np.timedelta64(int(d), "D") + np.timedelta64(int(d) % 1440, "m"))
                for d in days
            ],
            "at": [f"{8 + 12 * g:02}:{RNG.integers(0, 59):02}" for g in GROUP],
        },
    )
    said, right = fit("d.csv", "--features", "at")
    assert right
    assert "Clustered by 1 date\n" in said
    said, _ = fit("d.csv", "--force")
    assert "Clustered by 2 dates\n" in said
    said, _ = fit("d.csv", "--force", "--columns", "when:drop")
    assert "Clustered by 1 date\n" in said


def test_weeks_quarters_and_months_are_dates(folder, fit, run):
    """Groups that differ by year alone, however the calendar is cut."""
    year = 1990 + 20 * GROUP
    write(
        "d.csv",
        {
            "week": [f"{y}-W{1 + t % 52:02}" for t, y in enumerate(year)],
            "quarter": [f"Q{1 + t % 4} {y}" for t, y in enumerate(year)],
            "month": [f"{('Jan', 'Mai', 'Okt')[t % 3]} {y}" for t, y in enumerate(year)],
        },
        delimiter=";",
    )
    said, right = fit("d.csv")
    assert right
    assert "Clustered by 3 dates\n" in said
    assert "the same in every row" not in said  # a week has no weekday


def test_boxes_that_are_ticked_or_empty(folder, fit, run, rows):
    write("d.csv", {"done": ["x" if g else "" for g in GROUP], "n": [7 + t % 2 for t in GROUP]})
    said, right = fit("d.csv", "--save", "m")
    assert right
    assert "Note: done: 30 empty cells count as not 'x'\n" in said
    assert "the same in every row" not in said
    write("new.csv", {"done": ["x", "", "y"], "n": [8, 7, 8]})
    new = run("predict", "m", "new.csv", "-o", "new-out.csv")
    assert new.exit_code == 0, new.output
    assert "done: 1 values not seen in fitting" in new.output
    old = [row["cluster"] for row in rows("out.csv")]
    assert [row["cluster"] for row in rows("new-out.csv")][:2] == [old[1], old[0]]
    write("new.csv", {"done": ["x", "NA"], "n": [8, 7]})
    assert (
        "line 3: no value in column 'done'" in run("predict", "m", "new.csv", "-o", "o.csv").output
    )


def test_a_value_of_several_lines_stays_in_its_line(folder, fit):
    write("d.csv", {"remark": ["one\ntwo; three"] * N, "x": numbers()})
    said, right = fit("d.csv")
    assert right
    assert "Note: the same in every row: remark=one two; three\n" in said


def test_zones_are_brought_to_one_clock(folder, fit):
    """The same moments, written in four zones: no row differs from its neighbours of a group."""
    hours = [(0, 2, -5, 5)[t // 2 % 4] for t in range(N)]
    moments = [datetime(2024, 1, 1) + timedelta(days=200 * int(g)) for g in GROUP]
    local = [when + timedelta(hours=h) for when, h in zip(moments, hours, strict=True)]
    seen = [f"{when.isoformat()}{h:+03}:00" for when, h in zip(local, hours, strict=True)]
    write("d.csv", {"seen": seen})
    said, right = fit("d.csv")
    assert right
    assert "Clustered by 1 date\n" in said


def test_losses_in_parentheses(folder, fit):
    """What accountants write: (1,200.50) is less than nothing."""
    x = [-1200.5 if g else 1200.5 for g in GROUP]
    write(
        "d.csv",
        {
            "account": [f"{t:06}" for t in range(N)],
            "balance": [f"(${-v:,.2f})" if v < 0 else f"${v:,.2f}" for v in x],
        },
    )
    said, right = fit("d.csv")
    assert right
    assert "Clustered by 1 number; dropped: account (numbers the rows)\n" in said


def test_ids_names_and_constants_are_noticed(folder, fit, run):
    write(
        "d.csv",
        {
            "row": range(N),
            "customer_id": np.cumsum(RNG.integers(1, 9, N)),
            "name": [f"n{t}" for t in range(N)],
            "mail": [f"m{min(t, 57)}@x.org" for t in range(N)],
            "same": ["7"] * N,
            "x": numbers(),
        },
    )
    said, right = fit("d.csv")
    assert right
    assert (
        "2 numbers; dropped: row (numbers the rows), customer_id (an id: whole numbers that rise), "
        "name (all different), mail (58 of 60 different)\n" in said
    )
    assert "the same in every row: same" in said
    said, _ = fit("d.csv", "--force", "--columns", "row:number,same:drop,name:id")
    assert "Clustered by 2 numbers, 1 id; dropped: customer_id" in said
    result = run("fit", "d.csv", "-k", 2, "--json", "--method", "pckmeans")
    assert json.loads(result.stdout)["columns"].startswith("2 numbers; dropped: row")


WORDS = (["river", "water", "bridge", "boat", "flood"], ["engine", "wheel", "brake", "road", "car"])


def documents():
    return [" ".join(["the", *RNG.choice(WORDS[g], 6), "and", "it"]) for g in GROUP]


def test_mixed_text(folder, fit, rows):
    write("d.csv", {"x": RNG.normal(size=N), "note": documents()})
    said, right = fit("d.csv")
    assert "1 number, 1 text (note: " in said
    assert "words, English)" in said
    said, right = fit("d.csv", "--text", "note", "--force")
    assert right
    assert "Clustered by 1 text" in said


def test_documents_without_words_are_kept_apart_and_named(folder, fit, rows, run):
    texts = documents()
    texts[4] = "42 !"
    texts[7] = ""
    write("d.csv", {"key": [f"k{t}" for t in range(N)], "title": documents(), "body": texts})
    write("p.csv", {"a": ["k4", "k0"], "b": ["k0", "k2"], "kind": ["must", "must"]})
    said, _ = fit("d.csv", "p.csv", "--id", "key", "--text", "body", "--save", "model")
    assert "2 rows are without words and in no cluster (-1): k4, k7" in said
    assert "1 pair about rows that are left out not used" in said
    found = np.array([int(row["cluster"]) for row in rows("out.csv")])
    assert np.flatnonzero(found == -1).tolist() == [4, 7]
    kept = np.delete(np.arange(N), [4, 7])
    assert len({(a, b) for a, b in zip(found[kept], GROUP[kept], strict=True)}) == 2
    result = run("predict", "model", "d.csv", "-o", "again.csv")
    assert result.exit_code == 0, result.output
    assert [int(row["cluster"]) for row in rows("again.csv")] == found.tolist()
    result = run("report", "model", "d.csv", "p.csv")
    assert result.exit_code == 0, result.output
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "bridge" in page
    assert "topic" not in page.replace("topics", "")
    said, _ = fit("d.csv", "--text", "title,body", "--force")
    assert "2 texts (title: " in said
    assert "without words" not in said  # the title has some


def test_a_third_of_the_values_missing(folder, fit, run):
    columns = {}
    for name in "xyz":
        values = numbers().astype(object)
        values[RNG.random(N) < 0.3] = "NA"
        columns[name] = values
    write("d.csv", columns)
    result = run("fit", "d.csv", "-k", 2, "--method", "pckmeans")
    assert result.exit_code == 2
    assert "no value in column 'x'" in result.output
    assert "--impute" in result.output
    assert "--method ppc" in result.output
    said, _ = fit("d.csv", "--impute")
    assert "missing values filled by the mean" in said
    said, _ = fit("d.csv", "--force", method="ppc")
    assert "missing values stay so" in said


def test_na_may_be_namibia(folder, fit, run):
    write("d.csv", {"country": np.where(GROUP, "NA", "DE"), "x": numbers()})
    assert run("fit", "d.csv", "-k", 2, "--method", "pckmeans").exit_code == 2
    said, right = fit("d.csv", "--missing", "", "--save", "model")
    assert right
    assert "1 category, 1 number" in said
    result = run("predict", "model", "d.csv", "-o", "again.csv")
    assert "not seen" not in result.output
    write("e.csv", {"x": ["?" if t == 3 else x for t, x in enumerate(numbers())]})
    said, _ = fit("e.csv", "--missing", "?", "--impute", "--force")
    assert "x: 1 missing values filled" in said


def test_excel(folder, fit):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "Notes"
    sheet = book.create_sheet("Sales")
    sheet.append([])
    sheet.append(["day", "price", "town", None])
    for t, x in enumerate(numbers()):
        sheet.append([datetime(2024, 1, 1) + timedelta(days=t), x, ["Ulm", "Rom"][GROUP[t]]])
    book.save("d.xlsx")
    said, right = fit("d.xlsx", "--drop", "day")
    assert right
    assert "1 number, 1 category" in said
    said, _ = fit("d.xlsx::Sales", "--force")
    assert "1 date, 1 number, 1 category" in said


def test_five_hundred_columns(folder, fit):
    write("d.csv", {f"c{j}": numbers() for j in range(500)})
    said, right = fit("d.csv")
    assert right
    assert "Clustered by 500 numbers\n" in said


def test_two_rows(folder, fit):
    write("d.csv", {"name": ["ann", "bob"], "x": [1, 2]})
    said, _ = fit("d.csv")
    assert "2 clusters of 2 rows" in said
    assert "1 category, 1 number" in said


def test_duplicate_headers(folder, fit):
    x = numbers()
    with open("d.csv", "w") as file:
        file.write("x,x,x\n" + "".join(f"{v},{v},{v}\n" for v in x))
    said, right = fit("d.csv", "--features", "x_2")
    assert right
    assert "two columns are named 'x'; the second is used as 'x_2'" in said
    assert "the third is used as 'x_3'" in said


def test_databases_json_and_the_standard_input(folder, fit, run):
    table = {"x": numbers().round(3).tolist(), "town": ["Ulm"] * N}
    with sqlite3.connect("shop.db") as database:
        database.execute("CREATE TABLE sales (x REAL, town TEXT)")
        database.executemany("INSERT INTO sales VALUES (?, ?)", zip(*table.values(), strict=True))
        database.execute("CREATE TABLE other (y)")
    assert fit("shop.db::sales")[1]
    result = run("fit", "shop.db", "-k", 2)
    assert result.exit_code == 2
    assert "several tables: other, sales. Say which, for instance shop.db::other" in result.output
    assert "Did you mean 'sales'" in run("fit", "shop.db::sale", "-k", 2).output
    (folder / "d.json").write_text(json.dumps(table))
    assert fit("d.json", "--force")[1]
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    (folder / "d.json").write_text(json.dumps(rows))
    assert fit("d.json", "--force")[1]
    for text in (json.dumps(rows), "x\ttown\n" + "".join(f"{x}\tUlm\n" for x in table["x"])):
        result = run("fit", "-", "-k", 2, "--method", "pckmeans", "-o", "-", input=text)
        assert result.exit_code == 0, result.output
        assert result.stdout.startswith("x,town,cluster\n")
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect("shop.duckdb") as database:
        database.execute("CREATE TABLE sales AS SELECT * FROM 'd.json'")
    assert fit("shop.duckdb", "--force")[1]


def test_vectors_in_a_column_or_beside_the_table(folder, fit, run, rows):
    vectors = np.column_stack([numbers(), numbers(), RNG.normal(size=N)])
    with open("d.jsonl", "w") as file:
        for t in range(N):
            file.write(json.dumps({"name": f"n{t}", "v": vectors[t].tolist()}) + "\n")
    said, right = fit("d.jsonl", "--features", "v")
    assert right
    assert "Clustered by 1 vector" in said
    write("d.csv", {"name": [f"n{t}" for t in range(N)], "v": [str(v.tolist()) for v in vectors]})
    assert fit("d.csv", "--force")[1]
    np.save("v.npy", vectors)
    write("e.csv", {"name": [f"n{t}" for t in range(N)], "x": RNG.normal(size=N)})
    said, right = fit("e.csv", "--vectors", "v.npy", "--id", "name", "--save", "m", "--force")
    assert right
    assert "Clustered by 1 vector, 1 id" in said
    assert list(rows("out.csv")[0]) == ["name", "x", "cluster"]
    result = run("predict", "m", "e.csv", "--vectors", "v.npy", "-o", "again.csv")
    assert result.exit_code == 0, result.output
    assert rows("again.csv") == rows("out.csv")
    assert run("report", "m", "e.csv", "--vectors", "v.npy").exit_code == 0
    np.save("w.npy", vectors[1:])
    result = run("fit", "e.csv", "--vectors", "w.npy", "-k", 2)
    assert "59 vectors for the 60 rows" in result.output


def test_rows_by_a_condition(folder, fit, rows, run):
    write(
        "d.csv",
        {
            "x": numbers(),
            "day": [f"{1 + t % 28}.02.2024" for t in range(N)],
            "town": np.where(np.arange(N) < 30, "Ulm", "Rom"),
        },
    )
    write("p.csv", {"a": [0, 30], "b": [2, 31], "kind": ["must", "cannot"]})
    said, _ = fit(
        "d.csv", "p.csv", "--where", "town = Rom", "--where", "day >= 2024-02-10",
        "--only-labels", "--drop", "town,day", "--save", "model",
    )  # fmt: skip
    kept = [t for t in range(30, N) if 1 + t % 28 >= 10]
    assert f"{len(kept)} of 60 rows kept, where town = Rom and day >= 2024-02-10" in said
    assert [int(row["row"]) for row in rows("out.csv")] == kept
    assert run("report", "model", "d.csv", "p.csv").exit_code == 0


def test_a_total_below_the_rows(folder, fit, run):
    x = numbers()
    write("d.csv", {"order": [*(f"A{t}" for t in range(N)), "Total"], "amount": [*x, x.sum()]})
    said, _ = fit("d.csv")
    assert "The last row (line 62) seems to be a total" in said
    said, right = fit("d.csv", "--where", "order != Total", "--force")
    assert right
    assert "60 of 61 rows kept" in said
    assert "seems to be" not in said
    write("e.csv", {"order": [*range(N), "Sum:"], "a": [*x, x.sum()], "b": [*x, ""]})
    said = run("fit", "e.csv", "-k", 2).output
    assert "'Sum:' in column 'order' is not a number. The last row (line 62) seems to be a" in said
    assert "--where 'order != Sum:'" in said
    said = run("fit", "e.csv", "-k", 2, "--drop", "order").output
    assert "no value in column 'b'. The last row (line 62) seems to be a total" in said
    write("f.csv", {"kind": ["sum", "part"] * 30, "x": x})
    assert "seems to be" not in fit("f.csv", "--force")[0]


def test_decimals_with_two_signs_are_refused(folder, run):
    x = [f"{v:.2f}" for v in numbers()]
    write("d.csv", {"x": [v.replace(".", ",") if t % 2 else v for t, v in enumerate(x)], "y": x})
    said = run("fit", "d.csv", "-k", 2).output
    assert "column 'x' writes decimals in two ways, '" in said
    assert "write all with one sign, or leave the column out with --drop" in said


def test_values_that_are_no_numbers_are_listed(folder, fit, run):
    x = [f"{v:.1f}" for v in numbers()]
    x[3], x[8], x[9] = "-", "?", "?"
    write("d.csv", {"x": x, "y": numbers()})
    said = run("fit", "d.csv", "-k", 2).output
    assert "line 5: '-' in column 'x' is not a number (3 such rows: '-', '?')" in said
    assert "3 missing values" in fit("d.csv", "--missing", "-,?", "--impute")[0]
    x[3], x[8], x[9] = "n/a", "#N/A", "<NA>"
    write("d.csv", {"x": x, "y": numbers()})
    assert "3 missing values" in fit("d.csv", "--impute", "--force")[0]


def test_codes_for_no_value_are_noticed(folder, fit):
    x = numbers().round(1).astype(object)
    x[5], x[7] = -999, -999
    write("d.csv", {"x": x, "y": numbers()})
    said, right = fit("d.csv", "--scale")
    assert not right
    assert "x: -999 in 2 rows is far from the others (" in said
    assert "say --missing -999" in said
    said, right = fit("d.csv", "--missing", "-999", "--impute", "--force")
    assert right
    assert "far from" not in said
    write("d.csv", {"x": [-999.0, *range(-1000, -941)], "y": numbers()})  # one of many like it
    assert "far from" not in fit("d.csv", "--force")[0]


def test_one_unit_that_drowns_the_others_is_noticed(folder, fit):
    write("d.csv", {"income": 1000 * RNG.normal(size=N), "height": numbers() / 100})
    said, right = fit("d.csv")
    assert not right
    assert "income makes up 99 % of the differences between rows" in said
    said, _ = fit("d.csv", "--scale", "--force")
    assert "makes up" not in said


def test_ids_that_do_not_rise_or_come_twice(folder, fit):
    write(
        "d.csv",
        {
            "customer_id": RNG.permutation(N) + 4000,
            "shop id": [f"s{t // 2}" for t in range(N)],
            "x": numbers(),
        },
    )
    said, right = fit("d.csv")
    assert right
    assert "dropped: customer_id (an id by its name), shop id (an id: 30 of 60 different)" in said
    said, _ = fit("d.csv", "--columns", "customer_id:number,shop id:category", "--force")
    assert "Clustered by 2 numbers, 1 category\n" in said


def test_rupees_in_lakhs(folder, fit):
    text = ["₹12,34,567", "₹ 9,45,000.50", "₹1,200", "₹ 800"]
    write("d.csv", {"x": [text[t % 2] if g else text[2 + t % 2] for t, g in enumerate(GROUP)]})
    said, right = fit("d.csv")
    assert right
    assert "Clustered by 1 number\n" in said


def test_lists_of_words_are_no_vectors(folder, fit):
    with open("d.jsonl", "w") as file:
        for t, x in enumerate(numbers()):
            row = {"tags": ["a", "b"] if GROUP[t] else ["a"], "at": {"x": x}}
            file.write(json.dumps(row) + "\n")
    said, right = fit("d.jsonl")
    assert right
    assert "1 category, 1 number" in said


def test_data_and_pairs_in_one_order(data, run):
    plain = run("fit", "data.csv", "pairs.csv", "--id", "id", "-k", 3, "--seed", 0, "-o", "-")
    assert plain.exit_code == 0, plain.output
    assert "0 of 3 pairs broken" in plain.stderr
    named = run(
        "fit",
        "data.csv",
        "--constraints",
        "pairs.csv",
        "--id",
        "id",
        "-k",
        3,
        "--seed",
        0,
        "-o",
        "-",
    )
    assert named.stdout == plain.stdout


def test_a_reader_that_leaves_early_is_no_error(folder):
    write("d.csv", {"x": range(50_000), "y": range(50_000)})
    code = (
        "from coterie.cli.main import main; import sys; "
        "sys.argv = ['coterie', 'fit', 'd.csv', '--features', 'x,y', '-k', '2', '--method', "
        "'pckmeans', '--quiet', '-o', '-']; main()"
    )
    program = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert program.stdout.readline() == "x,y,cluster\n"
    program.stdout.close()
    assert program.stderr.read() == ""
    program.wait()

"""`coterie fit` and `coterie predict`, from a file to a file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

import coterie
from coterie import Constraints, Mosaic
from coterie.cli.exits import Exit
from coterie.cli.methods import METHODS, build
from coterie.exceptions import InvalidParameter
from coterie.tables import load_bundle
from coterie.tables.writing import neutral

PLAIN = ("--id", "id", "--drop", "class", "-k", 3, "--seed", 1)
QUICK = (*PLAIN, "--method", "pckmeans")


def labels_of(rows):
    return [int(row["cluster"]) for row in rows]


def test_the_rows_come_back_with_the_librarys_labels(data, run, rows):
    result = run("fit", "data.csv", "--constraints", "pairs.csv", *PLAIN, "-o", "out.csv")
    assert result.exit_code == 0, result.output
    written = rows("out.csv")
    before = rows("data.csv")
    assert [{k: r[k] for k in before[0]} for r in written] == before  # digit for digit
    towns = np.array([r["town"] for r in before])
    X = np.column_stack(
        [[float(r["height"]) for r in before], [float(r["weight"]) for r in before]]
        + [towns == town for town in ("Bern", "Rom", "Ulm")]
    )
    known = Constraints(30, must_link=[(0, 3), (1, 4)], cannot_link=[(0, 1)])
    model = Mosaic(3, random_state=1).fit(X, constraints=known)
    assert labels_of(written) == model.labels_.tolist()
    proba = model.predict_proba(X)[np.arange(30), model.labels_]
    assert np.allclose([float(r["confidence"]) for r in written], proba)
    assert "3 clusters of 30 rows by mosaic (sizes 10, 10, 10)" in result.stdout
    assert "0 of 3 pairs broken" in result.stdout


def test_predict_does_to_new_rows_what_fit_did(data, run, rows):
    assert run("fit", "data.csv", *QUICK, "--scale", "-o", "out.csv", "--save", "m").exit_code == 0
    again = run("predict", "m", "data.csv", "-o", "again.csv")
    assert again.exit_code == 0, again.output
    assert labels_of(rows("again.csv")) == labels_of(rows("out.csv"))
    Path("new.csv").write_text("town,weight,height\nUlm,0.1,0.2\nParis,20,20\n")
    result = run("predict", "m", "new.csv")
    assert result.exit_code == 0, result.output
    assert "not seen in fitting" in result.stderr
    first, second = (line.rsplit(",", 1) for line in result.stdout.splitlines()[1:3])
    a_class = labels_of(rows("out.csv"))[0]
    assert int(first[1]) == a_class != int(second[1])


def test_a_single_row_and_rows_alike_can_be_predicted(data, run):
    run("fit", "data.csv", *QUICK, "--save", "m")
    Path("new.csv").write_text("town,weight,height\n" + "Ulm,0.1,0.2\n" * 2)
    told = json.loads(run("predict", "m", "new.csv", "--json").stdout)
    assert told["labels"][0] == told["labels"][1]
    assert told["notes"] == []
    Path("one.csv").write_text("town,weight,height\nUlm,0.1,0.2\n")
    result = run("predict", "m", "one.csv", "-o", "-", "--json")
    assert result.stdout.splitlines()[1] == f"Ulm,0.1,0.2,{told['labels'][0]}"
    assert json.loads(result.stderr)["n_rows"] == 1


def test_columns_that_say_nothing_are_noted(data, run):
    lines = Path("data.csv").read_text().splitlines()
    Path("d.csv").write_text("\n".join([lines[0] + ",same", *(f"{x},7" for x in lines[1:])]))
    assert "the same in every row: same" in run("fit", "d.csv", *QUICK).stderr


def test_a_bundle_says_how_it_was_made(data, run):
    run("fit", "data.csv", "--constraints", "pairs.csv", *QUICK, "--save", "m")
    bundle = load_bundle(Path("m"))
    assert bundle.made["versions"]["coterie"] == coterie.__version__
    assert bundle.made["versions"]["numpy"] == np.__version__
    assert bundle.made["data"] == "data.csv"
    assert bundle.made["constraints"] == "pairs.csv"
    assert (bundle.made["method"], bundle.made["seed"]) == ("pckmeans", 1)
    assert bundle.made["parameters"]["n_clusters"] == 3
    assert bundle.made["objective_history"] == bundle.model.objective_history_.tolist()
    assert bundle.made["stopped_early"] is False
    assert bundle.recipe.feature_names[:2] == ["height", "weight"]
    assert not [path for path in Path("m").rglob("*") if path.suffix not in ("", ".json", ".npy")]


def test_force_replaces_a_bundle_and_an_output(data, run):
    for _ in range(2):
        result = run("fit", "data.csv", *QUICK, "-o", "o.csv", "--save", "m", "--force")
        assert result.exit_code == 0, result.output
    assert run("fit", "data.csv", *QUICK, "--save", "m").exit_code == Exit.NOT_WRITTEN
    assert not [path for path in Path().iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("name", ["o.csv", "o.tsv", "o.jsonl", "o.parquet", "o.feather", "o.npy"])
def test_every_output_format_holds_the_labels(name, data, run):
    assert run("fit", "data.csv", *QUICK, "-o", name).exit_code == 0
    run("fit", "data.csv", *QUICK, "--save", "m")
    expected = load_bundle(Path("m")).model.labels_.tolist()
    if name.endswith(".npy"):
        assert np.load(name).tolist() == expected
        return
    lines = Path(name).read_text(encoding="utf-8", errors="replace").splitlines()
    found, names = {
        ".csv": lambda: _split(lines, ","),
        ".tsv": lambda: _split(lines, "\t"),
        ".jsonl": lambda: ([row["cluster"] for row in map(json.loads, lines)], None),
        ".parquet": lambda: _column(parquet.read_table(name)),
        ".feather": lambda: _column(feather.read_table(name)),
    }[Path(name).suffix]()
    assert [int(label) for label in found] == expected
    assert names in (None, ["id", "height", "weight", "town", "class", "cluster"])


def _split(lines, delimiter):
    cells = [line.split(delimiter) for line in lines]
    return [row[-1] for row in cells[1:]], cells[0]


def _column(table):
    return table.column("cluster").to_pylist(), table.column_names


def test_parquet_keeps_its_types_and_the_confidence(data, run):
    table = pa.table({"n": pa.array(range(20), pa.int32()), "x": np.r_[np.zeros(10), np.ones(10)]})
    parquet.write_table(table, "d.parquet")
    result = run(
        "fit", "d.parquet", "--features", "x,n", "-k", 2, "--method", "ppc", "-o", "o.parquet"
    )
    assert result.exit_code == 0, result.output
    out = parquet.read_table("o.parquet")
    assert out.schema.field("n").type == pa.int32()
    assert out.column_names == ["n", "x", "cluster", "confidence"]
    assert min(out.column("confidence").to_pylist()) > 0.99


def test_numbers_of_a_text_file_are_numbers_where_the_format_has_them(folder, run):
    Path("d.csv").write_text("id,x,code\na,1.50,007\nb,,008\nc,9,009\nd,8,010\n")
    given = ("fit", "d.csv", "--id", "id", "--features", "x", "--impute", "-k", 2)
    given = (*given, "--method", "pckmeans", "--save", "m")
    assert run(*given, "-o", "o.parquet").exit_code == 0
    out = parquet.read_table("o.parquet")
    assert out.column("x").to_pylist() == [1.5, None, 9.0, 8.0]
    assert out.column("code").to_pylist() == ["007", "008", "009", "010"]
    assert run("predict", "m", "d.csv", "-o", "o.jsonl").exit_code == 0
    first = json.loads(Path("o.jsonl").read_text().splitlines()[0])
    assert (first["x"], first["code"]) == (1.5, "007")
    assert run("predict", "m", "d.csv", "-o", "o.csv").exit_code == 0
    assert Path("o.csv").read_text().splitlines()[1].startswith("a,1.50,007,")


def test_arrays_and_text_are_clustered_too(folder, run, rows):
    X = np.r_[np.zeros((5, 2)), np.full((5, 2), 9.0)] + np.arange(10)[:, None] / 100
    np.savez("x.npz", X=X, name=np.array([f"n{t}" for t in range(10)]))
    Path("p.csv").write_text("a,b,kind\nn0,n9,cannot\n")
    arguments = ("-k", 2, "--method", "pckmeans", "--constraints", "p.csv", "--id", "name")
    assert run("fit", "x.npz", *arguments, "-o", "o.csv").exit_code == 0
    assert list(rows("o.csv")[0]) == ["row", "name", "cluster"]
    assert len({tuple(labels_of(rows("o.csv"))[s]) for s in (slice(0, 5), slice(5, 10))}) == 2
    texts = ["cats and dogs", "dogs with cats", "stars or moons", "moons and stars"]
    Path("t.jsonl").write_text("\n".join(json.dumps({"body": text}) for text in texts))
    result = run("fit", "t.jsonl", "--text", "body", "-k", 2, "--method", "pckmeans", "-o", "t.csv")
    assert result.exit_code == 0, result.output
    a, b, c, d = labels_of(rows("t.csv"))
    assert a == b != c == d


def test_rows_can_be_named_by_number_from_0_and_pairs_saved_by_the_library(data, run):
    known = Constraints(30, must_link=[(0, 1)], must_weight=np.inf)
    known.save("saved.csv")
    Path("numbers.csv").write_text("a,b,kind,weight\n0,1,must,inf\n")
    common = (
        "fit",
        "data.csv",
        "--drop",
        "id,class",
        "-k",
        3,
        "--method",
        "copkmeans",
        "--seed",
        0,
    )
    for pairs in ("saved.csv", "numbers.csv"):
        result = run(*common, "--constraints", pairs, "--force", "-o", "o.npy")
        assert result.exit_code == 0, result.output
        labels = np.load("o.npy")
        assert labels[0] == labels[1]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", METHODS)
def test_every_method_fits_saves_and_predicts(method, data, run):
    k = () if METHODS[method].clusters is None else ("-k", 3)
    given = ("fit", "data.csv", "--id", "id", "--drop", "class", "--method", method, *k)
    result = run(*given, "--constraints", "pairs.csv", "--save", "m", "--seed", 0, "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["method"] == method
    assert sum(told["sizes"]) == 30
    assert (told["notes"] != []) == (method == "dpmeans")
    model = load_bundle(Path("m")).model
    result = run("predict", "m", "data.csv", "-o", "o.npy")
    assert result.exit_code == 0, result.output
    assert set(np.load("o.npy")) <= set(model.labels_)


@pytest.mark.parametrize(
    ("method", "setting", "name", "value"),
    [
        ("pckmeans", "max_iter=7", "max_iter", 7),
        ("pckmeans", "tol=1e-3", "tol", 1e-3),
        ("pckmeans", "w=2.5", "w", 2.5),
        ("pckmeans", "w=auto", "w", "auto"),
        ("pckmeans", "exact_assignment=true", "exact_assignment", True),
        ("hmrfkmeans", "prior=none", "prior", None),
        ("hmrfkmeans", "prior=rayleigh", "prior", "rayleigh"),
        ("rdpmeans", "xi_max=none", "xi_max", None),
        ("rdpmeans", "lambda_=4", "lambda_", 4),
        ("tvclust", "p_prior=5,2", "p_prior", (5.0, 2.0)),
        ("tvclust", "alpha=2", "alpha", 2.0),
        ("gpkmeans", "estimator__max_iter=9", "estimator__max_iter", 9),
        ("gpkmeans", "threshold=0.9", "threshold", 0.9),
    ],
)
def test_settings_become_what_the_constructor_wants(method, setting, name, value):
    k = None if METHODS[method].clusters is None else 2
    found = build(method, k, 5, [setting]).get_params()[name]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("setting", ["exact_assignment=maybe", "tol=small", "callback=print"])
def test_settings_of_the_wrong_type_are_refused(setting):
    with pytest.raises(InvalidParameter):
        build("pckmeans", 2, None, [setting])


@pytest.mark.parametrize(
    ("cell", "safe"),
    [
        ("=1+1", "'=1+1"),
        ("+49 30 1234", "'+49 30 1234"),
        ("-x", "'-x"),
        ("@cmd", "'@cmd"),
        ("\t=1", "'\t=1"),
        ("\rx", "'\rx"),
        ("-3.5", "-3.5"),
        ("+4", "+4"),
        ("-1e-5", "-1e-5"),
        ("-1.850,00 €", "-1.850,00 €"),
        ("+12 %", "+12 %"),
        ("-$1,200", "-$1,200"),
        ("-5+A1", "'-5+A1"),
        ("-€x", "'-€x"),
        ("a=b", "a=b"),
        ("", ""),
        (-3.5, -3.5),
        (None, None),
    ],
)
def test_cells_that_would_run_are_neutralised(cell, safe):
    assert neutral(cell) == safe


def test_formulas_are_neutralised_on_export_unless_raw(folder, run, rows):
    Path("d.csv").write_text('id,x,note\na,-3.5,"=HYPERLINK(""u"")"\nb,1,ok\nc,2,ok\n')
    given = ("fit", "d.csv", "--id", "id", "--features", "x", "-k", 2, "--method", "pckmeans")
    assert run(*given, "-o", "safe.csv").exit_code == 0
    assert run(*given, "-o", "raw.csv", "--raw").exit_code == 0
    assert rows("safe.csv")[0]["note"] == '\'=HYPERLINK("u")'
    assert rows("raw.csv")[0]["note"] == '=HYPERLINK("u")'
    assert rows("safe.csv")[0]["x"] == rows("raw.csv")[0]["x"] == "-3.5"


def test_quiet_json_and_stdout(data, run):
    assert run("fit", "data.csv", *QUICK, "--quiet").output == ""
    told = json.loads(run("fit", "data.csv", *QUICK, "--json").stdout)
    assert told["sizes"] == [10, 10, 10]
    assert told["output"] is None
    result = run("fit", "data.csv", *QUICK, "-o", "-")
    assert result.stdout.startswith("id,height,weight,town,class,cluster\n")
    assert "3 clusters" in result.stderr
    assert "Rows in" not in result.stderr  # they are on the screen
    assert "Nothing was written" not in result.stderr
    failed = run("fit", "data.csv", "--id", "nope", "-k", 2, "--json")
    assert json.loads(failed.stdout)["exit_code"] == failed.exit_code == Exit.BAD_INPUT


def test_notes_are_said_and_soft_contradictions_only_cost(data, run):
    Path("p.csv").write_text("a,b,kind\na0,a3,must\na0,a3,cannot\n")
    result = run("fit", "data.csv", "--constraints", "p.csv", *QUICK)
    assert result.exit_code == 0
    assert "1 of 2 pairs broken" in result.stdout
    Path("none.csv").write_text("a,b,kind\n")
    assert "holds no pairs" in run("fit", "data.csv", "--constraints", "none.csv", *QUICK).stderr


def test_an_existing_output_is_asked_about_on_a_terminal(data, run, monkeypatch):
    from coterie.cli import _files

    class Terminal:
        def isatty(self):
            return True

    Path("o.csv").write_text("mine")
    monkeypatch.setattr(_files, "_stdin", Terminal)
    for answer, code in (("n\n", Exit.NOT_WRITTEN), ("y\n", 0)):
        result = run("fit", "data.csv", *QUICK, "-o", "o.csv", input=answer)
        assert "Overwrite it?" in result.stderr
        assert result.exit_code == code, result.output
        assert (Path("o.csv").read_text() == "mine") == (code != 0)


def test_a_cluster_holds_each_value_of_an_exclusive_column_once(data, run, rows):
    lines = Path("data.csv").read_text().splitlines()
    written = [f"{lines[0]},source"] + [
        f"{line},{'' if at == 29 else at // 3}" for at, line in enumerate(lines[1:])
    ]
    Path("sources.csv").write_text("\n".join(written) + "\n")
    for method in ("pckmeans", "copkmeans", "completelink"):
        result = run(
            "fit", "sources.csv", *PLAIN, "--method", method, "--exclusive", "source",
            "-o", "out.csv", "--force",
        )  # fmt: skip
        assert result.exit_code == 0, result.output
        seen = [(row["source"], row["cluster"]) for row in rows("out.csv") if row["source"]]
        assert len(seen) == len(set(seen)) == 29
    assert run("fit", "sources.csv", *QUICK, "--exclusive", "sauce").exit_code != 0


def test_an_exclusive_column_with_more_rows_than_clusters_is_refused_by_name(data, run):
    result = run("fit", "data.csv", *QUICK, "--exclusive", "town")
    assert result.exit_code != 0
    assert "exclusive group" in result.stderr

"""`coterie demo`: what it says is true, and every command it names works."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
from sklearn.datasets import load_wine
from terminal_cli import listing

from coterie.cli.exits import Exit
from coterie.exceptions import NotWritten
from coterie.metrics import adjusted_rand_score


def test_the_files_are_the_wine_data_and_the_numbers_are_theirs(folder, run, rows):
    result = run("demo", "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    wine, data = load_wine(), rows("coterie-demo/wine.csv")
    found = np.array([[float(row[name]) for name in wine.feature_names] for row in data])
    assert np.array_equal(found, wine.data)
    true = wine.target_names[wine.target]
    assert [row["cultivar"] for row in data] == true.tolist()
    pairs = rows("coterie-demo/pairs.csv")
    assert (told["n_rows"], told["n_pairs"]) == (178, len(pairs)) == (178, 80)
    cultivar = {row["wine"]: row["cultivar"] for row in data}
    right = [(cultivar[p["a"]] == cultivar[p["b"]]) == (p["kind"] == "must") for p in pairs]
    assert right.count(False) == 4
    for place, name in enumerate(("without", "with")):
        table = rows(f"coterie-demo/{name}.csv")
        cluster = {row["wine"]: row["cluster"] for row in table}
        kept = [(cluster[p["a"]] == cluster[p["b"]]) == (p["kind"] == "must") for p in pairs]
        assert told["n_broken"][place] == kept.count(False)
        labels = [row["cluster"] for row in table]
        assert told["ari"][place] == adjusted_rand_score(true, labels)
    assert told["ari"][1] > told["ari"][0]
    assert told["n_moved"] > 0


def test_it_shows_the_commands_it_ran_and_all_it_names_work(folder, run):
    result = run("demo", "--folder", "my demo")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert "4 of the pairs are wrong, as some answers always are." in lines
    told = [line.strip() for line in lines if line.startswith("  coterie ")]
    ran, named = told[:2], told[2:]
    assert named == [line.strip() for line in lines[lines.index("Try next:") + 1 :]]
    assert [shlex.split(line)[1] for line in ran] == ["fit", "fit"]
    assert [shlex.split(line)[1] for line in named] == ["check", "suspects", "compare", "report"]
    before = listing("my demo")
    for line in ran:
        program, *words = shlex.split(line)
        assert program == "coterie"
        assert run(*words, "--force", "--quiet").exit_code == 0
    after = listing("my demo")
    same = [name for name in before if not name.endswith("made.json")]  # holds the date
    assert [after[name] for name in same] == [before[name] for name in same]
    for line in named:
        done = run(*shlex.split(line)[1:], *(["--runs", 1] if " compare " in line else []))
        assert done.exit_code == 0, done.output
    assert Path("my demo/report.html").is_file()


def test_it_refuses_to_overwrite_and_leaves_nothing_when_it_fails(folder, run, monkeypatch):
    Path("mine").mkdir()
    Path("mine/wine.csv").write_text("my own")
    result = run("demo", "--folder", "mine")
    assert result.exit_code == Exit.NOT_WRITTEN
    assert "mine exists; choose another name with --folder." in result.output
    assert list(listing("mine").values()) == [b"my own"]

    def fail(*arguments, **options):
        raise NotWritten("wine.csv was not written: No space left on device.")

    monkeypatch.setattr("coterie.tables.write_table", fail)
    assert run("demo").exit_code == Exit.NOT_WRITTEN
    assert not Path("coterie-demo").exists()


def test_quiet_says_nothing(folder, run):
    result = run("demo", "--quiet")
    assert (result.exit_code, result.output) == (0, "")
    assert Path("coterie-demo/model").is_dir()

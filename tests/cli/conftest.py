"""Small tables, and the command line run in this process."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from awkward import GROUP
from awkward import N as N_AWKWARD
from click.testing import CliRunner

from coterie.cli.main import main

N = 30


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def data(folder):
    """data.csv: 30 rows of three classes, told by the first letter of the id; pairs.csv."""
    rng = np.random.default_rng(0)
    with open("data.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "height", "weight", "town", "class"])
        for t in range(N):
            c = t % 3
            numbers = [f"{v:.3f}" for v in 10 * c + rng.normal(size=2)]
            writer.writerow([f"{'abc'[c]}{t}", *numbers, ["Ulm", "Rom", "Bern"][c], "xyz"[c]])
    with open("pairs.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["a", "b", "kind"])
        writer.writerows([["a0", "a3", "must"], ["b1", "b4", "same"], ["a0", "b1", "cannot"]])
    return folder / "data.csv"


@pytest.fixture
def run():
    """A function that takes a command line and gives click's result; never a traceback."""

    def invoke(*arguments, **options):
        result = CliRunner().invoke(main, list(map(str, arguments)), **options)
        assert "Traceback" not in result.output
        return result

    return invoke


@pytest.fixture
def rows():
    """The rows of a CSV file as dictionaries."""

    def read(path):
        with open(path, encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    return read


@pytest.fixture
def fit(run, rows):
    """Fit two clusters with PCKMeans; gives what is said, and whether the groups were found."""

    def invoke(name, *options, method="pckmeans"):
        result = run(
            "fit", name, "-k", 2, "--method", method, "--seed", 0, "-o", "out.csv", *options
        )
        assert result.exit_code == 0, result.output
        found = [int(row["cluster"]) for row in rows("out.csv")]
        right = found in (GROUP.tolist(), (1 - GROUP).tolist()) if len(found) == N_AWKWARD else None
        return result.output, right

    return invoke

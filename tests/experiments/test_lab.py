"""The experiment framework on a made-up study whose answers are known."""

from __future__ import annotations

import gzip
import os
import zlib
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from coterie import Constraints
from lab.claims import UNTESTABLE, judge
from lab.page import origin, results_of, write_page
from lab.protocol import with_entailed
from lab.runner import run_cell, run_study
from lab.selection import per_draw
from lab.store import Store
from lab.study import BadStudy, find_studies, load_study
from lab.tables import append, read, replace

CONFIG = """
title = "Made up"
intro = "Two methods; the second is better by .1."
seed = 100
keys = ["method", "pairs"]
scores = ["nmi"]
[parts.curves]
axes.set = ["one", "two"]
axes.share = [0.5, 1.0]
pairs = [0, 10]
[quick]
draws = 2
[quick.parts.curves]
pairs = [0, 20]
axes.share = [1.0]
[full]
draws = 3
[[figure]]
name = "curves"
caption = "Curves"
x = "pairs"
y = "nmi"
lines = "method"
panels = "set"
[[table]]
title = "Means"
rows = "set"
columns = "method"
metric = "nmi"
"""
RUN = """
from pathlib import Path
import numpy as np
from coterie.exceptions import MissingData

def cell(part, draw, seed, set, share, pairs):
    calls = Path(__file__).with_name("calls.txt")
    with calls.open("a") as file:
        file.write(f"{part} {set} {share} {draw} {seed}\\n")
    if set == "gone":
        raise MissingData("gone.csv is not here")
    rng = np.random.default_rng(seed)
    noise = rng.normal(scale=0.01)  # the same for both methods: paired
    for m in pairs:
        for method, gain in {"plain": 0.0, "better": 0.1}.items():
            yield {"method": method, "pairs": m, "nmi": 0.5 + 0.01 * m + gain + noise}
"""
CLAIMS = """
[[claim]]
id = "better"
source = "Figure 1"
says = "The second is better."
each = ["set"]
where = {set = ["one", "two"]}
metric = "nmi"
kind = "greater"
significant = true
a = {method = "better"}
b = {method = "plain"}
[[claim]]
id = "unseen"
source = "Figure 2"
says = "It wins on a set that nobody has."
untestable = "The set is not public."
"""
PUBLISHED = "set,method,nmi\none,plain,0.49\n"


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "made_up"
    place.mkdir()
    for name, text in {
        "config.toml": CONFIG,
        "run.py": RUN,
        "claims.toml": CLAIMS,
        "published.csv": PUBLISHED,
    }.items():
        (place / name).write_text(text)
    return place


def calls(folder: Path) -> list[str]:
    path = folder / "calls.txt"
    return path.read_text().splitlines() if path.exists() else []


def test_cells_are_balanced_over_draws_and_a_profile_may_change_constants_and_axes(folder):
    study = load_study(folder)
    full = study.cells("full")
    assert [cell.draw for cell in full] == sorted(cell.draw for cell in full)
    assert len(full) == 2 * 2 * 3
    assert {cell.seed - cell.draw for cell in full} == {100}
    assert full[0].constants["pairs"] == [0, 10]
    quick = study.cells("quick")
    assert len(quick) == 2 * 2
    assert quick[0].constants["pairs"] == [0, 20]
    assert len({cell.key for cell in full}) == len(full)


def test_a_second_run_does_nothing_and_processes_give_what_one_gives(folder):
    study = load_study(folder)
    assert run_study(study, "full", jobs=1).finished == 12
    alone = Store(study, "full").frame()
    assert run_study(study, "full", jobs=1).finished == 0
    assert len(calls(folder)) == 12
    for path in folder.glob("*.full.csv.gz"):
        path.unlink()
    run_study(study, "full", jobs=2)
    order = study.columns[:-1]
    pd.testing.assert_frame_equal(
        Store(study, "full").frame().sort_values(order, ignore_index=True),
        alone.sort_values(order, ignore_index=True),
    )


def keep_bytes(path: Path, fewer: int) -> None:
    """As if the last `fewer` bytes had not been written."""
    path.write_bytes(path.read_bytes()[:-fewer])


@pytest.mark.parametrize("fewer", [12, 30, 60])  # the last 8 bytes are a checksum
@pytest.mark.parametrize("cut", ["in the rows", "between rows and log", "in the log"])
def test_an_interruption_costs_no_more_than_the_cell_it_fell_into(folder, cut, fewer):
    study = load_study(folder)
    cells = study.cells("full")
    run_study(study, "full", jobs=1, choose=lambda cell: cell.key != cells[-1].key)
    store = Store(study, "full")
    finished, log = len(store.frame()), store.log.read_bytes()
    outcome = run_cell(study.cell_function(), cells[-1])
    store.add(outcome.cell, outcome.rows, outcome.seconds)
    whole = store.frame()
    if cut == "in the log":
        keep_bytes(store.log, fewer)
    else:
        store.log.write_bytes(log)
        if cut == "in the rows":
            keep_bytes(store.table, fewer)
    assert len(store.frame()) == finished == len(whole) - 4  # the page sees finished cells only
    assert run_study(study, "full", jobs=1).finished == 1
    pd.testing.assert_frame_equal(Store(study, "full").frame(), whole)


def test_the_same_rows_are_the_same_bytes_however_they_were_added(folder):
    study = load_study(folder)
    run_study(study, "full", jobs=1)
    table, log = (folder / f"{name}.full.csv.gz" for name in ("results", "cells"))
    before = table.read_bytes(), log.read_bytes()
    rows = read(table, study.columns)
    assert len(rows) == 48
    for _ in range(2):
        replace(table, study.columns, rows[:5])
        append(table, study.columns, rows[5:9])
        append(table, study.columns, rows[9:])
        assert read(table, study.columns) == rows
        assert gzip.decompress(table.read_bytes()) == gzip.decompress(before[0])
        assert run_study(study, "full", jobs=1).finished == 0
        assert (table.read_bytes(), log.read_bytes()) == before


def test_rows_outlive_a_column_that_is_added_but_not_one_that_is_renamed(tmp_path):
    """Hours of results were unreadable once because a study had got one more key."""
    table = tmp_path / "results.full.csv.gz"
    replace(table, ["part", "nmi"], [{"part": "p", "nmi": 0.5}])
    assert read(table, ["part", "x", "nmi"]) == [{"part": "p", "x": "", "nmi": "0.5"}]
    assert read(table, ["part", "ari"]) == []


def test_a_table_that_is_not_gzip_is_an_error_not_an_interruption(folder):
    study = load_study(folder)
    (folder / "results.full.csv.gz").write_text(",".join(study.columns) + "\n")
    with pytest.raises(zlib.error):
        run_study(study, "full", jobs=1)
    assert not calls(folder)


def test_changed_constants_are_run_again_and_others_kept(folder):
    study = load_study(folder)
    run_study(study, "full", jobs=1)
    text = CONFIG.replace("pairs = [0, 10]", "pairs = [0, 30]").replace('"one", ', "")
    (folder / "config.toml").write_text(text)
    changed = load_study(folder)
    assert run_study(changed, "full", jobs=1).finished == 6
    frame = Store(changed, "full").frame()
    assert set(frame["pairs"]) == {0, 30}
    assert set(frame["set"]) == {"two"}


def test_no_time_no_cells_and_only_the_chosen_are_run(folder):
    study = load_study(folder)
    summary = run_study(study, "full", jobs=1, minutes=0)
    assert (summary.finished, summary.left) == (0, 12)
    summary = run_study(study, "full", jobs=1, choose=lambda cell: cell.axes["set"] == "one")
    assert (summary.finished, summary.left) == (6, 0)


def test_missing_data_is_told_once_and_leaves_nothing_behind(folder):
    (folder / "config.toml").write_text(CONFIG.replace('"two"', '"gone"'))
    study = load_study(folder)
    summary = run_study(study, "full", jobs=1)
    assert summary.missing == ["gone.csv is not here"]
    assert (summary.finished, summary.left) == (6, 6)


def test_an_error_costs_its_own_cell_only_and_is_shown(folder):
    (folder / "run.py").write_text(RUN.replace("raise MissingData(", "raise ZeroDivisionError("))
    (folder / "config.toml").write_text(CONFIG.replace('"two"', '"gone"'))
    summary = run_study(load_study(folder), "full", jobs=1)
    assert (summary.finished, summary.left, len(summary.failed)) == (6, 6, 6)
    assert "curves|gone|0.5|0" in summary.failed[0]
    assert "ZeroDivisionError" in summary.failed[0]


def test_a_row_with_a_column_the_config_does_not_name_is_refused(folder):
    (folder / "run.py").write_text(RUN.replace('"nmi":', '"accuracy":'))
    with pytest.raises(BadStudy, match="accuracy"):
        run_study(load_study(folder), "full", jobs=1)


def test_the_log_says_seed_version_commit_date_and_machine(folder):
    study = load_study(folder)
    run_study(study, "quick", jobs=1)
    line = Store(study, "quick").provenance()[0]
    assert line["seed"] == "100"
    assert all(line[field] for field in ("version", "commit", "date", "machine", "seconds"))


def test_a_page_of_two_commits_says_which_part_is_of_which(folder):
    study = load_study(folder)
    run_study(study, "quick", jobs=1)
    results = results_of(study, ("quick",))
    assert "by part" not in origin(results)
    first, *others = results.log
    told = origin(results._replace(log=[{**first, "commit": "0ther"}, *others]))
    part = first["cell"].partition("|")[0]
    assert f"by part and commit: `{part}` 1 at 0ther, " in told


def test_a_score_that_no_cell_has_yet_is_an_empty_number(folder):
    (folder / "config.toml").write_text(CONFIG.replace('scores = ["nmi"]', 'scores = ["nmi", "f"]'))
    study = load_study(folder)
    run_study(study, "quick", jobs=1)
    frame = Store(study, "quick").frame()
    assert frame["f"].isna().all()
    assert not len(per_draw(frame, "f"))
    claim = {"id": "c", "source": "s", "says": "s", "metric": "f", "kind": "reaches", "value": 1.0}
    assert judge(claim, frame).word == UNTESTABLE


def test_an_id_used_twice_is_refused(folder):
    (folder / "claims.toml").write_text(CLAIMS.replace('"unseen"', '"better"'))
    with pytest.raises(BadStudy, match="better"):
        load_study(folder)


def test_the_page_is_the_same_for_the_same_results_and_prefers_full_ones(folder, tmp_path):
    study = load_study(folder)
    run_study(study, "quick", jobs=1)
    assert results_of(study).profile == "quick"
    run_study(study, "full", jobs=1)
    assert results_of(study).profile == "full"
    page, images = tmp_path / "page.md", tmp_path / "images"
    texts, pictures = [], []
    for _ in range(2):
        write_page([study], page, images, ("full", "quick"))
        texts.append(page.read_text() + (tmp_path / "page-made-up.md").read_text())
        pictures.append((images / "made_up-curves.png").read_bytes())
    assert texts[0] == texts[1]
    assert pictures[0] == pictures[1]
    text = texts[0]
    assert "images/made_up-curves.png" in text
    assert "all 12 cells" in text
    assert f"{os.cpu_count()} cores" in text
    assert "The second is better. → **holds**" in text
    assert "→ **cannot be tested**" in text
    assert "(0.49)" in text
    assert "| [Made up](page-made-up.md) | full | 1 | 0 | 0 | 1 |" in text


def test_papers_come_first_by_year_and_link_to_their_citation(tmp_path):
    papers = {"newer": ("Lu and Leen", 2007), "b_no_paper": None, "a_no_paper": None}
    for name, paper in {**papers, "older": ("Besag", 1986)}.items():
        folder = tmp_path / name
        folder.mkdir()
        line = f'paper = {{ authors = "{paper[0]}", year = {paper[1]} }}\n' if paper else ""
        (folder / "config.toml").write_text(line + CONFIG.replace("Made up", name))
    studies = find_studies(tmp_path)
    assert [study.name for study in studies] == ["older", "newer", "a_no_paper", "b_no_paper"]
    write_page(studies, tmp_path / "page.md", tmp_path / "images", ("full",))
    text = "".join(path.read_text() for path in sorted(tmp_path.glob("page*.md")))
    assert "[Lu and Leen 2007](references.md#lu-and-leen-2007)" in text
    assert text.count("references.md") == 2


def test_entailed_pairs_are_those_that_every_consistent_labelling_agrees_on():
    rng = np.random.default_rng(1)
    for _ in range(30):
        y = rng.integers(3, size=7)
        pairs = np.array([(i, j) for i in range(7) for j in range(i)])
        pairs = pairs[rng.permutation(len(pairs))[: rng.integers(9)]]
        same = y[pairs[:, 0]] == y[pairs[:, 1]]
        told = Constraints(7, pairs[same], pairs[~same])
        # Enough clusters that nothing follows from their number: partitions of the rows in pairs.
        rows = np.unique(pairs)
        agreed: dict[tuple[int, int], set[bool]] = {}
        for labels in partitions(rows.size):
            label = dict(zip(rows.tolist(), labels, strict=True))
            if all(
                (label[i] == label[j]) == kept for (i, j), kept in zip(pairs, same, strict=True)
            ):
                for i, j in combinations(rows.tolist(), 2):
                    agreed.setdefault((i, j), set()).add(label[i] == label[j])
        must = [pair for pair, answers in agreed.items() if answers == {True}]
        cannot = [pair for pair, answers in agreed.items() if answers == {False}]
        assert with_entailed(told) == Constraints(7, must, cannot)


def partitions(n: int) -> list[tuple[int, ...]]:
    """All partitions of n rows as labels: each row joins an earlier label or takes the next."""
    found: list[tuple[int, ...]] = [()]
    for _ in range(n):
        found = [(*p, label) for p in found for label in range(max(p, default=-1) + 2)]
    return found

"""Records to look at and to search."""

from __future__ import annotations

import numpy as np
import pytest

from coterie.exceptions import InvalidParameter
from coterie.tables import RecordView, Table
from coterie.tables import record_view as module

WORDS = ["ann", "Bob", "Zoë", "Lee", "ray", "Köln", "x1"]


def view(n=200, seed=0):
    rng = np.random.default_rng(seed)
    names = np.array([" ".join(rng.choice(WORDS, 3)) for _ in range(n)], dtype=object)
    names[5] = None
    table = Table.of("t", {"name": names, "size": rng.integers(0, 50, n).astype(float)})
    return RecordView(table, [f"id{i}" for i in range(n)], ["name", "size"])


def naive(records, words, among=None, without=()):
    """All rows whose plain text holds all words."""
    plain = str.maketrans("öë", "oe")
    found = []
    for row, name in enumerate(records.table.column("name").values):
        size = str(records.table.column("size").values[row])
        text = "\n".join([records.ids[row], name or "", size]).lower().translate(plain)
        wanted = words.lower().translate(plain).split()
        if row not in without and all(w in text for w in wanted):
            found.append(row)
    return {row for row in found if among is None or among[row]}


@pytest.mark.parametrize("words", ["ann", "KOLN zoe", "id7", "x1 bob lee", "nothing", "ray 12.0"])
@pytest.mark.parametrize("stretch", [7, 1 << 14])
def test_a_search_finds_what_a_naive_one_finds(words, stretch, monkeypatch):
    monkeypatch.setattr(module, "_AT_ONCE", stretch)
    records = view()
    assert set(records.search(words, 1000).rows) == naive(records, words)
    among = np.arange(200) % 2 == 0
    some = records.search(words, 1000, among=among, without=[2, 4]).rows
    assert set(some) == naive(records, words, among, (2, 4))


def test_the_best_come_first_and_the_rest_is_told():
    records = view()
    assert records.search("id7").rows[0] == 7  # the id itself before id70
    found = records.search("ann", 3)
    assert len(found.rows) == 3
    assert found.more
    assert not records.search("id199").more
    assert records.search("  ") == ([], False, 0)
    with pytest.raises(InvalidParameter):
        records.search("ann", 0)


def test_a_search_with_very_many_hits_ends_early(monkeypatch):
    monkeypatch.setattr(module, "_AT_ONCE", 10)
    monkeypatch.setattr(module, "_ENOUGH", 15)
    found = view().search("id", 5)
    assert found.scanned == 20
    assert found.more


def test_a_record_shows_its_fields():
    records = view()
    assert [f.kind for f in records.record(0)] == ["text", "number"]
    assert records.record(5)[0].value == ""
    assert records.record(0)[1].value == str(int(records.table.column("size").values[0]))


def test_numbers_that_were_computed_are_short():
    numbers = np.array([-0.07570152622082311, 0.1 + 0.2, 12345678.25, 1e-30, 98765432109.123456])
    shown = RecordView(Table.of("t", {"x": numbers}), ["a"] * 5, ["x"])
    values = [shown.record(row)[0].value for row in range(5)]
    assert values == ["-0.07570153", "0.3", "12345678.25", "1e-30", "98765432109"]
    written = Table.of("t", {"x": np.array(["0.123456789012"], dtype=object)})
    assert RecordView(written, ["a"], ["x"]).record(0)[0].value == "0.123456789012"


def test_images_come_from_the_folder_only(tmp_path):
    inside = tmp_path / "data"
    (inside / "deep").mkdir(parents=True)
    for path in (inside / "a.png", inside / "deep" / "b.JPG", tmp_path / "secret.png"):
        path.write_bytes(b"x")
    (inside / "link.png").symlink_to(tmp_path / "secret.png")
    values = ["a.png", "deep/b.JPG", "../secret.png", str(tmp_path / "secret.png"), "link.png"]
    values += ["missing.png", "data:image/png;base64,AAAA", "note.txt", "", "a\0.png"]
    table = Table.of("t", {"photo": np.array(values, dtype=object)})
    records = RecordView(table, [str(i) for i in range(len(values))], ["photo"])
    found = [records.image(row, "photo", inside) for row in range(len(values))]
    assert found[:2] == [inside / "a.png", inside / "deep" / "b.JPG"]
    assert found[2:] == [None] * (len(values) - 2)
    assert records.image(0, "other", inside) is None
    assert records.image(99, "photo", inside) is None
    kinds = [records.record(row)[0].kind for row in range(len(values))]
    assert kinds[0] == kinds[6] == "image"
    assert kinds[7] == "text"


def test_of_many_fields_the_first_are_given():
    records = view()
    assert records.record(3, 1) == records.record(3)[:1]
    assert [field.name for field in records.record(3)] == ["name", "size"]


def test_how_far_apart_numbers_usually_are():
    rng = np.random.default_rng(1)
    n = 20_000
    texts = np.array([str(v) for v in rng.normal(5, 3, n)], dtype=object)
    texts[::2] = None
    columns = {
        "wide": rng.normal(0, 7, n),
        "flat": np.zeros(n),
        "gone": np.full(n, np.nan),
        "text": texts,
        "name": np.array(["7"] * n, dtype=object),
    }
    records = RecordView(Table.of("t", columns), ["r"] * n, list(columns), frozenset({"text"}))
    assert records.spread("wide") == pytest.approx(7, rel=0.2)
    assert records.spread("text") == pytest.approx(3, rel=0.2)
    assert [records.spread(name) for name in ("flat", "gone", "name")] == [None, None, None]

"""Rows and pairs of files that need not fit: the inputs of the same files read whole."""

from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from coterie import PPC, PCKMeans
from coterie.exceptions import InvalidConstraints, InvalidData
from coterie.tables import (
    Bundle,
    Choices,
    Note,
    StoredIds,
    added,
    labelled,
    only_ids,
    open_table,
    read_inputs,
    read_table,
    stream_inputs,
    write_tables,
)

N = 90


@pytest.fixture
def where(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=N)
    x[[4, 80]] = np.nan
    town = rng.choice(["Ulm", "Rom"], N).astype(object)
    town[[7, 8, 50]] = None
    columns = {"id": np.arange(N) + 1000, "x": x, "same": np.ones(N), "town": town.tolist()}
    table = pa.table({**columns, "one": ["only"] * N, "when": [float(t) for t in range(N)]})
    pq.write_table(table, tmp_path / "whole.parquet")
    (tmp_path / "parts").mkdir()
    for number, (start, stop) in enumerate([(0, 3), (3, 60), (60, N)]):
        part = table.slice(start, stop - start)
        pq.write_table(part, tmp_path / "parts" / f"{number}.parquet", row_group_size=25)
    (tmp_path / "pairs.csv").write_text("a,b,kind\n1000,1089,must\n1003,1004,cannot\n")
    (tmp_path / "rows.csv").write_text("a,b,kind\n0,89,must\n3,4,cannot\n")
    (tmp_path / "none.csv").write_text("a,b,kind\n")
    return tmp_path


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize(("column", "pairs"), [("id", "pairs.csv"), (None, "rows.csv")])
def test_parts_are_the_inputs_of_the_whole(where, column, pairs, scale):
    choices = Choices(column, drop=[] if column else ["id"], impute=True, scale=scale)
    whole = read_inputs(where / "whole.parquet", where / pairs, choices)
    stored = stream_inputs(where / "parts", where / pairs, choices)
    assert stored.constraints == whole.constraints
    assert stored.recipe.feature_names == whole.recipe.feature_names
    assert sorted(stored.notes) == sorted(whole.notes)
    assert any("the same in every row: same, one=only" in note for note in stored.notes)
    assert [stored.ids[row] for row in (0, 3, 89)] == [whole.ids[row] for row in (0, 3, 89)]
    np.testing.assert_allclose(stored.X.read(0, N), whole.X, rtol=1e-12, atol=1e-12)


def test_a_file_without_pairs_is_told(where):
    choices = Choices("id", features=["when"])
    assert stream_inputs(where / "parts", where / "none.csv", choices).notes == [
        f"{where / 'none.csv'} holds no pairs"
    ]


def test_rows_that_are_all_alike_are_refused(where):
    with pytest.raises(InvalidData, match="all rows are alike in every column"):
        stream_inputs(where / "parts", choices=Choices(features=["same", "one"]))


def test_ids_are_found_as_texts_by_one_reading(where):
    ids = StoredIds(open_table(where / "parts"), "id")
    assert len(ids) == N
    assert ids.find(["1002", "1003", "1089", "9", None]) == {"1002": 2, "1003": 3, "1089": 89}
    assert (ids[0], ids[60], ids[88:]) == ("1000", "1060", ["1088", "1089"])
    assert (ids[-1], ids[-2:]) == ("1089", ["1088", "1089"])
    for outside in (N, -N - 1):
        with pytest.raises(IndexError):
            ids[outside]


def test_an_id_that_is_not_there_is_named_with_its_line(where):
    (where / "lost.csv").write_text("a,b,kind\n1000,1001,must\n1000,77,must\n")
    with pytest.raises(InvalidConstraints, match=r"line 3: no row of the data has the id '77'"):
        stream_inputs(where / "parts", where / "lost.csv", Choices("id", features=["when"]))


@pytest.mark.parametrize("row_group_size", [2, 100])
def test_an_id_that_is_there_twice_is_refused(tmp_path, row_group_size):
    table = pa.table({"id": ["a", "b", "c", "a"], "x": [1.0, 2.0, 3.0, 4.0]})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=row_group_size)
    ids = StoredIds(open_table(tmp_path / "t.parquet"), "id")
    assert ids.find(["b", "c"]) == {"b": 1, "c": 2}
    with pytest.raises(InvalidData, match=r"the id 'a' is used twice \(rows 0 and 3\)"):
        ids.find(["b", "a"])


@pytest.mark.parametrize("bare", [False, True])
def test_rows_are_written_with_their_clusters_as_the_whole_would_be(where, bare):
    choices = Choices("id", features=["when"])
    model = PCKMeans(3, random_state=0)
    tables = []
    for inputs in (
        read_inputs(where / "whole.parquet", None, choices),
        stream_inputs(where / "parts", None, choices),
    ):
        model.fit(inputs.X)
        write_tables(labelled(inputs, model, bare=bare), where / "out.parquet")
        tables.append(pq.read_table(where / "out.parquet"))
    assert str(tables[0].to_pydict()) == str(tables[1].to_pydict())
    assert tables[0].schema == tables[1].schema
    assert (tables[0].column_names == ["id", "cluster"]) is bare


def test_rows_without_ids_are_numbered_from_where_they_begin(where):
    table = read_table(where / "whole.parquet")
    assert only_ids(table, None, 5).column("row").values[:2].tolist() == [5, 6]
    assert only_ids(table, "id").names == ["id"]


def test_notes_of_stretches_are_added():
    notes = [
        Note("town", 2, "not seen", ["A", "C"]),
        Note("x", 1, "missing"),
        Note("town", 3, "not seen", ["B", "C", "D"]),
    ]
    assert added(notes) == ["town: 5 not seen (A, B, C, …)", "x: 1 missing"]
    assert pickle.loads(pickle.dumps(notes[0])).examples == ("A", "C")


def test_features_made_once_are_made_by_the_recipe_they_belong_to(where):
    table = open_table(where / "parts")
    plain = table.rows(table.learn(Choices(features=["when"])))
    scaled = table.rows(table.learn(Choices(features=["when"], scale=True)))
    np.testing.assert_array_equal(plain.read(0, N).ravel(), np.arange(N))
    assert abs(scaled.read(0, N).mean()) < 1e-12
    np.testing.assert_array_equal(plain.read(0, N).ravel(), np.arange(N))


@pytest.fixture
def letters(tmp_path):
    """Texts of two kinds by id, some without words, whole and in parts (one of them wordless)."""
    rng = np.random.default_rng(0)
    kinds = np.arange(60) % 2
    words = np.array([["fish", "boat", "sea", "net"], ["tax", "vote", "law", "court"]])
    texts = [" ".join(rng.choice(words[kind], 5)) for kind in kinds]
    for row in (0, 7, *range(20, 30)):
        texts[row] = ["", "NA", None][row % 3]
    table = pa.table({"id": [f"t{row}" for row in range(60)], "body": texts})
    pq.write_table(table, tmp_path / "whole.parquet")
    pq.write_table(table, tmp_path / "parts.parquet", row_group_size=10)
    (tmp_path / "pairs.csv").write_text("a,b,kind\nt1,t3,must\nt1,t2,cannot\nt1,t7,must\n")
    return tmp_path


@pytest.mark.parametrize("Model", [PCKMeans, PPC])
def test_texts_without_words_are_apart_in_files_as_in_memory(letters, Model):
    choices = Choices("id", text="body")
    outputs = []
    for read, name in ((read_inputs, "whole"), (stream_inputs, "parts")):
        inputs = read(letters / f"{name}.parquet", letters / "pairs.csv", choices)
        assert inputs.X.shape[0] == len(inputs.ids) == 48
        assert (inputs.ids[0], inputs.ids[-1], inputs.ids[5:7]) == ("t1", "t59", ["t6", "t8"])
        assert inputs.constraints.n_pairs == 2
        said = [note for note in inputs.notes if "words" in note or "pair" in note]
        assert "12 rows are without words and in no cluster (-1): t0, t7, t20" in " ".join(said)
        assert "1 pair about rows that are left out not used" in said
        model = Model(2, random_state=0).fit(inputs.X, constraints=inputs.constraints)
        write_tables(labelled(inputs, model), letters / "out.parquet")
        outputs.append(pq.read_table(letters / "out.parquet"))
        again = Bundle(model, inputs.recipe).predict(read_table(letters / "whole.parquet"))
        assert np.array_equal(again.columns["cluster"], outputs[-1]["cluster"].to_numpy())
    assert outputs[0].schema == outputs[1].schema
    assert str(outputs[0].to_pydict()) == str(outputs[1].to_pydict())
    assert np.flatnonzero(outputs[0]["cluster"].to_numpy() < 0).tolist() == [0, 7, *range(20, 30)]
    placed = np.array([row for row in range(60) if outputs[1]["cluster"][row].as_py() >= 0])
    rows = open_table(letters / "parts.parquet").rows(inputs.recipe)
    some = rows.only(placed[10:])
    assert np.array_equal(some.read(2, 30), rows.take(placed[12:40]))
    assert np.array_equal(some.cut(5, 38).take(np.array([1, 32])), rows.take(placed[[16, 47]]))

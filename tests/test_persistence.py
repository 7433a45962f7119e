"""Models as directories: everything comes back, nothing is executed, damage is refused."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA

from coterie import Dossier, GPKMeans, PCKMeans, load, persistence
from coterie.constraints import Constraints, PairTable
from coterie.distortions import Bregman, KLDivergence, Mahalanobis
from coterie.exceptions import InvalidModel
from coterie.testing import equal


class Note(NamedTuple):
    word: str
    number: float


class Angle:
    """A class that answers for itself: what it is made from is not what it keeps."""

    def __init__(self, degrees):
        self._radians = np.deg2rad(degrees)

    def __coterie_state__(self):
        return {"degrees": float(np.rad2deg(self._radians))}


class Holder(BaseEstimator):
    """An estimator that only holds what it is given."""

    def __init__(self, a=None, b=None):
        self.a = a
        self.b = b

    def with_state(self, **state):
        for name, value in state.items():
            setattr(self, name, value)
        return self


TRUSTED = [Holder, Note, Angle]
FIRST = Path(__file__).parent / "saved_models" / "version_1"  # written by the first tree that saved


def round_trip(model, tmp_path):
    return persistence.load(persistence.save(model, tmp_path / "model"), trusted=TRUSTED)


VALUES = {
    "none": None,
    "bool": True,
    "int": 2**80,
    "float": 0.1 + 0.2,
    "infinite": -float("inf"),
    "nan": float("nan"),
    "text": "Überraschung",
    "list": [1, [2.5, "x"], None],
    "tuple": (1, (2,)),
    "dict": {"a": 1, 2: (3, 4), (5, "k"): np.arange(3)},
    "numpy float": np.float32(0.1),
    "numpy int": np.int8(-3),
    "numpy bool": np.bool_(True),
    "array": np.arange(6.0).reshape(2, 3),
    "fortran": np.asfortranarray(np.arange(6).reshape(2, 3)),
    "empty": np.empty((0, 4), dtype=np.float32),
    "no dimensions": np.array(7.5),
    "special": np.array([np.nan, np.inf, -0.0]),
    "words": np.array(["ab", "c"]),
    "names": np.array([["ab"], ["c"]], dtype=object),
    "csr": sparse.random(5, 4, 0.4, format="csr", random_state=0),
    "csc array": sparse.csc_array(np.eye(3)),
    "named tuple": Note("x", 2.0),
    "constraints": Constraints(
        9,
        must_link=[(0, 1), (2, 3)],
        cannot_link=[(3, 8), (4, 5), (0, 1)],
        must_weight=[1.5, np.inf],
        cannot_weight=[1, 1, 0.5],
        cannot_certainty=[0.7, 1.0, np.nan],
    ),
    "no constraints": Constraints(4),
    "pair table": PairTable([0, 2], [1, 3], [1, -1], [0.5, 2.0]),
    "distortion": KLDivergence(smoothing=0.25),
    "metric": Mahalanobis(np.array([1.0, 2.0])),
    "estimator": Holder(a=1).with_state(fitted_=np.arange(4)),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_come_back_as_parameters_and_as_fitted_attributes(name, tmp_path):
    value = VALUES[name]
    model = Holder(a=value, b=[value]).with_state(result_=value)
    again = round_trip(model, tmp_path)
    assert type(again) is Holder
    assert equal(again.a, value)
    assert equal(again.b, [value])
    assert equal(again.result_, value)


def test_equality_used_here_can_tell_values_apart():
    for first in VALUES:
        for second in VALUES:
            assert equal(VALUES[first], VALUES[second]) is (first == second), (first, second)


@pytest.mark.parametrize(
    "make", [np.random.default_rng, np.random.RandomState], ids=["generator", "legacy"]
)
def test_a_random_state_parameter_continues_where_it_was(make, tmp_path):
    state = make(3)
    state.normal(size=5)
    again = round_trip(Holder(a=state), tmp_path).a
    np.testing.assert_array_equal(state.normal(size=7), again.normal(size=7))


def test_fitted_generators_and_private_attributes_are_left_out(tmp_path):
    model = Holder().with_state(
        random_state_=np.random.default_rng(0), _hidden_=1, n_=2, __dunder__=3
    )
    again = round_trip(model, tmp_path)
    assert again.n_ == 2
    for name in ("random_state_", "_hidden_", "__dunder__"):
        assert not hasattr(again, name)


def test_a_class_is_saved_as_it_says_itself_and_loads_only_if_trusted(tmp_path):
    path = persistence.save(Holder(a=Angle(90.0)), tmp_path / "model")
    again = persistence.load(path, trusted=TRUSTED).a
    assert type(again) is Angle
    assert again._radians == Angle(90.0)._radians
    with pytest.raises(InvalidModel, match=r"Angle.*trusted"):
        persistence.load(path, trusted=[Holder])


@pytest.mark.parametrize("value", [{"a": 1}, (1, 2)], ids=["dict", "tuple"])
def test_a_subclass_that_may_hold_more_than_its_items_is_refused(value, tmp_path):
    kind = type("Sub", (type(value),), {})
    with pytest.raises(InvalidModel, match="Sub, which cannot be saved"):
        persistence.save(Holder(a=kind(value)), tmp_path / "model")


def test_a_model_of_the_first_format_loads_and_would_be_written_the_same_today(tmp_path):
    """GPKMeans around RDPMeans: nested, with a distortion, constraints, pair tables and a state."""
    model = persistence.load(FIRST)
    assert type(model) is GPKMeans
    assert model.estimator.divergence == KLDivergence(smoothing=0.25)
    assert isinstance(model.random_state, np.random.RandomState)
    assert model.constraints_ == Constraints(
        12,
        must_link=[(0, 1), (2, 3), (0, 7)],
        cannot_link=[(0, 6), (1, 2)],
        must_weight=[1.5, np.inf, 1.0],
        cannot_certainty=[0.8, 0.9],
    )
    assert model.labels_.tolist() == [0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    assert model.predict([[4.0, 4.0, 4.0], [9.0, 1.0, 4.0]]).tolist() == [0, 1]
    assert [(pair.i, pair.j) for pair in model.violations_] == [(0, 6)]
    again = persistence.save(model, tmp_path / "model")
    assert sorted(path.name for path in again.iterdir()) == sorted(p.name for p in FIRST.iterdir())
    for path in FIRST.glob("*.npy"):
        assert (again / path.name).read_bytes() == path.read_bytes()
    before, after = (json.loads((folder / "model.json").read_text()) for folder in (FIRST, again))
    assert without_new_params(after["model"], before["model"]) == before["model"]
    assert after["format_version"] == before["format_version"] == 1


def without_new_params(now, then):
    """What is written today, less the parameters that estimators have gained since."""
    if not (isinstance(now, dict) and isinstance(then, dict)):
        return now
    kept = {key: without_new_params(now[key], then.get(key)) for key in now}
    if "params" in kept and "params" in then:
        kept["params"] = {key: kept["params"][key] for key in then["params"]}
    return kept


def test_other_peoples_estimators_load_only_if_trusted(tmp_path):
    X = np.random.default_rng(0).normal(size=(20, 4))
    path = persistence.save(PCA(2).fit(X), tmp_path / "pca")
    with pytest.raises(InvalidModel, match="trusted"):
        persistence.load(path)
    again = persistence.load(path, trusted=[PCA])
    np.testing.assert_array_equal(again.transform(X), PCA(2).fit(X).transform(X))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.sum, "model.a"),
        (lambda: 0, "without pickle"),
        (object(), "without pickle"),
        (np.array([object()]), "array of object"),
        (np.zeros(2, dtype="datetime64[s]"), "datetime64"),
        (sparse.coo_matrix(np.eye(2)), "CSR and CSC"),
        (Bregman(np.square, np.negative), "without pickle"),
        ({"deep": [object()]}, r"model.a\['deep'\]\[0\]"),
        (Holder, "without pickle"),
    ],
)
def test_what_would_need_pickle_is_refused_by_name_and_leaves_nothing(value, message, tmp_path):
    with pytest.raises(InvalidModel, match=message):
        persistence.save(Holder(a=value), tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


# -- the directory ---------------------------------------------------------------------------------


def test_an_existing_path_is_kept_unless_told_otherwise(tmp_path):
    path = persistence.save(Holder(a=1), tmp_path / "sub" / "model")
    with pytest.raises(InvalidModel, match="overwrite=True"):
        persistence.save(Holder(a=2), path)
    assert persistence.load(path, trusted=TRUSTED).a == 1
    persistence.save(Holder(a=np.arange(3)), path, overwrite=True)
    persistence.save(Holder(a=3), path, overwrite=True)
    assert persistence.load(path, trusted=TRUSTED).a == 3
    assert sorted(p.name for p in path.iterdir()) == ["model.json"]  # nothing of the older ones
    assert [p.name for p in path.parent.iterdir()] == ["model"]


def test_what_is_not_a_model_is_never_replaced(tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("years of work")
    with pytest.raises(InvalidModel, match="not a saved model"):
        persistence.save(Holder(), tmp_path / "thesis", overwrite=True)
    assert (tmp_path / "thesis" / "chapter.txt").read_text() == "years of work"


def test_a_failed_overwrite_keeps_the_old_model(tmp_path):
    path = persistence.save(Holder(a=1), tmp_path / "model")
    with pytest.raises(InvalidModel):
        persistence.save(Holder(a=object()), path, overwrite=True)
    assert persistence.load(path, trusted=TRUSTED).a == 1
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


def test_a_failed_rename_puts_the_old_model_back(tmp_path, monkeypatch):
    path = persistence.save(Holder(a=1), tmp_path / "model")
    rename = persistence.os.rename

    def fail_on_publish(source, target):
        if str(target) == str(path) and "-old-" not in str(source):
            raise OSError("disk trouble")
        rename(source, target)

    monkeypatch.setattr(persistence.os, "rename", fail_on_publish)
    with pytest.raises(OSError, match="disk trouble"):
        persistence.save(Holder(a=2), path, overwrite=True)
    monkeypatch.undo()
    assert persistence.load(path, trusted=TRUSTED).a == 1
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


# -- files that lie --------------------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path):
    """A model without checksums, as 0.1.0 saved it: what else refuses a forged one is tried."""
    path = persistence.save(Holder(a=np.arange(6.0)), tmp_path / "model")
    edit(path, lambda index: index.pop("sums"))
    return path


def edit(path, change):
    index = json.loads((path / "model.json").read_text())
    change(index)
    (path / "model.json").write_text(json.dumps(index))


def test_damage_is_told_by_checksums(tmp_path):
    path = persistence.save(Holder(a=np.arange(6.0)), tmp_path / "model")
    whole = {file: file.read_bytes() for file in path.iterdir()}
    for file, data in whole.items():
        at = data.rindex(b"Holder") if file.suffix == ".json" else len(data) - 3
        file.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        refused(path, f"{file.name} is damaged")
        file.write_bytes(data)
    edit(path, lambda index: index["model"]["params"].update(a=None))
    refused(path, 'take "sums" out')
    edit(path, lambda index: index.update(sums=3))
    refused(path, "damaged")
    edit(path, lambda index: index.pop("sums"))
    assert persistence.load(path, trusted=TRUSTED).a is None


def refused(path, match):
    with pytest.raises(InvalidModel, match=match):
        persistence.load(path, trusted=TRUSTED)


def test_a_path_that_is_no_model_is_refused(tmp_path):
    refused(tmp_path / "absent", "not a saved model")
    (tmp_path / "model.json").write_text("{")
    refused(tmp_path, "not a saved model")
    (tmp_path / "model.json").write_text("[]")
    refused(tmp_path, "does not describe")
    (tmp_path / "model.json").write_text("[" * 100_000)
    refused(tmp_path, "not a saved model|nested")


def test_a_later_format_is_refused_and_says_who_wrote_it(saved):
    edit(saved, lambda index: index.update(format_version=99, coterie="7.1"))
    refused(saved, r"99.*7\.1")


@pytest.mark.parametrize(
    "name",
    [
        "os:system",
        "subprocess:Popen",
        "builtins:eval",
        "coterie.persistence:shutil",
        "coterie.persistence:Path",
        "coterie._encoding:Reader",
        "coterie.constraints:sample_pairs",
        "coterie.nowhere:Model",
        "coterie.exceptions:Exception",
        "sklearn.decomposition:PCA",
        "",
    ],
)
@pytest.mark.parametrize("tag", ["estimator", "value"])
def test_only_public_classes_of_coterie_are_built(saved, name, tag):
    node = {"$": tag, "cls": name, "params": {}, "fitted": {}, "fields": {"args": "true"}}
    edit(saved, lambda index: index.update(model=node))
    refused(saved, "not a public class|needs coterie.nowhere")


def test_a_class_that_is_neither_estimator_nor_value_is_not_built(saved):
    node = {"$": "value", "cls": "coterie.constraints:Closure", "fields": {}}
    edit(saved, lambda index: index.update(model=node))
    refused(saved, "not a value")
    node = {"$": "estimator", "cls": "coterie.constraints:Constraints", "params": {}, "fitted": {}}
    edit(saved, lambda index: index.update(model=node))
    refused(saved, "not an estimator")


def test_attributes_that_are_not_fitted_ones_are_not_set(saved):
    edit(saved, lambda index: index["model"]["fitted"].update({"fit": 1}))
    refused(saved, "not a fitted attribute")


@pytest.mark.parametrize(
    "node",
    [
        {"$": "mystery"},
        {"no": "tag"},
        [1, 2],
        {"$": "array", "array": {"$": "file", "name": "../secret.npy"}},
        {"$": "array", "array": {"$": "file", "name": "5.npy"}},
        {"$": "array", "array": {"$": "names", "values": ["a"], "shape": [7]}},
        {"$": "dict", "items": [1]},
        {"$": "float", "value": "huge"},
        {
            "$": "random",
            "legacy": False,
            "state": {"$": "dict", "items": [["bit_generator", "os"]]},
        },
        {"$": "sparse", "format": "eval", "shape": [1, 1], "parts": {}},
        {"$": "value", "cls": "coterie.constraints:Constraints", "fields": {"n_samples": -1}},
    ],
)
def test_damaged_content_is_refused(saved, node):
    edit(saved, lambda index: index["model"]["params"].update(a=node))
    refused(saved, None)


def test_an_array_shorter_or_longer_than_its_header_is_refused(saved):
    whole = (saved / "0.npy").read_bytes()
    for content in (whole[:-1], whole + b"x", whole[:40], b"", b"PK\x03\x04" + whole):
        (saved / "0.npy").write_bytes(content)
        refused(saved, "0.npy")


def test_a_forged_header_is_refused_before_anything_is_allocated(saved):
    import tracemalloc

    for shape in ("(1000000000000,)", "(-6,)", "(1000000, 1000000, 1000000)"):
        header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}"
        header = header.ljust(117) + "\n"
        forged = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
        (saved / "0.npy").write_bytes(forged)
        tracemalloc.start()
        refused(saved, "damaged or forged|not an array file")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 2_000_000


def test_a_pickled_array_is_refused(saved):
    with (saved / "0.npy").open("wb") as file:
        np.save(file, np.array([{"any": "object"}]), allow_pickle=True)
    refused(saved, "not allowed")


def test_parameters_that_are_gone_and_changed_nothing_are_passed_over(tmp_path):
    folder = persistence.save(PCKMeans(3, random_state=0), tmp_path / "model")
    index = json.loads((folder / "model.json").read_text())
    del index["sums"]
    index["model"]["params"] |= {"callback": None, "verbose": 0}
    (folder / "model.json").write_text(json.dumps(index))
    assert persistence.load(folder).get_params() == PCKMeans(3, random_state=0).get_params()
    index["model"]["params"]["invented"] = 1
    (folder / "model.json").write_text(json.dumps(index))
    with pytest.raises(InvalidModel, match="invented"):
        persistence.load(folder)


@pytest.mark.parametrize("number", [2**31, 10**12, 2**63 - 1])
@pytest.mark.parametrize(("name", "what"), [("labels_", "cluster"), ("exclusive_", "group")])
def test_a_number_beyond_all_clusters_or_groups_is_refused(name, what, number, tmp_path):
    """By `make fuzz`: numpy's bincount wrote beyond its array and ended the process (2^63 - 1).

    And `extend` made room for as many exclusive groups: 7 TiB.
    """
    X = np.array([["ann"], ["anne"], ["bob"], ["bobby"]], dtype=object)
    model = Dossier().fit(X)
    numbers = np.array(getattr(model, name))
    numbers[-1] = number
    setattr(model, name, numbers)
    model.save(tmp_path / "model")
    with pytest.raises(InvalidModel, match=f"{name} numbers a {what} {number} for 4 rows"):
        load(tmp_path / "model")

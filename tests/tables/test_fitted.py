"""A saved model with its table and pairs, and the pairs that it doubts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from coterie import Constraints, Mosaic, PCKMeans
from coterie.exceptions import InvalidConstraints, InvalidData, InvalidParameter
from coterie.tables import (
    Bundle,
    Choices,
    Fitted,
    doubtful_pairs,
    how_made,
    read_fitted,
    read_inputs,
    read_pairs,
    save_bundle,
    write_table,
)

N = 30


@pytest.fixture
def inputs(folder):
    """Three groups a, b and c; twenty right pairs and a wrong one, a0 = b1."""
    rng = np.random.default_rng(0)
    names = [f"{'abc'[t % 3]}{t}" for t in range(N)]
    x = 10 * (np.arange(N) % 3) + rng.normal(size=N)
    towns = ["", *["Ulm"] * (N - 1)]
    rows = zip(names, x, towns, strict=True)
    lines = [f"{name},{value:.3f},{town}" for name, value, town in rows]
    Path("data.csv").write_text("\n".join(["id,x,town", *lines]))
    pairs = [f"{names[t]},{names[t + 3]},must" for t in range(0, 20, 2)]
    pairs += [f"{names[t]},{names[t + 1]},cannot" for t in range(1, 20, 2)]
    Path("pairs.csv").write_text("\n".join(["a,b,kind", *pairs, "a0,b1,must"]))
    return read_inputs("data.csv", "pairs.csv", Choices("id", drop=("town",)))


def fit(estimator, inputs):
    return estimator.fit(inputs.X, constraints=inputs.constraints)


def save(model, inputs, **facts):
    return save_bundle(Bundle(model, inputs.recipe, how_made(model, **facts)), "model")


def test_the_wrong_pair_is_the_most_doubtful(inputs):
    model = fit(Mosaic(3, random_state=0), inputs)
    doubts = doubtful_pairs(Fitted.of(model, inputs), 3)
    assert (doubts.measure, doubts.n_pairs) == ("p_wrong", 21)
    values = model.suspect_pairs(3).value
    assert [pair.value for pair in doubts.pairs] == values[values >= 0.01].tolist()
    first = doubts.pairs[0]
    assert (first.a, first.b, first.kind) == ("a0", "b1", "must")
    assert (first.a_cluster, first.b_cluster) == (model.labels_[0], model.labels_[1])
    assert first.a_record == {"x": f"{inputs.X[0, 0]:.3f}".rstrip("0"), "town": ""}
    assert first.b_record["town"] == "Ulm"


def test_of_a_model_that_does_not_weigh_pairs_the_broken_ones_are_listed(inputs):
    model = fit(PCKMeans(3, w=0.001, random_state=0), inputs)
    doubts = doubtful_pairs(Fitted.of(model, inputs), fields=["town"])
    assert (doubts.measure, doubts.fields) == ("cost", ["town"])
    assert [(pair.a, pair.b, pair.value) for pair in doubts.pairs] == [("a0", "b1", 0.001)]


def test_a_saved_model_says_the_same_and_what_made_it(inputs):
    model = fit(Mosaic(3, random_state=0), inputs)
    now = Fitted.of(model, inputs)
    save(model, inputs, method="mosaic")
    then = read_fitted("model", "data.csv", "pairs.csv")
    assert doubtful_pairs(then) == doubtful_pairs(now)
    assert (now.method, then.method) == ("Mosaic", "mosaic")
    assert (then.folder, then.pairs_file) == (Path("model"), Path("pairs.csv"))
    assert then.constraints == inputs.constraints


def test_doubts_can_be_written_and_read_as_pairs(inputs):
    doubts = doubtful_pairs(Fitted.of(fit(Mosaic(3, random_state=0), inputs), inputs), 4)
    table = doubts.to_table()
    assert list(table.columns) == [
        *("a", "b", "kind", "p_wrong", "a_cluster", "b_cluster"),
        *("a: x", "b: x", "a: town", "b: town"),
    ]
    write_table(table, "doubts.csv")
    again = read_pairs("doubts.csv", inputs.ids)
    assert again.n_pairs == len(doubts.pairs) >= 1
    assert [0, 1] in again.must_link.tolist()


def test_rows_and_pairs_of_another_fit_are_refused(inputs):
    model = fit(Mosaic(3, random_state=0), inputs)
    save(model, inputs, data="data.csv")
    Path("fewer.csv").write_text("\n".join(Path("data.csv").read_text().splitlines()[:-1]))
    message = r"fewer.csv has 29 rows, but model was fitted to 30: give the .* \(data.csv\)"
    with pytest.raises(InvalidData, match=message):
        read_fitted("model", "fewer.csv")
    other = Path("pairs.csv").read_text().replace("a0,b1,must", "a0,b1,cannot")
    Path("other.csv").write_text(other)
    with pytest.raises(InvalidConstraints, match="'a0' and 'b1' as must, which `pairs` does not"):
        doubtful_pairs(read_fitted("model", "data.csv", "other.csv"))
    with pytest.raises(InvalidParameter, match="give the `pairs`"):
        doubtful_pairs(read_fitted("model", "data.csv"))


def test_rows_of_an_array_file_have_numbers_and_no_fields(folder):
    np.save("x.npy", np.random.default_rng(0).normal(size=(20, 3)))
    Constraints(20, must_link=[(0, 1)], cannot_link=[(2, 3)]).save("pairs.csv")
    inputs = read_inputs("x.npy", "pairs.csv")
    save(fit(Mosaic(2, random_state=0), inputs), inputs)
    doubts = doubtful_pairs(read_fitted("model", "x.npy", "pairs.csv"))
    assert {(pair.a, pair.b) for pair in doubts.pairs} == {("0", "1"), ("2", "3")}
    assert doubts.pairs[0].a_record == {}

"""What columns are: found from summaries alone, as scikit-learn's transformers then have it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from coterie.exceptions import InvalidData, InvalidParameter
from coterie.tables import (
    Choices,
    Recipe,
    Table,
    columns_used,
    kept_rows,
    open_table,
    read_table,
)

N = 90
RNG = np.random.default_rng(1)


def texts(values):
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


@pytest.fixture
def mixed():
    """Every kind of column that a table in files can teach."""
    price = RNG.normal(1000, 300, N)
    start = np.datetime64("2021-03-01")
    days = [start + np.timedelta64(int(d), "D") for d in RNG.integers(0, 900, N)]
    return {
        "nr": [str(t) for t in range(N)],
        "plain": [f"{x:.2f}" for x in price],
        "comma": [f"{x:.2f}".replace(".", ",") for x in price],
        "grouped": [f"{int(10 * x):,}".replace(",", ".") for x in price],
        "money": [None if t == 5 else f"€ {x:.0f}" for t, x in enumerate(price)],
        "iso": [str(day) for day in days],
        "dotted": [f"{d.item().day}.{d.item().month}.{d.item().year}" for d in days],
        "stamp": [day.item() for day in days],
        "clock": [f"{h:02}:30" for h in RNG.integers(0, 24, N)],
        "town": RNG.choice(["Ulm", "Rom", "Bern"], N).tolist(),
        "name": [f"n{t}" for t in range(N)],
    }


def test_a_table_in_files_is_read_as_one_in_memory(tmp_path, mixed):
    table = pa.table(mixed)
    pq.write_table(table, tmp_path / "whole.parquet")
    (tmp_path / "parts").mkdir()
    for part, (a, b) in enumerate([(0, 7), (7, 50), (50, N)]):
        pq.write_table(
            table.slice(a, b - a), tmp_path / "parts" / f"{part}.parquet", row_group_size=20
        )
    choices = Choices(impute=True, scale=True, drop=["plain"])
    whole = read_table(tmp_path / "whole.parquet")
    expected = Recipe.learn(whole, choices)
    stored = open_table(tmp_path / "parts")
    recipe = stored.learn(choices)
    assert recipe.feature_names == expected.feature_names
    assert recipe.left_out == expected.left_out == {
        "nr": "numbers the rows",
        "name": "all different",
    }  # fmt: skip
    assert columns_used(recipe) == (
        "3 numbers, 4 dates, 1 category; dropped: nr (numbers the rows), name (all different)"
    )
    X = expected.apply(whole).X
    np.testing.assert_allclose(stored.rows(recipe).read(0, N), X, rtol=1e-9, atol=1e-9)
    by_name = dict(zip(expected.feature_names, X.T, strict=True))
    assert by_name["money"][5] == 0  # filled by the mean
    known = np.arange(N) != 5
    assert np.corrcoef(by_name["comma"][known], by_name["money"][known])[0, 1] > 0.9999
    assert np.corrcoef(by_name["grouped"], by_name["comma"])[0, 1] > 0.9999
    for name in ("dotted", "stamp"):
        assert np.allclose(by_name["iso"], by_name[name])
        assert np.allclose(by_name["iso (cos of week)"], by_name[f"{name} (cos of week)"])


def test_points_are_decimals_where_nothing_else_speaks_of_commas(mixed):
    kept = {name: texts(mixed[name]) for name in ("grouped", "plain")}
    recipe = Recipe.learn(Table.of("t", kept))
    assert [part.form for part in recipe.parts] == ["", ""]
    # A column that needs the point, beside one that needs the comma, leaves each to itself.
    kept["comma"] = texts(mixed["comma"])
    recipe = Recipe.learn(Table.of("t", kept))
    assert [part.form for part in recipe.parts] == ["", "", "comma"]


def test_numbers_and_categories_are_what_scikit_learn_makes_of_them(mixed):
    x = RNG.normal(5, 2, N)
    x[3] = np.nan
    town = texts(mixed["town"])
    town[4] = None
    table = Table.of("t", {"x": x, "town": town})
    X = Recipe.learn(table, Choices(scale=True, impute=True)).apply(table).X
    twin = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), ["x"]),
        (
            make_pipeline(
                SimpleImputer(strategy="most_frequent", missing_values=None),
                OneHotEncoder(sparse_output=False),
            ),
            ["town"],
        ),
    )
    expected = twin.fit_transform(pd.DataFrame({"x": x, "town": pd.Series(town, dtype=object)}))
    assert np.allclose(X[:, 1:], expected[:, 1:])
    # Here the spread is that of the known values, there of those with the mean filled in.
    ratio = np.sqrt((N - 1) / N)
    assert np.allclose(X[:, 0], expected[:, 0] * ratio)


@pytest.mark.parametrize(
    ("values", "kind", "form"),
    [
        (["1/2/2024", "13/2/2024"], "date", "dmy"),
        (["1/2/2024", "2/13/2024"], "date", "mdy"),
        (["1/2/2024", "3/4/2024"], "date", "mdy"),
        (["Jan 5, 2024", "5 May 2023"], "date", "mdy"),
        (["0,250", "0,500"], "number", "comma"),
        (["1,250", "2,500"], "number", "point"),
        (["12:30", "7:05"], "date", "time"),
        (["12:30 pm", "7:05 am"], "date", "time"),
        (["12:30:00", "27:05:00"], "number", "duration"),
        (["1h 30m", "45m", "2h"], "number", "duration"),
        (["90 min", "2 hrs"], "number", "duration"),
        (["3d", "2d"], "category", None),
        (["20240131", "20231224"], "date", "ymd"),
        (["20240131", "20231324"], "number", ""),
        (["48.1, 11.5", "51.2, 0.1"], "vector", None),
        (["1, 3", "2, 3"], "category", None),
        (["[1, 2]", "[3, 4]"], "vector", None),
        (["a", "b"], "category", None),
    ],
)
def test_what_is_found(values, kind, form):
    table = Table.of("t", {"c": texts(values * 2)})
    learned = Recipe.look_at_whole(table, Choices())
    part = learned.recipe.parts[0]
    assert (part.kind, getattr(part, "form", None)) == (kind, form)
    doubtful = values in (["1/2/2024", "3/4/2024"], ["1,250", "2,500"], ["12:30", "7:05"])
    converted = form == "duration" or (form == "ymd" and values[0].isdigit())
    assert bool(learned.notes) == (doubtful or converted)


def test_a_user_has_the_last_word():
    table = Table.of("t", {"d": texts(["1/2/2024", "3/4/2024"]), "x": texts(["1,250", "2,500"])})
    recipe = Recipe.learn(table, Choices(columns={"d": "date/dmy", "x": "number/comma"}))
    assert [part.form for part in recipe.parts] == ["dmy", "comma"]
    assert recipe.apply(table).X[:, -1].tolist() == [1.25, 2.5]
    with pytest.raises(InvalidData, match="'a' in column 'x' is not a number"):
        Recipe.learn(Table.of("t", {"x": texts(["1", "a"])}), Choices(columns={"x": "number"}))
    with pytest.raises(InvalidParameter, match="cannot be 'date/xyz'"):
        Recipe.learn(table, Choices(columns={"d": "date/xyz"}))
    with pytest.raises(InvalidParameter, match="only one column can be the id"):
        Recipe.learn(table, Choices("x", columns={"d": "id"}))


def test_a_date_has_a_number_and_the_cycles_it_went_round_twice():
    days = np.array(["2024-01-01", "2024-01-08", "2024-01-16"], dtype="datetime64[us]")
    part = Recipe.learn(Table.of("t", {"d": days})).parts[0]
    assert part.cycles == ["week"]
    X = part.apply(Table.of("t", {"d": days}))[0]
    assert np.isclose(X[:, 0].mean(), 0)
    assert np.isclose(X[:, 0].std(), 1)
    assert np.allclose(X[:2, 1:], [[1, 0], [1, 0]])  # both are Mondays
    assert np.allclose(X[2, 1:], [np.cos(2 * np.pi / 7), np.sin(2 * np.pi / 7)])
    hours = days + np.array([0, 6, 12]).astype("timedelta64[h]")
    part = Recipe.learn(Table.of("t", {"d": hours})).parts[0]
    assert part.cycles == ["day", "week"]


def learned(choices=None, **columns):
    return Recipe.learn(Table.of("t", {k: texts(v) for k, v in columns.items()}), choices)


def test_measures_are_numbers_in_one_unit():
    weight = [f"{x} kg" for x in range(30, 60)]
    speed = [f"{x:.1f} km/h".replace(".", ",") for x in np.linspace(3, 90, 30)]
    phone = ["4G", "5G", "3G"] * 10  # a letter alone is no unit
    recipe = learned(weight=weight, speed=speed, phone=phone)
    assert columns_used(recipe) == "2 numbers, 1 category"
    with pytest.raises(InvalidData, match="column 'weight' mixes KG and MG: bring them to one"):
        learned(weight=[*weight, "900 mg"])


def test_a_letter_alone_is_a_unit_where_the_column_bears_it_out():
    views = [f"{1.1 + t / 7:.1f}{'KM'[t % 2]}" for t in range(30)]
    height = [f"{300 + 7 * t}m" for t in range(30)]
    recipe = learned(views=views, height=height, net=["5G", "4G", "5G"] * 10)
    assert columns_used(recipe) == "2 numbers, 1 category"
    table = Table.of("t", {"views": texts(["1.5K", "2M"]), "height": texts(["10m", "20m"]),
                           "net": texts(["4G", "5G"])})  # fmt: skip
    assert recipe.apply(table).X[:, :2].tolist() == [[1500.0, 10.0], [2e6, 20.0]]
    german = learned(x=[f"{v},5 k" for v in range(30)], y=[f"{v},5" for v in range(30)])
    assert german.parts[0].form == "short_comma"


def test_letters_that_differ_are_no_units():
    assert columns_used(learned(form=["5A", "6V", "6h"] * 10)) == "1 category"
    flats = [f"{1 + t // 2}{'Ah'[t % 2]}" for t in range(40)]
    assert "flat (all different)" in columns_used(learned(x=["1.5", "2"] * 20, flat=flats))
    told = learned(Choices(columns={"net": "number"}), net=["5G", "4G", "5G"])
    assert columns_used(told) == "1 number"


def test_sentences_in_scripts_without_spaces_are_texts():
    subjects = [
        "猫がとても",
        "株価が今日",
        "選手が試合で",
        "銀行は来年",
        "監督は昨日",
        "天気は明日も",
    ]
    ends = ["好きです", "急落したようだ", "得点を決めた", "金利を上げる", "発表していた"]
    assert columns_used(learned(x=[a + b for a in subjects for b in ends])).startswith("1 text")


def zips(n, different):
    return [f"{(37 * (t % different)) % 9973:05d}" for t in range(n)]


def test_digits_behind_a_zero_are_codes(tmp_path):
    x = [str(v) for v in RNG.normal(size=200)]
    assert columns_used(learned(x=x, zip=zips(200, 12))) == "1 number, 1 category"
    few = learned(x=x, zip=zips(200, 200))
    assert columns_used(few) == "1 number; dropped: zip (all different)"
    many = "holds 120 different codes that begin with 0.*zip:number in `columns`"
    with pytest.raises(InvalidData, match=many):
        learned(x=x, zip=zips(200, 120))
    told = Choices(columns={"zip": "number"})
    assert columns_used(learned(told, x=x, zip=zips(200, 120))) == "2 numbers"
    assert columns_used(learned(x=x, share=["0.5", "0", "-0.25", "10"] * 50)) == "2 numbers"
    table = pa.table({"x": [float(v) for v in x], "zip": zips(200, 12)})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=50)
    assert columns_used(open_table(tmp_path / "t.parquet").learn()) == "1 number, 1 category"
    late = pa.table({"part": [*["12345"] * 50, *zips(50, 12)]})
    pq.write_table(late, tmp_path / "t.parquet", row_group_size=50)
    with pytest.raises(InvalidData, match="begins with numbers and goes on with codes like 007"):
        open_table(tmp_path / "t.parquet").learn()


def test_digits_under_the_name_of_codes_are_codes(tmp_path):
    """Swiss postcodes have no zero in front; a flag by the name of phone is a number."""
    rng = np.random.default_rng(0)
    plz, isbn = (
        rng.choice(["8001", "3011", "4051"], 60),
        9780000000000 + rng.permutation(10**6)[:60],
    )
    x = [str(v) for v in rng.normal(size=60)]
    table = {"x": x, "plz": plz, "isbn": isbn.astype(str), "phone": ["0", "1", "1"] * 20}
    assert columns_used(learned(**table)) == "2 numbers, 1 category; dropped: isbn (all different)"
    as_numbers = {"x": [float(v) for v in x], "plz": plz.astype(int), "isbn": isbn}
    pq.write_table(pa.table(as_numbers), tmp_path / "t.parquet", row_group_size=20)
    said = "1 number, 1 category; dropped: isbn (all different)"
    for recipe in (
        Recipe.learn(read_table(tmp_path / "t.parquet")),
        open_table(tmp_path / "t.parquet").learn(),
    ):
        assert columns_used(recipe) == said
    assert columns_used(learned(Choices(columns={"plz": "number"}), plz=plz)) == "1 number"
    with pytest.raises(InvalidData, match=r"holds 95 different codes\. Leave.*zip:number in"):
        learned(x=x * 3, zip=[str(1000 + t % 95) for t in range(180)])


def test_dates_without_signs_between_their_parts(tmp_path):
    days = np.datetime64("2021-01-30") + 13 * np.arange(40)
    plain = [int(str(day).replace("-", "")) for day in days]
    x = np.arange(40) % 7 * 1.5
    table = Table.of("t", {"x": x, "day": np.array(plain), "iso": texts([str(d) for d in days])})
    recipe = Recipe.learn(table)
    assert columns_used(recipe) == "1 number, 2 dates"
    X = dict(zip(recipe.feature_names, recipe.apply(table).X.T, strict=True))
    for end in ("", " (cos of week)", " (sin of week)"):
        assert np.allclose(X["day" + end], X["iso" + end])
    pq.write_table(pa.table({"day": [None, *plain], "x": [0.5, *x]}), tmp_path / "t.parquet")
    for found in (read_table(tmp_path / "t.parquet"), open_table(tmp_path / "t.parquet")):
        learn = found.learn if hasattr(found, "learn") else lambda c, t=found: Recipe.learn(t, c)
        assert columns_used(learn(Choices(impute=True))) == "1 date, 1 number"
    kept = kept_rows(table, ["day >= 2021-06-01"])
    assert kept.tolist() == np.flatnonzero(days >= np.datetime64("2021-06-01")).tolist()
    told = Recipe.learn(table, Choices(columns={"day": "number"}))
    assert columns_used(told) == "2 numbers, 1 date"
    with pytest.raises(InvalidData, match="'20211301' in column 'day' is not a date"):
        Recipe.learn(
            Table.of("t", {"day": np.array([20211301, *plain])}), Choices(columns={"day": "date"})
        )


def test_a_word_that_is_read_as_no_value_is_named():
    towns = ["Windhoek", "Ulm", "Rom"] * 10
    countries = ["NA", "DE", "IT"] * 10
    with pytest.raises(
        InvalidData, match=r"'NA' is read so; if it is a value, set `missing` to ''"
    ):
        Recipe.learn(table := Table.of("t", {"c": texts(countries), "t": texts(towns)})).apply(
            table
        )
    choices = Choices(missing="")
    assert columns_used(learned(choices, c=countries, t=towns)) == "2 categories"

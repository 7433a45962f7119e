"""Numbers and dates as people write them, beside what Python's own tools make of them."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.tables.formats import FORMATS, read_texts


@given(
    st.decimals(-(10**9), 10**9, places=2, allow_nan=False, allow_infinity=False),
    st.sampled_from(["", "$", "€ ", "USD "]),
    st.sampled_from(["", " %", " €"]),
)
def test_what_python_writes_is_read_in_both_manners(value, before, after):
    english = f"{abs(value):,.2f}"
    german = english.translate(str.maketrans(",.", ".,"))
    sign = "-" if value < 0 else ""
    wanted = np.nan if before and after else float(value)  # two units are none
    for text, form in ((english, "point"), (german, "comma")):
        found = read_texts([f"{sign}{before}{text}{after}"], form)[0]
        assert found == wanted or (np.isnan(wanted) and np.isnan(found))


@given(
    st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)).map(lambda t: t.replace(microsecond=0))
)
def test_what_strftime_writes_is_read_as_the_same_second(when):
    wanted = when.replace(tzinfo=UTC).timestamp()
    for pattern, form in (
        ("%Y-%m-%dT%H:%M:%S", "ymd"),
        ("%Y/%m/%d %H:%M:%SZ", "ymd"),
        ("%d.%m.%Y %H:%M:%S", "dmy"),
        ("%m/%d/%Y %I:%M:%S %p", "mdy"),
        ("%d %B %Y, %H:%M:%S", "dmy"),
    ):
        assert read_texts([when.strftime(pattern)], form)[0] == wanted


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("5,3", {"comma": 5.3}),
        ("1,200", {"point": 1200, "comma": 1.2}),
        ("1'200.5", {"point": 1200.5}),
        ("(1,200)", {"point": -1200, "comma": -1.2}),
        ("12:30", {"time": 45_000}),
        ("1:30 pm", {"time": 48_600}),
        ("2020-02-30", {}),
        ("31.02.2020", {}),
        ("25:00", {}),
        ("12,34,567", {}),
        ("₹12,34,567", {"point": 1_234_567}),
        ("007A", {}),
        ("2020-01-02+02:00", {}),
        ("1970-01-02T00:00+02:00", {"ymd": 79_200}),
        ("9" * 60, {}),
        ("", {}),
    ],
)
def test_only_what_is_meant(text, forms):
    found = {form: read_texts([text], form)[0] for form in FORMATS}
    assert {form: value for form, value in found.items() if not np.isnan(value)} == forms

"""Numbers and dates as people write them, beside what Python's own tools make of them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.tables.formats import DATES, DAY, DURATION, NUMBERS, read_texts, unit_of


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


@given(st.dates(date(1900, 1, 1), date(2099, 12, 31)))
def test_dates_with_their_day_of_the_week_and_without_signs(day):
    wanted = (day - date(1970, 1, 1)).days * DAY
    assert read_texts([day.strftime("%Y%m%d"), day.strftime("%a, %Y-%m-%d")], "ymd").tolist() == [
        wanted,
        wanted,
    ]
    month = (day.replace(day=1) - date(1970, 1, 1)).days * DAY
    for pattern, meant in (("%A, %d %B %Y", wanted), ("%a %b %d, %Y", wanted), ("%m/%Y", month)):
        for form in ("dmy", "mdy"):
            assert read_texts([day.strftime(pattern)], form)[0] == meant


@given(
    st.integers(0, 10**7)
)  # mapped to what is asked, each draw looks its lambda up in old versions
def test_what_python_calls_a_timedelta_is_read_as_its_seconds(seconds):
    delta = timedelta(seconds=seconds)
    minutes, s = divmod(int(delta.total_seconds()), 60)
    hours, m = divmod(minutes, 60)
    days, h = divmod(hours, 24)
    texts = [str(delta), f"{hours}:{m:02}:{s:02}", f"{minutes}:{s:02}", f"{hours} hours {m}m, {s}s"]
    texts += [f"{days}d {h}h {m}min {s} sec", f"PT{hours}H{m}M{s}S", f"P{days}DT{h}H{m}M{s}S"]
    assert set(read_texts(texts, DURATION)) == {delta.total_seconds()}
    assert set(read_texts([f"-{text}" for text in texts[1:]], DURATION)) == {-delta.total_seconds()}


@given(st.dates(date(1900, 1, 1), date(2100, 1, 1)))
def test_a_stretch_of_the_calendar_is_its_first_day(day):
    year, week, weekday = day.isocalendar()
    since = {"day": day, "month": day.replace(day=1)}
    since["quarter"] = since["month"].replace(month=day.month - (day.month - 1) % 3)
    wanted = {name: (first - date(1970, 1, 1)).days * DAY for name, first in since.items()}
    quarter = (day.month + 2) // 3
    assert read_texts([f"{year}-W{week:02}-{weekday}"], "ymd")[0] == wanted["day"]
    assert read_texts([f"{year}-W{week:02}"], "ymd")[0] == wanted["day"] - (weekday - 1) * DAY
    assert read_texts([day.strftime("%B %Y")], "dmy")[0] == wanted["month"]
    assert read_texts([f"{day.year}-Q{quarter}"], "ymd")[0] == wanted["quarter"]
    assert read_texts([f"Q{quarter} {day.year}"], "mdy")[0] == wanted["quarter"]


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
        ("1.200,50-", {"comma": -1200.5}),
        ("-5.50-", {}),
        ("2-", {}),  # a mark of schools
        ("CHF 99.-", {"point": 99, "comma": 99}),
        ("20240230", {"point": 20240230, "comma": 20240230}),
        ("13/2021", {}),
        ("90 sq ft", {"point": 90, "comma": 90}),
        ("₹12,34,567", {"point": 1_234_567}),
        ("007A", {}),
        ("2020-01-02+02:00", {}),
        ("1970-01-02T00:00+02:00", {"ymd": 79_200}),
        ("€565K", {"point": 565e3, "comma": 565e3}),
        ("$1.2M", {"point": 1.2e6}),
        ("$3m", {"point": 3e6, "comma": 3e6}),
        ("3,1 Mio. €", {"comma": 3.1e6}),
        ("12 bn", {"point": 12e9, "comma": 12e9}),
        ("53.25°", {"point": 53.25}),
        ("120 T€", {}),  # a thousand to some, a million millions to others
        ("5G", {}),
        ("314m", {}),
        ("1970-W02", {"ymd": 4 * DAY}),
        ("1970W017", {"ymd": 3 * DAY}),
        ("1970-W54", {}),
        ("1970 Q2", {"ymd": 90 * DAY}),
        ("Q2/1970", {"dmy": 90 * DAY, "mdy": 90 * DAY}),
        ("Q5 1970", {}),
        ("Feb 1970", {"dmy": 31 * DAY, "mdy": 31 * DAY}),
        ("März 1970", {"dmy": 59 * DAY, "mdy": 59 * DAY}),
        ("Sept. 1970", {"dmy": 243 * DAY, "mdy": 243 * DAY}),
        ("Marathon 1970", {}),
        ("3 Marketing 1970", {}),
        ("Jui 1970", {}),  # juin or juillet
        ("9" * 60, {}),
        ("", {}),
    ],
)
def test_only_what_is_meant(text, forms):
    found = {form: read_texts([text], form)[0] for form in (*NUMBERS, *DATES)}
    assert {form: value for form, value in found.items() if not np.isnan(value)} == forms


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("1.2K", "", 1200.0),
        ("950", "", 950.0),
        ("3M", "", 3e6),
        ("4.5G", "", 4.5e9),
        ("314m", "M", 314.0),
        ("7 h", "H", 7.0),
        ("3 km", "KM", 3.0),
        ("3 MB", "MB", 3.0),
        ("A12", "", np.nan),
        ("12a", "", np.nan),
    ],
)
def test_a_letter_alone_behind_a_number(text, unit, value):
    assert np.array_equal(read_texts([text], "short"), [value], equal_nan=True)
    assert unit_of(text) == unit
    comma = read_texts([text.replace(".", ",")], "short_comma")
    assert np.array_equal(comma, [value], equal_nan=True)

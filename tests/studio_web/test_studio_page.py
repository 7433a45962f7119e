"""Everything one can do, done in a real browser; the scenarios are studio/web/browser/scenarios."""

from __future__ import annotations

import subprocess

import pytest
from report.chromium import executable
from studio_web.served import WEB, missing, node

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(missing() is not None, reason=missing() or ""),
]

#: Done twice: by mouse alone, and by keyboard alone (reached by Tab).
BY_EITHER_HAND = ["sort", "map", "clusters", "doubts", "history", "result"]
ONCE = [
    "answer_by_keyboard",
    "answer_by_mouse",
    "keys_are_remapped",
    "people",
    "dialogs",
    "looks",
    "map_of_a_million",
]
SCENARIOS = [f"{name}:{hand}" for name in BY_EITHER_HAND for hand in ("keyboard", "mouse")] + ONCE


def play(scenario: str, address: str) -> None:
    """Run a scenario by Node; what it says on failing is the failure."""
    found = subprocess.run(
        [str(node()), "browser/run.mjs", scenario, address, str(executable())],
        cwd=WEB,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    print(found.stdout)
    assert found.returncode == 0, found.stderr


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_person_can(scenario: str, studio: str) -> None:
    play(scenario, studio)


def test_a_table_is_opened_from_the_page(empty_studio: str) -> None:
    play("open_a_table", empty_studio)


@pytest.mark.parametrize("hand", ["keyboard", "mouse"])
def test_who_is_told_that_it_is_enough_goes_on(hand: str, records_studio: str) -> None:
    play(f"go_on:{hand}", records_studio)


def test_markup_stays_text_on_every_page(evil_studio: str) -> None:
    play("markup", evil_studio)


def test_every_scenario_is_run() -> None:
    there = {path.stem for path in (WEB / "browser" / "scenarios").glob("*.mjs")}
    assert there == {*BY_EITHER_HAND, *ONCE, "open_a_table", "go_on", "markup", "notebook"}

"""A studio over a small table, and two people."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the studio needs starlette")
pytest.importorskip("uvicorn", reason="the studio needs uvicorn")
pytest.importorskip("httpx", reason="starlette's test client needs httpx")

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # helpers of this folder are importable by name

from studio_browser import PORT, Browser, opening, write_rows  # noqa: E402

from coterie.studio import Studio  # noqa: E402
from coterie.studio.guard import Gate  # noqa: E402
from coterie.studio.server import make_app  # noqa: E402


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "session"
    place.mkdir()
    write_rows(place / "rows.csv")
    return place


@pytest.fixture
def gate():
    return Gate(PORT, "root")


@pytest.fixture
def studio(folder):
    made = Studio(folder)
    made.open(opening(folder / "rows.csv"))
    state = made.wait(60)
    assert state["phase"] == "ready", state
    yield made
    made.close()


@pytest.fixture
def app(studio, gate):
    return make_app(studio, gate, static=studio.folder / "static")


@pytest.fixture
def ann(app, gate):
    return Browser(app, gate, "Ann")


@pytest.fixture
def bob(app, gate):
    return Browser(app, gate, "Bob")

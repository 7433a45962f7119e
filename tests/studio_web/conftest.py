"""Studios to look at, one for each person: nobody meets answers of somebody else's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from studio_web.served import Served, write_evil_table, write_people, write_table


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[str]:
    """The address of a studio with 60 rows open."""
    write_table(tmp_path / "places.csv")
    arguments = ["places.csv", "--id", "id", "--features", "x,y", "--seed", "0"]
    served = Served(tmp_path, *arguments, "--fields", "name,x,note,photo")
    try:
        served.wait_for("ready")
        yield served.address
    finally:
        served.close()


@pytest.fixture(scope="session")
def empty_studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a studio that has nothing open."""
    served = Served(tmp_path_factory.mktemp("empty"))
    try:
        served.wait_for("empty")
        yield served.address
    finally:
        served.close()


@pytest.fixture
def records_studio(tmp_path: Path) -> Iterator[str]:
    """The address of a studio that asks who is the same person; soon enough is known."""
    write_people(tmp_path / "people.csv")
    served = Served(tmp_path, "people.csv", "--id", "id", "--seed", "0", "--records")
    try:
        served.wait_for("ready")
        yield served.address
    finally:
        served.close()


@pytest.fixture(params=["rows", "records"])
def evil_studio(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a studio whose table is all markup, its file's name too."""
    name = "<x-evil> \"'&evil=1.csv"
    write_evil_table(tmp_path / name)
    how = ["--records"] if request.param == "records" else ["-k", "3"]
    served = Served(tmp_path, name, "--id", "id", "--seed", "0", *how)
    try:
        served.wait_for("ready")
        yield served.address
    finally:
        served.close()

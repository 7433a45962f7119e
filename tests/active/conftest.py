"""Helpers of this folder are importable by name; the slow lane is off by default."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))


def pytest_collection_modifyitems(config, items):
    """Long fault runs only on request: `-m slow`."""
    if "slow" in (config.getoption("-m") or ""):
        return
    for item in items:
        if item.get_closest_marker("slow") and HERE in item.path.parents:
            item.add_marker(pytest.mark.skip(reason="slow lane: run with -m slow"))

"""The examples in the docstrings of `coterie.tables` run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import coterie.tables

MODULES = [f"coterie.tables.{m.name}" for m in pkgutil.iter_modules(coterie.tables.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_the_docstrings_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples():
    tried = sum(doctest.testmod(importlib.import_module(name)).attempted for name in MODULES)
    assert tried > 20

"""The versions that a result was made with."""

from __future__ import annotations

import platform
from importlib import import_module

__all__ = ["versions"]

_MODULES = {
    "coterie": "coterie",
    "numpy": "numpy",
    "scipy": "scipy",
    "scikit-learn": "sklearn",
    "numba": "numba",
}


def versions() -> dict[str, str]:
    """Versions of Python, Coterie and what it computes with, by the packages' own words.

    Taken from the modules, not from what an installer noted about them: a tree that is only on
    the path, or an application that was packed into one file, has no such notes.
    """
    found = {"python": platform.python_version()}
    for name, module in _MODULES.items():
        found[name] = str(getattr(import_module(module), "__version__", "unknown"))
    return found

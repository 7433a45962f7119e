"""Hypothesis without a deadline: the first example may have to compile a kernel."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("constraints", deadline=None)
settings.load_profile("constraints")

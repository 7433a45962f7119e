"""Profiles of hypothesis: the suite's, and the long one of `make fuzz`."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "fuzz", max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck)
)
if "HYPOTHESIS_PROFILE" in os.environ:
    settings.load_profile(os.environ["HYPOTHESIS_PROFILE"])

"""How much memory there is."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["memory_bytes"]

_UNKNOWN = 1 << 31  # where the system does not say


def memory_bytes() -> int:
    """Bytes that this process may use: the machine's, or the container's if that is less."""
    if not hasattr(os, "sysconf"):
        return _UNKNOWN
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = Path("/sys/fs/cgroup/memory.max")
    text = limit.read_text().strip() if limit.exists() else "max"
    return min(there, int(text)) if text.isdigit() else there

"""How much memory there is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

__all__ = ["group_limits", "memory_bytes"]

_UNKNOWN = 1 << 31  # where the system does not say


def memory_bytes() -> int:
    """Bytes that this process may use: the machine's, or that of a container or job."""
    if not hasattr(os, "sysconf"):
        return _UNKNOWN
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([there, *group_limits(Path("/proc/self/cgroup"), Path("/sys/fs/cgroup"))])


def group_limits(told: Path, root: Path) -> Iterator[int]:
    """Limits of Linux's control groups that a process is in, and of those around them.

    `told` says which these are; a container sees its own as the outermost, a job of a queue or a
    service is somewhere below. `root` is where they are shown, in the newer or the older way.
    """
    for line in _text(told).splitlines():
        _, kinds, name = line.split(":", 2)
        if not kinds:
            top, file = root, "memory.max"
        elif kinds == "memory":
            top, file = root / "memory", "memory.limit_in_bytes"
        else:
            continue
        inside = Path(name.lstrip("/"))
        for folder in (inside, *inside.parents):
            limit = _text(top / folder / file).strip()
            if limit.isdigit():  # else "max", or not shown
                yield int(limit)


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""

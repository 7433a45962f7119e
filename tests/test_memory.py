"""How much memory a process may use: of the groups that it is in the one that allows least."""

from __future__ import annotations

import os

import pytest

from coterie.memory import group_limits, memory_bytes


def shown(root, limits):
    for place, limit in limits.items():
        path = root / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{limit}\n")


@pytest.mark.parametrize(
    ("told", "limits", "found"),
    [
        ("0::/", {"memory.max": 5000}, [5000]),  # a container
        ("0::/", {"memory.max": "max"}, []),
        ("0::/", {}, []),
        (
            "0::/slurm/job_7/step_0",
            {"slurm/job_7/step_0/memory.max": "max", "slurm/job_7/memory.max": 700},
            [700],
        ),
        (
            "5:cpu,cpuacct:/a\n4:memory:/docker/x\n0::/a",
            {"memory/docker/x/memory.limit_in_bytes": 80, "memory/memory.limit_in_bytes": 2**63},
            [80, 2**63],
        ),
        ("4:memory:/docker/not-shown-inside", {"memory/memory.limit_in_bytes": 90}, [90]),
    ],
)
def test_limits_of_the_groups_around_a_process(tmp_path, told, limits, found):
    (tmp_path / "told").write_text(told)
    shown(tmp_path / "root", limits)
    assert list(group_limits(tmp_path / "told", tmp_path / "root")) == found


def test_where_there_are_no_groups_it_is_the_machine(tmp_path):
    assert list(group_limits(tmp_path / "none", tmp_path)) == []
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert 0 < memory_bytes() <= machine

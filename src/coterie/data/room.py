"""Memory that a pass puts what it finds for each row straight into."""

from __future__ import annotations

from typing import Any, NamedTuple

from coterie._typing import Array
from coterie.data.scratch import Scratch

__all__ = ["Room", "make_room"]


class Room(NamedTuple):
    """Where blocks leave what they find for their rows, if they run in this process.

    In another process, or on a cluster, a block has memory of its own, and what it sends back is
    copied here: see `Block.empty` and `fold`. That it need not be copied is all a room changes.

    Attributes
    ----------
    rows : dict of arrays (n, ...)
        By the name of the result's field, what is found for every row.
    listed : dict of arrays (r, ...)
        What is found for each of the listed rows.
    """

    rows: dict[str, Array]
    listed: dict[str, Array]

    def part(self, start: int, stop: int, first: int, last: int) -> dict[str, Array]:
        """Of the rows start..stop, and of the listed ones first..last."""
        inside = {name: array[start:stop] for name, array in self.rows.items()}
        return inside | {name: array[first:last] for name, array in self.listed.items()}


def make_room(scratch: Scratch, rows: dict[str, Any], listed: dict[str, Any]) -> Room:
    """A room of arrays by their shape and dtype, in memory of `scratch`."""
    return Room(
        *({name: scratch.empty(*kind) for name, kind in kinds.items()} for kinds in (rows, listed))
    )

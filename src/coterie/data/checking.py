"""Values that an estimator cannot take, found block by block and named by their place."""

from __future__ import annotations

from typing import Any, Protocol

from coterie.data.block import Block
from coterie.data.passes import map_blocks
from coterie.data.rows import MemoryRows, Rows
from coterie.exceptions import InvalidData

__all__ = ["check_blocks"]


class Domain(Protocol):
    """What rows may be; a value that another process can be given."""

    def check_rows(self, X: Any) -> None:
        """Raise `InvalidData`, naming row and column, if a row (b, d) is outside."""


def check_blocks(rows: Rows, domain: Domain) -> None:
    """Refuse rows outside the domain, naming the first."""
    if isinstance(rows.source, MemoryRows):
        domain.check_rows(rows.source.X)
        return
    for found in map_blocks(rows, _check_block, domain):
        if found is not None:
            start, problem = found
            place = rows.source.place(start)
            raise InvalidData(f"in the rows from {place} on, counted from there: {problem}")


def _check_block(block: Block, domain: Domain) -> tuple[int, str] | None:
    """Where the block begins and what is wrong in it, if anything is."""
    try:
        domain.check_rows(block.rows)
    except InvalidData as problem:
        return block.start, str(problem)
    return None

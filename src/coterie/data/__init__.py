"""Where rows live, and what runs a pass over them. No mathematics here."""

from coterie.data.blocks import Block, fold, map_blocks
from coterie.data.engine import Engine, ProcessEngine, ThreadEngine, use_engine
from coterie.data.rows import Rows
from coterie.data.source import MemoryRows, RowSource
from coterie.data.threads import num_threads, one_blas_thread, one_thread, use_threads

__all__ = [
    "Block",
    "Engine",
    "MemoryRows",
    "ProcessEngine",
    "RowSource",
    "Rows",
    "ThreadEngine",
    "fold",
    "map_blocks",
    "num_threads",
    "one_blas_thread",
    "one_thread",
    "use_engine",
    "use_threads",
]

"""Where rows live, and what runs a pass over them. No mathematics here."""

from coterie.data.column import StoredColumn, open_column
from coterie.data.dask_rows import DaskRows, is_dask
from coterie.data.derived import DerivedRows, each_row
from coterie.data.engines import (
    Engine,
    ProcessEngine,
    ThreadEngine,
    config,
    engine,
    num_threads,
    one_blas_thread,
    one_thread,
    thread_pool,
    use_threads,
)
from coterie.data.labels import without_gaps, write_labels
from coterie.data.opening import open_rows
from coterie.data.passes import check_blocks, fold, join, map_blocks
from coterie.data.preparing import centered, gather, keeping, map_listed
from coterie.data.room import Room, make_room
from coterie.data.rows import Block, MemoryRows, Rows, RowSource
from coterie.data.scratch import Scratch
from coterie.data.stored import StoredRows
from coterie.data.stream import is_stream, spooled
from coterie.data.unpacking import UnpackedRows, unpacked

__all__ = [
    "Block",
    "DaskRows",
    "DerivedRows",
    "Engine",
    "MemoryRows",
    "ProcessEngine",
    "Room",
    "RowSource",
    "Rows",
    "Scratch",
    "StoredColumn",
    "StoredRows",
    "ThreadEngine",
    "UnpackedRows",
    "centered",
    "check_blocks",
    "config",
    "each_row",
    "engine",
    "fold",
    "gather",
    "is_dask",
    "is_stream",
    "join",
    "keeping",
    "make_room",
    "map_blocks",
    "map_listed",
    "num_threads",
    "one_blas_thread",
    "one_thread",
    "open_column",
    "open_rows",
    "spooled",
    "thread_pool",
    "unpacked",
    "use_threads",
    "without_gaps",
    "write_labels",
]

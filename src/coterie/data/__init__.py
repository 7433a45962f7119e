"""Where rows live, and what runs a pass over them. No mathematics here."""

from coterie.data.block import Block
from coterie.data.centering import centered
from coterie.data.column import StoredColumn, open_column
from coterie.data.dask_rows import DaskRows, is_dask
from coterie.data.engines import Engine, ProcessEngine, ThreadEngine, engine
from coterie.data.keeping import keeping
from coterie.data.labels import write_labels
from coterie.data.opening import open_rows
from coterie.data.passes import fold, map_blocks
from coterie.data.rows import MemoryRows, Rows, RowSource
from coterie.data.stored import StoredRows
from coterie.data.threads import num_threads, one_blas_thread, one_thread, thread_pool, use_threads

__all__ = [
    "Block",
    "DaskRows",
    "Engine",
    "MemoryRows",
    "ProcessEngine",
    "RowSource",
    "Rows",
    "StoredColumn",
    "StoredRows",
    "ThreadEngine",
    "centered",
    "engine",
    "fold",
    "is_dask",
    "keeping",
    "map_blocks",
    "num_threads",
    "one_blas_thread",
    "one_thread",
    "open_column",
    "open_rows",
    "thread_pool",
    "use_threads",
    "write_labels",
]

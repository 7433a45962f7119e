"""Where rows live, and how many threads read them. No clustering here."""

from coterie.data.rows import Rows, add_by_label
from coterie.data.threads import num_threads, one_blas_thread, one_thread, use_threads

__all__ = ["Rows", "add_by_label", "num_threads", "one_blas_thread", "one_thread", "use_threads"]

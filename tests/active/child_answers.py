"""A process that answers questions as fast as it can, until it is killed (see test_store)."""

from __future__ import annotations

import os
import sys

from problems_active import blobs

from coterie.active import ActiveSession, AnswerStore, ExploreConsolidate, LabelOracle


def data():
    """The rows and their classes."""
    return blobs(3, 150, spread=6.0)


def answer(path):
    """Give answers; each is acknowledged by a line after `tell` returned."""
    X, y = data()
    oracle = LabelOracle(y)
    store = AnswerStore(path)
    session = ActiveSession(X, strategy=ExploreConsolidate(3), store=store, random_state=0)
    print("ready", os.getpid(), flush=True)
    while (query := session.ask()) is not None:
        session.tell(query, oracle(query).answer)
        print("saved", session.history[-1].number, *query.rows, flush=True)


def main():
    """For every path on standard input, a process that answers; "gone" when it has ended."""
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            answer(line.strip())
            os._exit(0)
        os.waitpid(pid, 0)
        print("\ngone", flush=True)


if __name__ == "__main__":
    main()

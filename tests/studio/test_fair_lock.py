"""First come, first served; and a lock like any other."""

from __future__ import annotations

import threading
import time

import pytest

from coterie.studio.fair_lock import FairLock


def test_it_is_given_in_the_order_of_coming():
    lock, order, threads = FairLock(), [], []

    def take(name):
        with lock:
            order.append(name)

    with lock:
        for name in range(12):
            threads.append(threading.Thread(target=take, args=(name,)))
            threads[-1].start()
            end = time.monotonic() + 30
            while len(lock._waiting) <= name and time.monotonic() < end:
                time.sleep(0.001)
    lock.acquire()  # who asks again stands behind all of them
    order.append("again")
    lock.release()
    for thread in threads:
        thread.join(30)
    assert order == [*range(12), "again"]


def test_nobody_is_in_it_together_with_another():
    lock, count = FairLock(), [0]

    def add():
        for _ in range(2000):
            with lock, lock:
                before = count[0]
                count[0] = before + 1

    threads = [threading.Thread(target=add) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert count == [12_000]


def test_who_does_not_have_it_cannot_give_it_back():
    lock = FairLock()
    with pytest.raises(RuntimeError):
        lock.release()
    with lock:
        seen = []

        def other():
            try:
                lock.release()
            except RuntimeError as error:
                seen.append(error)

        thread = threading.Thread(target=other)
        thread.start()
        thread.join(30)
        assert len(seen) == 1


def test_who_goes_while_waiting_is_not_waited_for():
    lock = FairLock()
    with lock:
        gate = threading.Lock()
        lock._waiting.append((7, gate))
        lock._step_out(7, gate)
        assert not lock._waiting
    with lock:  # free again
        pass

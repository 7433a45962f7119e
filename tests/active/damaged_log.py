"""A small log of answers, and what comes of opening it with other bytes."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np

from coterie.active import ActiveSession, AnswerStore
from coterie.exceptions import AnswersMismatch

X = np.arange(40.0).reshape(20, 2)
IDS = [f"row-{i}" for i in range(20)]
WORDS = ["same", "different", "unknown"]


def open_session(path: Any, **rest: Any) -> ActiveSession:
    store = AnswerStore(path)
    try:
        return ActiveSession(X, strategy="random", store=store, ids=IDS, **rest)
    except BaseException:  # whoever made the store gives it free
        store.close()
        raise


def close(session: ActiveSession) -> None:
    session._log.store.close()


def make_log(path: Path) -> tuple[Path, list[Any]]:
    """A closed log, and the events that are in it."""
    session = open_session(path, random_state=0)
    for t in range(12):
        session.tell((t, t + 7), WORDS[t % 3], annotator=f"ann{t % 2}", certainty=0.9)
    session.undo()
    events = list(session._log.store.events())
    close(session)
    assert len(events) == 13
    return path, events


def outcome(log: tuple[Path, list[Any]], copy: Path, data: bytes) -> str:
    """What comes of opening a log with these bytes."""
    path, events = log
    copy.write_bytes(data)
    shutil.copy(f"{path}.lock", f"{copy}.lock")
    try:
        session = open_session(copy)
    except AnswersMismatch:
        return "reported"
    found = list(session._log.store.events())
    close(session)
    return "whole" if found == events else f"other events: {found}"

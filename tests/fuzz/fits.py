"""What `make fuzz` tries of whole fits and sessions, beside enumeration, memory or the log itself.

Each function tries the case of a seed and refuses what may never be by an AssertionError.
"""

from __future__ import annotations

import itertools
import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from mutations import broken, odd_columns
from pyarrow import feather, parquet

from coterie import (
    LCVQE,
    PPC,
    ActiveSession,
    ConstrainedCompleteLink,
    Constraints,
    COPKMeans,
    Dossier,
    DPMeans,
    HMRFKMeans,
    Mosaic,
    MPCKMeans,
    PCKMeans,
    RDPMeans,
    SeededKMeans,
)
from coterie.active import AnswerStore
from coterie.data import open_rows
from coterie.exceptions import CoterieError

__all__ = ["hard_labels", "records", "rows_in_files", "session_log"]


def attempt(what: Any, said: str) -> Any:
    """What it gives, or the typed error that it ends in."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return what()
        except CoterieError as error:
            return error
        except Exception as error:
            raise AssertionError(f"{said}: {error!r}") from error


# -- hard pairs, exclusive groups and sizes, beside all labellings -----------------------------
_HARD = [PCKMeans, COPKMeans, HMRFKMeans, MPCKMeans, Mosaic, PPC, ConstrainedCompleteLink]
_ALL_HARD = (COPKMeans, ConstrainedCompleteLink)  # to them every pair is
_SIZED = (PCKMeans, COPKMeans)


def hard_labels(seed: int, folder: Path) -> None:
    """Labels keep what is hard; an error says that they cannot, and only where that is so."""
    rng = random.Random(seed)
    n = rng.randint(2, 7)
    k = rng.randint(1, min(n, 4))
    cls = rng.choice(_HARD)
    known = attempt(lambda: _constraints(n, rng), f"constraints, seed {seed}")
    if isinstance(known, CoterieError):
        return
    sizes = _sizes(n, k, rng) if cls in _SIZED and rng.random() < 0.5 else {}
    options = {"random_state": 0} if cls is not ConstrainedCompleteLink else {}
    first = next(iter(cls().get_params(deep=False).keys() & {"n_clusters", "n_components"}))
    X = np.random.default_rng(seed).normal(size=(n, 2))
    said = f"{cls.__name__}, seed {seed}: n {n}, K {k}, {known!r}, {sizes}"
    made = cls(**{first: k}, **options, **sizes)
    if "warm_start" in made.get_params(deep=False) and rng.random() < 0.4:
        said += ", after a fit without pairs"
        attempt(lambda: made.set_params(warm_start=True).fit(X), said)
    model = attempt(lambda: made.fit(X, constraints=known).labels_, said)
    possible = _possible(n, k, known, cls in _ALL_HARD, sizes)
    if isinstance(model, CoterieError):
        full = [labels for labels in possible.tolist() if len(set(labels)) == k]
        assert not full, f"{said}: {full[0]} keeps everything, and it said {model}"
    else:
        assert (possible == model).all(axis=1).any(), f"{said}: {model} breaks something hard"


def _constraints(n: int, rng: random.Random) -> Constraints:
    pairs = [tuple(rng.sample(range(n), 2)) for _ in range(rng.choice((0, 1, 2, 4, 6)))]
    must = [pair for pair in pairs if rng.random() < 0.4]
    cannot = [pair for pair in pairs if pair not in must]
    groups = [rng.sample(range(n), rng.randint(1, n)) for _ in range(rng.choice((0, 1, 1, 2)))]

    def weights(of: list[Any]) -> list[float]:
        return [rng.choice((np.inf, np.inf, 1.0)) for _ in of]

    return Constraints(
        n,
        must_link=must or None,
        must_weight=weights(must) if must else None,
        cannot_link=cannot or None,
        cannot_weight=weights(cannot) if cannot else None,
        exclusive=groups or None,
        exclusive_weight=weights(groups) if groups else None,
    )


def _sizes(n: int, k: int, rng: random.Random) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if rng.random() < 0.6:
        made["min_size"] = rng.choice((0, 1, n // k, n // k + 1))
    if rng.random() < 0.6:
        made["max_size"] = rng.choice((1, -(-n // k), -(-n // k) + 1, n))
    return made


def _possible(n: int, k: int, known: Constraints, all_hard: bool, sizes: dict[str, Any]) -> Any:
    """All labellings (m, n) that break nothing hard."""
    every = np.array(list(itertools.product(range(k), repeat=n)))
    hard = known.is_hard | all_hard
    for (i, j), kind in zip(known.pairs[hard], known.kind[hard], strict=True):
        every = every[(every[:, i] == every[:, j]) == (kind > 0)]
    groups = known.exclusive
    for number, (start, stop) in enumerate(itertools.pairwise(groups.ptr)):
        if np.isinf(groups.weight[number]) or all_hard:
            for i, j in itertools.combinations(groups.rows[start:stop], 2):
                every = every[every[:, i] != every[:, j]]
    held = np.stack([(every == label).sum(axis=1) for label in range(k)], axis=1)
    low, high = sizes.get("min_size", 0), sizes.get("max_size", n)
    return every[((held >= low) & (held <= high)).all(axis=1)]


# -- rows in files, beside the same in memory --------------------------------------------------
_STORED = [PCKMeans, HMRFKMeans, COPKMeans, LCVQE, SeededKMeans, DPMeans, RDPMeans]
_FORMATS = ("npy", "parquet", "arrow", "npz")


def rows_in_files(seed: int, folder: Path) -> None:
    """The same bits from a file as from memory; of a broken file, a typed error or some result."""
    rng = random.Random(seed)
    ending, cls = rng.choice(_FORMATS), rng.choice(_STORED)
    n, d = rng.choice((3, 4, 10, 40, 150)), rng.choice((1, 2, 5))
    X = _rows(n, d, seed).astype(rng.choice((np.float32, np.float64)))
    k = rng.choice((1, 2, 3))
    params = cls().get_params(deep=False)
    options: dict[str, Any] = {"random_state": 0, "n_init": 2} if "n_init" in params else {}
    options |= {"n_clusters": k} if "n_clusters" in params else {}
    links = [tuple(rng.sample(range(n), 2)) for _ in range(rng.choice((0, 1, 5)))]
    known = Constraints(n, must_link=links[::2] or None, cannot_link=links[1::2] or None)
    pairs = {} if cls is DPMeans else {"constraints": known}
    said = f"{cls.__name__}, seed {seed}: {n} x {d} {X.dtype} in .{ending}, {options}"
    path = folder / f"rows.{ending}"
    _write(path, X, rng)
    damaged = rng.random() < 0.4
    if damaged:
        path.write_bytes(broken(path.read_bytes(), rng))

    def fit(rows: Any) -> Any:
        return attempt(lambda: cls(**options).fit(rows(), **pairs), said)

    stored = fit(lambda: open_rows(path))
    if damaged:
        return
    memory = fit(lambda: sp.csr_matrix(X) if ending == "npz" else X)
    assert isinstance(stored, CoterieError) == isinstance(memory, CoterieError), (
        f"{said}: {stored!r} from the file, {memory!r} from memory"
    )
    if not isinstance(memory, CoterieError):
        assert np.array_equal(stored.labels_, memory.labels_), said
        assert stored.objective_ == memory.objective_, said


def _rows(n: int, d: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return np.abs(rng.normal(size=(n, d)) + 4 * rng.integers(3, size=(n, 1)))


def _write(path: Path, X: Any, rng: random.Random) -> None:
    table = pa.table({f"c{m}": X[:, m] for m in range(X.shape[1])})
    if path.suffix == ".npy":
        np.save(path, X)
    elif path.suffix == ".npz":
        sp.save_npz(path, sp.csr_matrix(X))
    elif path.suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=rng.choice((1, 7, 1000)))
    else:
        feather.write_feather(table, path, chunksize=rng.choice((1, 7, 1000)))


# -- records -----------------------------------------------------------------------------------
def records(seed: int, folder: Path) -> None:
    """Any columns: a typed error, or clusters of all records that keep what is hard."""
    rng = random.Random(seed)
    table = odd_columns(rng)
    n = len(next(iter(table.values())))
    known = attempt(lambda: _constraints(n, rng), f"constraints, seed {seed}") if n > 1 else None
    if isinstance(known, CoterieError):
        return
    options: dict[str, Any] = {}
    if rng.random() < 0.3:
        options["exclusive"] = rng.choice([*table, "no such column"])
    if rng.random() < 0.3:
        options["threshold"] = rng.choice((0.01, 0.5, 0.99))
    said = f"Dossier, seed {seed}: {n} records of {list(table)}, {options}, {known!r}"
    labels = attempt(lambda: Dossier(**options).fit(table, constraints=known).labels_, said)
    if isinstance(labels, CoterieError):
        return
    assert labels.shape == (n,), said
    if known is not None:
        hard = known.expanded()
        same = labels[hard.pairs[:, 0]] == labels[hard.pairs[:, 1]]
        kept = (same == (hard.kind > 0)) | ~hard.is_hard
        assert kept.all(), f"{said}: {labels}"


# -- sessions ----------------------------------------------------------------------------------
_X = _rows(14, 2, 5)


def session_log(seed: int, folder: Path) -> None:
    """Pairs, sets, clusters and second thoughts: what is refused changes nothing, all comes back.

    A refused step leaves the history as it was; the log, opened again, gives the same answers,
    names and constraints, and goes on with the same numbers.
    """
    rng = random.Random(seed)
    path = folder / f"session-{seed}.db"
    store = AnswerStore(path)
    session = _session(store, rng.choice(("random", "explore-consolidate", "information")))
    for step in range(rng.choice((3, 8, 15))):
        said = f"session, seed {seed}, step {step}"
        before = session.history
        found = attempt(lambda: _one_step(session, rng), said)
        assert not isinstance(found, CoterieError) or session.history == before, f"{said}: {found}"
    kept = _shown(session)
    name = session.strategy
    store.close()
    store = AnswerStore(path)
    again = ActiveSession(_X, strategy=name, estimator=_estimator(), store=store)
    assert _shown(again) == kept, f"session, seed {seed}: {_shown(again)} after {kept}"
    store.close()
    path.unlink()


def _shown(session: ActiveSession) -> Any:
    labels = attempt(session.labels, "labels of a session")
    known = session.constraints
    if not isinstance(labels, CoterieError):
        same = labels[known.pairs[:, 0]] == labels[known.pairs[:, 1]]
        kept = (same == (known.kind > 0)) | ~known.is_hard
        assert kept.all(), f"{known.pairs[~kept]} are hard, and broken by {labels}"
    return session.history, known, session.n_told, type(labels)


def _estimator() -> Any:
    return PCKMeans(3, n_init=1, random_state=0)


def _session(store: AnswerStore, strategy: str) -> ActiveSession:
    return ActiveSession(_X, strategy=strategy, estimator=_estimator(), store=store, random_state=0)


def _one_step(session: ActiveSession, rng: random.Random) -> Any:
    rows = [rng.randrange(-1, 15) for _ in range(rng.choice((1, 2, 3)))]
    cluster = rng.randrange(-1, 4)
    how = {"certainty": rng.choice((None, 0.5, 0.8, 1.0)), "despite_clash": rng.random() < 0.3}
    ways = {
        "ask": lambda: session.tell(
            session.ask(), rng.choice(("same", "different", "unknown", "later")), **how
        ),
        "pair": lambda: session.tell(
            (rng.randrange(14), rng.randrange(14)), rng.choice(("same", "different")), **how
        ),
        "set": lambda: session.tell(_asked := session.ask(kind="set"), _piles(_asked, rng), **how),
        "merge": lambda: session.merge(cluster, rng.randrange(3), **how),
        "split": lambda: session.split(cluster, rows, **how),
        "move": lambda: session.move(rows, cluster, **how),
        "pin": lambda: session.pin(rows[0], cluster),
        "reject": lambda: session.reject(cluster, **how),
        "keep out": lambda: session.keep_out(rows, cluster, **how),
        "name": lambda: session.name(cluster, rng.choice(("", "a", "b\n", "\U0001f600"))),
        "undo": lambda: session.undo(rng.choice((1, 2))),
        "redo": session.redo,
        "retract": lambda: session.retract(rng.randrange(1, 12)),
        "edit": lambda: session.edit(rng.randrange(1, 12), rng.choice(("same", "different"))),
    }
    return ways[rng.choice([*ways, "pair", "pair", "ask"])]()


def _piles(question: Any, rng: random.Random) -> Any:
    rows = [] if question is None else list(question.rows)
    piles: list[list[int]] = [[] for _ in range(3)]
    for row in rows:
        if rng.random() < 0.8:
            rng.choice(piles).append(row)
    return [pile for pile in piles if pile or rng.random() < 0.1]

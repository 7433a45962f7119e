"""A mixed crowd beside an expert alone: ARI by what the answers cost."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from sklearn.metrics import adjusted_rand_score

from coterie.active import ActiveSession, LabelOracle, Program, run_programs
from lab import Row

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))  # whose sets these are

from pccc import rows_of

WRONG = {"expert": 0.02, "good": 0.15, "poor": 0.30}
COST = {"expert": 1.0, "good": 0.1, "poor": 0.1}


def cell(
    part: str,
    set: str,
    draw: int,
    seed: int,
    costs: list[int],
    shares: dict[str, float],
    overlap: float,
) -> Iterator[Row]:
    """ARI of every way to ask, whenever so much is spent."""
    X, y = rows_of(f"pccc/col1/{set}", "pixels")
    methods = {
        "expert": ({"expert": 1.0}, False),
        "crowd": (shares, True),
        "crowd, unweighed": (shares, False),
    }
    for method, (people, weighed) in methods.items():
        session = ActiveSession(X, random_state=seed, weigh_annotators=weighed)
        for cost in costs:
            programs = [
                Program(
                    name,
                    LabelOracle(y, error_rate=WRONG[name], random_state=seed * 10 + number),
                    share=people[name],
                    cost=COST[name],
                    # Each has a budget of its own, so that shares are kept to the last answer.
                    max_calls=round(cost * people[name] / _price(people)),
                )
                for number, name in enumerate(people)
            ]
            run_programs(session, programs, overlap=overlap if weighed else 0.0)
            ari = float(adjusted_rand_score(y, session.labels()))
            yield {"method": method, "cost": cost, "ari": ari, "answers": session.n_asked}


def _price(people: dict[str, float]) -> float:
    """What one answer of somebody whose share is 1, and those of the others meanwhile, cost."""
    return sum(share * COST[name] for name, share in people.items())

"""Neighbourhoods: groups of rows known to be one cluster each, and known to differ pairwise."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coterie.active.knowledge import Knowledge
from coterie.active.query import Query
from coterie.active.strategies.space import FarthestFirst, Float
from coterie.active.strategies.strategy import Context, Planner, bits

__all__ = ["Neighborhoods", "OpenRow", "TwoPhase", "read_neighborhoods"]


@dataclass
class OpenRow:
    """A row that was asked about and has no neighbourhood yet; which ones may still be its own."""

    row: int
    left: list[int]


@dataclass
class Neighborhoods:
    """What Explore and Consolidate know, read from the answers.

    Attributes
    ----------
    members : list of list of int
        Rows of each neighbourhood, joined by answers.
    inferred : dict of int to int
        Row -> neighbourhood, by exclusion: K − 1 of K said no.
    open : list of OpenRow
        Rows to go on with, oldest first.
    aside : list of int
        Rows that were tried everywhere without a result ("unknown"), or that all K refused.
    """

    members: list[list[int]]
    inferred: dict[int, int] = field(default_factory=dict)
    open: list[OpenRow] = field(default_factory=list)
    aside: list[int] = field(default_factory=list)

    @property
    def placed(self) -> list[int]:
        """All rows that have a neighbourhood, in order of neighbourhoods."""
        return [row for members in self.members for row in members] + list(self.inferred)

    def whole(self) -> list[list[int]]:
        """Members of each neighbourhood with the inferred ones."""
        groups = [list(members) for members in self.members]
        for row, hood in self.inferred.items():
            groups[hood].append(row)
        return groups


def read_neighborhoods(
    knowledge: Knowledge, first: int, n_clusters: int | None, tries: int
) -> Neighborhoods:
    """Replay Explore's and Consolidate's rules over what is known.

    Groups are taken in the order they were first asked about: one that every neighbourhood
    refused founds the next while there are fewer than K; when K − 1 of K refused, it is in the
    last one (§4.2: at most K − 1 questions a row). "Unknown" bars that one question (footnote 2): a
    neighbourhood is given up for a row after `tries` of its members, or when it has no more.
    """
    founders = [first]
    roots = {knowledge.group(first)}
    read = Neighborhoods([])
    for row in knowledge.heads():
        if knowledge.group(row) in roots:
            continue
        left = [h for h, founder in enumerate(founders) if knowledge.relation(row, founder) == 0]
        asked_in_vain = {h for h in left if _in_vain(knowledge, row, founders[h], tries)}
        complete = n_clusters is not None and len(founders) >= n_clusters
        if not left and not complete:
            founders.append(row)
            roots.add(knowledge.group(row))
        elif complete and len(left) == 1 and len(founders) > 1:
            read.inferred[row] = left[0]
        elif set(left) - asked_in_vain:
            read.open.append(OpenRow(row, [h for h in left if h not in asked_in_vain]))
        else:
            read.aside.append(row)
    read.members = [list(knowledge.members(founder)) for founder in founders]
    return read


def _in_vain(knowledge: Knowledge, row: int, founder: int, tries: int) -> bool:
    """Whether a neighbourhood need not be asked about a row any more, or not now ("later")."""
    doubts = knowledge.doubts(row, founder)
    put_off = any(answer.answer == "later" for answer in doubts)
    return put_off or len(doubts) >= min(tries, len(knowledge.members(founder)))


class TwoPhase(Planner):
    """Rows are placed one after the other, each by questions to the neighbourhoods in turn.

    A subclass says which row is next and in which order neighbourhoods are asked.
    """

    def __init__(self, context: Context, n_clusters: int | None, tries: int) -> None:
        self.context = context
        self.tries = tries
        self.space = context.space
        self.n_clusters = n_clusters
        self.farthest = FarthestFirst(context.space)
        self._last: tuple[Knowledge, int, Neighborhoods] | None = None
        allowed = np.flatnonzero(self.space.candidates)
        self.first = int(np.random.default_rng([context.seed, 0]).choice(allowed))

    # -- what a subclass says ----------------------------------------------------------------
    @abstractmethod
    def next_row(
        self, hoods: Neighborhoods, free: Any, rng: np.random.Generator
    ) -> tuple[int, str] | None:
        """A row of the mask `free` (n,) to place next, and why; None to stop."""

    @abstractmethod
    def distances(self, row: int, hoods: Neighborhoods) -> Float:
        """How far each neighbourhood is: the nearest is asked first."""

    @property
    @abstractmethod
    def phase(self) -> str:
        """The name of the phase."""

    # -- planning ----------------------------------------------------------------------------
    def read(self, knowledge: Knowledge) -> Neighborhoods:
        """The neighbourhoods by the answers so far."""
        when = len(knowledge.answers)
        if self._last is None or self._last[0] is not knowledge or self._last[1] != when:
            found = read_neighborhoods(knowledge, self.first, self.n_clusters, self.tries)
            self._last = knowledge, when, found
        return self._last[2]

    def questions(self, knowledge: Knowledge, count: int) -> list[Query]:
        """Go on with rows that are under way; then new rows. One question a row."""
        hoods = self.read(knowledge)
        rng = self.context.rng(knowledge)
        found = [self._question(item, hoods, knowledge, rng) for item in hoods.open[:count]]
        if len(found) == count:
            return found
        free = self._free(knowledge, hoods)
        while len(found) < count:
            chosen = self.next_row(hoods, free, rng)
            if chosen is None:
                break
            row, why = chosen
            free[row] = False
            # Pairs that somebody volunteered may have closed a neighbourhood to the row.
            left = [
                hood
                for hood, members in enumerate(hoods.members)
                if any(knowledge.is_open(row, member) for member in members)
            ]
            if left:
                found.append(self._question(OpenRow(row, left), hoods, knowledge, rng, why))
        return found

    def _free(self, knowledge: Knowledge, hoods: Neighborhoods) -> Any:
        """Rows that may be asked about and have not been, (n,) bool."""
        free = self.space.candidates.copy()
        known = [*hoods.placed, *hoods.aside, *knowledge.subjects]
        free[np.array(known, dtype=np.int64)] = False
        return free

    def _question(
        self,
        item: OpenRow,
        hoods: Neighborhoods,
        knowledge: Knowledge,
        rng: np.random.Generator,
        why: str = "",
    ) -> Query:
        """The row with a random member of the nearest neighbourhood that may be its own."""
        distance = self.distances(item.row, hoods)
        hood = min(item.left, key=lambda h: distance[h])
        unasked = [m for m in hoods.members[hood] if knowledge.is_open(item.row, m)]
        member = int(rng.choice(unasked))
        tried = len(hoods.members) - len(item.left)
        number = self.space.number(item.row)
        reason = why or f"Row {number} is still without a cluster after {tried} that it is not in"
        text = f"{reason}; cluster {hood + 1} of {len(hoods.members)} is the nearest to try."
        # A new cluster is one more possibility until all K have been found.
        complete = self.n_clusters is not None and len(hoods.members) >= self.n_clusters
        possible = len(item.left) + (not complete)
        return Query((item.row, member), self.phase, text, float(bits(1 / possible)))

    def inferred(self, knowledge: Knowledge) -> list[tuple[int, int]]:
        """Must-links by exclusion: K − 1 of K neighbourhoods said no."""
        hoods = self.read(knowledge)
        return [(row, hoods.members[hood][0]) for row, hood in hoods.inferred.items()]

    def n_found(self, knowledge: Knowledge) -> int | None:
        """The neighbourhoods, unless K was told."""
        return len(self.read(knowledge).members) if self.n_clusters is None else None

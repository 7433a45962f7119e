"""What the answers say together: groups of rows known to be one, and groups known to differ."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable

from coterie.active.query import KNOWN, Answer, ordered
from coterie.exceptions import ContradictoryAnswer

__all__ = ["Knowledge"]


class Knowledge:
    """Answers in force, closed under "same as the same" and "different from the same".

    Every answer costs time in the size of the smaller group it touches, none in the number of
    rows; nothing quadratic is stored.

    Parameters
    ----------
    answers : iterable of Answer
        In the order they were given. An answer replaces an earlier one about the same pair.

    Attributes
    ----------
    asked : set of int
        Numbers of the questions that were answered; answers of one step are to one.
    words, by : Counter of str
        Answers by what they say, and by who gave them; those "known" at the start not counted.
    """

    def __init__(self, answers: Iterable[Answer] = ()) -> None:
        self.answers: list[Answer] = []
        self.of_pair: dict[tuple[int, int], Answer] = {}
        self.subjects: dict[int, int] = {}  # first rows of questions -> order of asking
        self._head: dict[int, int] = {}  # group -> its subject that was asked about first
        self.asked: set[int] = set()
        self.words: Counter[str] = Counter()
        self.by: Counter[str] = Counter()
        self._doubtful: dict[int, set[int]] = {}  # "unknown" and "later", by row
        self._root: dict[int, int] = {}
        self._members: dict[int, list[int]] = {}
        self._cannot: dict[int, dict[int, Answer]] = {}
        self._must: dict[int, list[tuple[int, Answer]]] = {}
        given = list(answers)
        last = _last_change(given)  # groups are made anew there, so before it they need not be
        for answer in given[:last]:
            self._note(answer)
        for answer in given[last:]:
            self.add(answer)

    # -- what is known ---------------------------------------------------------------------
    def group(self, row: int) -> int:
        """A number that two rows share exactly if answers join them."""
        return self._root.get(row, row)

    def members(self, row: int) -> list[int]:
        """Rows known to be one with `row`, itself included."""
        return self._members.get(self.group(row), [row])

    def heads(self) -> list[int]:
        """Of each group, the row that was asked about first; in order of asking."""
        return sorted(self._head.values(), key=self.subjects.__getitem__)

    def relation(self, i: int, j: int) -> int:
        """+1 if the answers join the rows, −1 if they part them, 0 if they leave it open."""
        a, b = self.group(i), self.group(j)
        if a == b:
            return 1
        return -1 if b in self._cannot.get(a, ()) else 0

    def doubts(self, row: int, other: int) -> list[Answer]:
        """What was said, "unknown" or "later", of `row` and members of the other's group."""
        target = self.group(other)
        return [
            self.of_pair[ordered(row, seen)]
            for seen in sorted(self._doubtful.get(row, ()))
            if self.group(seen) == target
        ]

    def is_open(self, i: int, j: int) -> bool:
        """Whether asking makes sense: not said, not implied, not set aside."""
        return i != j and ordered(i, j) not in self.of_pair and self.relation(i, j) == 0

    @property
    def put_off(self) -> list[tuple[int, int]]:
        """Pairs answered "later" that are still open, in the order they were put off."""
        return [
            answer.rows
            for answer in self.of_pair.values()
            if answer.answer == "later" and self.relation(*answer.rows) == 0
        ]

    @property
    def constraining(self) -> list[Answer]:
        """The answers that say something: "same" and "different"."""
        return [answer for answer in self.of_pair.values() if answer.sign]

    # -- contradictions --------------------------------------------------------------------
    def clash(self, i: int, j: int, sign: int) -> tuple[Answer, ...]:
        """The fewest earlier answers along one chain that say the opposite; empty if none do.

        The last answer about the same pair does not count: a new one replaces it.
        """
        a, b = self.group(i), self.group(j)
        if sign < 0 and a == b:
            found = self._path(i, j)
        elif sign > 0 and b in self._cannot.get(a, ()):
            bar = self._cannot[a][b]
            u, v = bar.rows if self.group(bar.rows[0]) == a else bar.rows[::-1]
            found = (*self._path(i, u), bar, *self._path(v, j))
        else:
            return ()
        return found

    def refuse_clash(self, answer: Answer) -> None:
        """Raise `ContradictoryAnswer` if answers about other pairs rule this one out."""
        clash = self.clash(*answer.rows, answer.sign)
        if not clash or all(earlier.pair == answer.pair for earlier in clash):
            return  # a new answer about the same pair replaces the old one
        i, j = answer.rows
        chain = "; ".join(
            f"answer {a.number}: rows {a.rows[0]} and {a.rows[1]} {a.answer}" for a in clash
        )
        raise ContradictoryAnswer(
            f"rows {i} and {j} {answer.answer!r} contradicts {len(clash)} earlier answer(s): "
            f"{chain}. Nothing was recorded. Take one back with retract(number), or keep both "
            "with tell(..., despite_clash=True).",
            clash,
        )

    def contradictions(self) -> list[tuple[Answer, ...]]:
        """Answers that cannot all be right, as minimal sets: drop any one, and the rest can be.

        Each is a chain of "same" and the "different" that it runs into.
        """
        return [
            (*self._path(*answer.rows), answer)
            for answer in self.of_pair.values()
            if answer.sign < 0 and self.relation(*answer.rows) > 0
        ]

    def _path(self, i: int, j: int) -> tuple[Answer, ...]:
        """The answers "same" along a shortest chain from i to j (breadth first)."""
        came: dict[int, tuple[int, Answer]] = {}
        queue = deque([i])
        while queue and j not in came:
            row = queue.popleft()
            for other, answer in self._must.get(row, ()):
                if other != i and other not in came:
                    came[other] = (row, answer)
                    queue.append(other)
        chain: list[Answer] = []
        while j != i:
            j, answer = came[j]
            chain.append(answer)
        return tuple(reversed(chain))

    # -- learning --------------------------------------------------------------------------
    def add(self, answer: Answer) -> None:
        """Take one more answer into account."""
        if self._note(answer):
            self._regroup()
        elif answer.sign > 0:
            self._join(answer)
        elif answer.sign < 0:
            self._part(answer)

    def _note(self, answer: Answer) -> bool:
        """Remember the answer; whether one that parted or joined rows counts no more."""
        earlier = self.of_pair.get(answer.pair)
        if earlier is not None and not (answer.sign and answer.said == earlier.said):
            del self.of_pair[answer.pair]  # it now stands where it was said last
        self.answers.append(answer)
        self._count(answer)
        self.of_pair[answer.pair] = answer
        self._note_subject(answer.rows[0])
        for row, other in (answer.rows, answer.rows[::-1]):
            doubts = self._doubtful.setdefault(row, set())
            (doubts.discard if answer.sign else doubts.add)(other)
        return earlier is not None and earlier.sign not in (0, answer.sign)

    def _count(self, answer: Answer) -> None:
        if answer.phase == KNOWN:
            return
        self.words[answer.answer] += 1
        self.by[answer.annotator or ""] += 1
        if answer.answer != "later":
            self.asked.add(answer.number if answer.step is None else answer.step)

    def _note_subject(self, row: int) -> None:
        order = self.subjects.setdefault(row, len(self.subjects))
        head = self._head.setdefault(self.group(row), row)
        if self.subjects[head] > order:
            self._head[self.group(row)] = row

    def _regroup(self) -> None:
        """Group anew: an earlier answer no longer counts."""
        for table in (self._root, self._members, self._cannot, self._must):
            table.clear()
        self._head = {row: row for row in self.subjects}
        for answer in self.constraining:
            if answer.sign > 0:
                self._join(answer)
            else:
                self._part(answer)

    def _join(self, answer: Answer) -> None:
        i, j = answer.rows
        self._must.setdefault(i, []).append((j, answer))
        self._must.setdefault(j, []).append((i, answer))
        a, b = self.group(i), self.group(j)
        if a == b:
            return
        if len(self.members(a)) < len(self.members(b)):
            a, b = b, a
        moved = self.members(b)
        self._members.setdefault(a, [a]).extend(moved)
        self._members.pop(b, None)
        for row in moved:
            self._root[row] = a
        self._root.setdefault(a, a)
        if b in self._head:
            self._note_subject(self._head.pop(b))
        for other, bar in self._cannot.pop(b, {}).items():
            del self._cannot[other][b]
            if other != a:
                self._bar(a, other, bar)

    def _part(self, answer: Answer) -> None:
        a, b = (self.group(row) for row in answer.rows)
        if a != b:
            self._bar(a, b, answer)

    def _bar(self, a: int, b: int, answer: Answer) -> None:
        self._cannot.setdefault(a, {}).setdefault(b, answer)
        self._cannot.setdefault(b, {}).setdefault(a, answer)


def _last_change(answers: list[Answer]) -> int:
    """Where the last answer stands that takes back what was said of its pair; 0 if none does."""
    last, signs = 0, dict[tuple[int, int], int]()
    for at, answer in enumerate(answers):
        if signs.get(answer.pair, 0) not in (0, answer.sign):
            last = at
        signs[answer.pair] = answer.sign
    return last

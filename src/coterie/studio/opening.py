"""What a session is made from, a file and what was said about it; the same again another day."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from coterie.studio.notebook import notes_beside, recalled

if TYPE_CHECKING:
    from coterie.active import ActiveSession, AnswerStore
    from coterie.studio.desk import Places
    from coterie.tables import Asking, Choices, RecordChoices

__all__ = ["Opening"]


class Opening(NamedTuple):
    """What a session is made from: a file, and what was said about it.

    Attributes
    ----------
    data : Path
    answers : Path
        The log.
    pairs : Path or None
        What is known already.
    choices : dict
        For `Choices`, or with `records` for `RecordChoices`.
    records : bool
    n_clusters : int or None
    strategy : str or None
    error_rate : float or None
    budget, seed : int or None
    fields : tuple of str
        Columns that are shown.
    """

    data: Path
    answers: Path
    pairs: Path | None = None
    choices: dict[str, Any] = {}  # noqa: RUF012 (a named tuple's default is shared and not changed)
    records: bool = False
    n_clusters: int | None = None
    strategy: str | None = None
    error_rate: float | None = None
    budget: int | None = None
    seed: int | None = None
    fields: tuple[str, ...] = ()

    def read(self) -> Asking:
        """Read the table and decide how to ask."""
        from coterie.tables import ask_about_records, ask_about_rows

        chosen: Any = self.chosen()
        rest: dict[str, Any] = {"error_rate": self.error_rate, "fields": self.fields}
        if self.records:
            return ask_about_records(self.data, self.pairs, chosen, **rest)
        rest |= {"strategy": self.strategy, "n_clusters": self.n_clusters}
        return ask_about_rows(self.data, self.pairs, chosen, **rest)

    def chosen(self) -> Choices | RecordChoices:
        """What was said about the columns."""
        from coterie.exceptions import InvalidData
        from coterie.tables import Choices, RecordChoices

        kind = RecordChoices if self.records else Choices
        strange = set(self.choices) - set(kind._fields)
        if strange:  # notes that somebody has changed, or of another version
            raise InvalidData(
                f"{notes_beside(self.answers)} speaks of {min(strange)!r}, which is not known "
                "here; remove that file and say again how the columns are used."
            )
        return kind(**self.choices)

    def begin(self, asking: Asking, store: AnswerStore) -> ActiveSession:
        """The session of the log."""
        from coterie.tables import open_session

        return open_session(asking, store, self.data, budget=self.budget, random_state=self.seed)

    # -- the same another day --------------------------------------------------------------
    def remembered(self) -> dict[str, Any]:
        """What was said, as JSON; files are those of the command that is given again."""
        said = {"choices": {name: _plain(value) for name, value in self._said().items()}}
        rest = ("records", "n_clusters", "strategy", "error_rate", "budget", "seed", "fields")
        return said | {name: _plain(getattr(self, name)) for name in rest}

    @classmethod
    def recall(cls, data: Path) -> Opening | None:
        """As this table was opened the last time; None if it never was, or with other files."""
        answers = data.with_name(data.name + ".answers.db")
        said = recalled(notes_beside(answers))
        if not answers.is_file() or said is None:
            return None
        return cls(data, answers, **{**said, "fields": tuple(said.get("fields", ()))})

    # -- the same in Python and on the command line ----------------------------------------
    def _said(self) -> dict[str, Any]:
        """What was said about columns, without what is as it would be anyway."""
        return {name: value for name, value in self.choices.items() if value}

    def python(self, shown: Mapping[int, str]) -> str:
        """A program that opens the log, clusters by its answers and says the page's numbers.

        `shown` has a row of every cluster of the page. What a session calls its clusters depends
        on those that it had before, so a session that is opened anew may call them otherwise.
        """
        said = ", ".join(f"{name}={_plain(value)!r}" for name, value in self._said().items())
        kind = "records" if self.records else "rows"
        chosen = f"{'RecordChoices' if self.records else 'Choices'}({said})"
        given = [repr(self.data.name), repr(self.pairs and self.pairs.name), chosen]
        for name in ("n_clusters", "strategy", "error_rate"):
            if getattr(self, name) is not None:
                given.append(f"{name}={getattr(self, name)!r}")
        rest = f", budget={self.budget}" if self.budget is not None else ""
        return "\n".join(
            [
                f"# Run it in the folder of {self.data.name}, with the studio closed.",
                "from coterie.active import AnswerStore",
                f"from coterie.tables import {chosen.partition('(')[0]}, "
                f"ask_about_{kind}, open_session",
                "",
                f"asking = ask_about_{kind}({', '.join(given)})",
                f"with AnswerStore({self.answers.name!r}) as store:",
                f"    session = open_session(asking, store, {self.data.name!r}{rest})",
                "    labels = session.labels()",
                "    names = session.names  # what you called them",
                "    constraints = session.constraints  # for any estimator: fit(X, "
                "constraints=...)",
                f"shown = {dict(shown)!r}  # clusters of the page, each by one of its rows",
                "place = {row: at for at, row in enumerate(asking.ids)}",
                "numbers = {labels[place[row]]: k for k, row in shown.items() if row in place}",
                "for row, cluster in zip(asking.ids, labels):",
                "    number = numbers.get(cluster, f'new {cluster}')",
                "    print(row, names.get(int(cluster), number), sep='\\t')",
                "",
            ]
        )

    def command(self, places: Places) -> str:
        """The command that opens the same session."""
        parts = ["coterie studio", _quoted(self.data.name)]
        parts += ["--records"] if self.records else []
        if self.n_clusters is not None:
            parts.append(f"-k {self.n_clusters}")
        for name, value in self._said().items():
            option = {"id_column": "--id", "kinds": "--fields"}.get(name, f"--{name}")
            if isinstance(value, bool):
                parts.append(option)
            elif isinstance(value, str):
                parts.append(f"{option} {_quoted(value)}")
            elif isinstance(value, dict):
                said = ",".join(f"{column}:{kind}" for column, kind in value.items())
                parts.append(f"{option} {_quoted(said)}")
            else:
                parts.append(f"{option} {_quoted(','.join(value))}")
        if self.pairs is not None:
            parts.append(f"--constraints {_quoted(self.pairs.name)}")
        return " ".join(parts)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return tuple(value) if isinstance(value, list | tuple) else value


def _quoted(text: str) -> str:
    import shlex

    return shlex.quote(text)

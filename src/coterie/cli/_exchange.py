"""Options of `coterie ask` for questions and answers in files, in place of the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import click

from coterie.active import ActiveSession
from coterie.cli._options import together
from coterie.tables import FileAnswer, Records, read_answers, tell_answers, write_questions
from coterie.words import counted

__all__ = ["exchange_files", "exchange_options", "file_choices", "with_answers"]


class FileChoices(NamedTuple):
    """What the options say, and the answers once they are read."""

    answers_from: Path | None
    questions_to: Path | None
    most: int
    answers: list[FileAnswer] | None = None


_path = click.Path(dir_okay=False, path_type=Path)
exchange_options = together(
    click.option(
        "--write-questions",
        type=_path,
        metavar="FILE",
        help="Write the next questions to a table, or to tasks for Label Studio (.json), and end.",
    ),
    click.option(
        "--count",
        metavar="N",
        type=click.IntRange(min=1),
        default=20,
        show_default=True,
        help="How many questions to write.",
    ),
    click.option(
        "--read-answers",
        type=_path,
        metavar="FILE",
        help="Take in the answers of such a file, or of Label Studio's export (.json), and end.",
    ),
)


def file_choices(choices: dict[str, Any]) -> FileChoices:
    """The options taken out of the others."""
    questions_to = choices.pop("write_questions")
    return FileChoices(choices.pop("read_answers"), questions_to, choices.pop("count"))


def with_answers(choices: FileChoices, records: Records) -> FileChoices:
    """The answers are read before a log is made for them: a bad file leaves nothing behind."""
    if choices.answers_from is None:
        return choices
    return choices._replace(answers=read_answers(choices.answers_from, records.ids))


def exchange_files(
    session: ActiveSession, records: Records, annotator: str | None, choices: FileChoices
) -> bool:
    """Answers in from a file, then questions out to one; whether either was asked for."""
    if choices.answers is not None:
        n_new = tell_answers(session, choices.answers, annotator=annotator)
        said = f"{counted(len(choices.answers), 'answer')}, {n_new} new"
        click.echo(f"Read        {choices.answers_from} ({said})")
    if choices.questions_to is not None:
        questions = session.ask(batch=choices.most)
        if questions:
            write_questions(questions, records, choices.questions_to)
            said = counted(len(questions), "question")
            click.echo(f"Questions   {choices.questions_to} ({said})")
        else:
            click.echo(f"No questions: {session.done}.")
    return choices.answers is not None or choices.questions_to is not None

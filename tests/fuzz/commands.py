"""Every command that reads files, as a function of one file that may be broken."""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from mutations import ENDINGS, mutated, table_bytes

from coterie.cli.exits import Exit
from coterie.cli.main import main

__all__ = ["READING", "broken_files", "make_folder", "run"]

PAIRS = "a,b,kind\nr0,r2,must\nr1,r2,cannot\n"
READING: dict[str, Any] = {
    "fit data": lambda file: ("fit", file, "-k", 2, "--method", "pckmeans", "-o", "new.csv"),
    "fit pairs": lambda file: (
        *("fit", "good.csv", "--id", "id", "-k", 2, "--method", "pckmeans"),
        *("--constraints", file, "-o", "new.csv"),
    ),
    "check": lambda file: ("check", file, "pairs.csv", "--id", "id"),
    "predict": lambda file: ("predict", "model", file, "-o", "new.csv"),
    "score": lambda file: ("score", file, "--truth", "note", "--labels", "id"),
    "suspects": lambda file: ("suspects", file, "pairs.csv", "--model", "model"),
    "compare": lambda file: (
        *("compare", file, "pairs.csv", "--id", "id", "-k", 2),
        *("--methods", "pckmeans", "--runs", 1),
    ),
    "report": lambda file: ("report", "model", file, "-o", "new.html"),
}


def run(*arguments: Any) -> Any:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def make_folder() -> None:
    """In the current folder: good data, pairs, clusters and a saved model."""
    Path("good.csv").write_bytes(table_bytes("csv"))
    Path("pairs.csv").write_text(PAIRS)
    fit = READING["fit data"]("good.csv")[:-1]
    done = run(*fit, "out.csv", "--id", "id", "--constraints", "pairs.csv", "--save", "model")
    assert done.exit_code == 0, done.output


def broken_files(command: str, seeds: range) -> Counter[int]:
    """How often the command ended with each exit code; refuses what no command may do."""
    codes: Counter[int] = Counter()
    for seed in seeds:
        ending = ENDINGS[seed % len(ENDINGS)]
        name = f"broken.{ending}"
        Path(name).write_bytes(mutated(ending, random.Random(seed)))
        before = set(os.listdir("."))
        done = run(*READING[command](name))
        left = set(os.listdir(".")) - before
        said = f"{command}, seed {seed}, {ending}: {done.exit_code}\n{done.output}"
        assert done.exception is None or isinstance(done.exception, SystemExit), said
        assert done.exit_code in (Exit.DONE, Exit.BAD_INPUT, Exit.UNSATISFIABLE), said
        assert "Traceback" not in done.output, said
        if done.exit_code:
            assert not left, said
            assert done.stderr.count("\n") <= 4, said
            assert "a file:" not in done.stderr, said  # it is named
        for file in (name, *left):
            os.unlink(file)
        codes[done.exit_code] += 1
    return codes

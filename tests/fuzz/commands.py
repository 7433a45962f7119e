"""Every command that reads files, as a function of one file that may be broken."""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner
from mutations import ENDINGS, broken, mutated, odd_columns, odd_pairs, table_bytes

from coterie.cli.exits import Exit
from coterie.cli.main import main

__all__ = ["READING", "WHOLE", "broken_files", "make_folder", "run"]

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
    "fit vectors": lambda file: (
        *("fit", "good.csv", "--id", "id", "-k", 2, "--method", "pckmeans"),
        *("--vectors", file, "-o", "new.csv"),
    ),
    "ask": lambda file: (
        *("ask", file, "--answers", "new.db", "--strategy", "random", "-k", 2),
        *("--write-questions", "new-questions.csv", "--count", 3),
    ),
    "ask answers": lambda file: (
        *("ask", "good.csv", "--id", "id", "--answers", "new.db", "--strategy", "random", "-k", 2),
        *("--read-answers", file),
    ),
    "ask log": lambda file: (
        *("ask", "good.csv", "--id", "id", "--answers", file, "--strategy", "random", "-k", 2),
        *("--write-questions", "new-questions.csv", "--count", 3),
    ),
    "check pairs": lambda file: ("check", "good.csv", file, "--id", "id"),
    "suspects pairs": lambda file: ("suspects", "good.csv", file, "--model", "model"),
    "compare pairs": lambda file: (
        *("compare", "good.csv", file, "--id", "id", "-k", 2),
        *("--methods", "pckmeans", "--runs", 1),
    ),
    "fit stretches": lambda file: (
        *("fit", "good.parquet", file, "--drop", "id,note", "-k", 2, "--method", "pckmeans"),
        *("-o", "new.csv"),
    ),
    "predict stretches": lambda file: ("predict", "numbers", "good.parquet", file, "-o", "new.csv"),
    "fit exclusive": lambda file: (
        *("fit", file, "--exclusive", "note", "-k", 4, "--method", "pckmeans", "-o", "new.csv"),
    ),
    "records": lambda file: ("fit", file, "--records", "-o", "new.csv", "--matches", "new-m.csv"),
    "records link": lambda file: (
        *("fit", "others.csv", "--records", "--id", "id", "--link", file, "-o", "new.csv"),
    ),
    "records predict": lambda file: ("predict", "people", file, "-o", "new.csv"),
    "records ask": lambda file: (
        *("ask", file, "--records", "--answers", "new.db"),
        *("--write-questions", "new-questions.csv", "--count", 3),
    ),
}
#: The file that a command reads when all is well, where it is no table of rows.
WHOLE = {
    "fit pairs": "pairs.csv",
    "fit vectors": "vectors.npy",
    "ask answers": "answered.csv",
    "ask log": "log.db",
    "check pairs": "pairs.csv",
    "suspects pairs": "pairs.csv",
    "compare pairs": "pairs.csv",
    "fit stretches": "good.parquet",
    "predict stretches": "good.parquet",
}


def run(*arguments: Any) -> Any:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def make_folder() -> None:
    """In the current folder: good data, pairs, clusters and a saved model."""
    Path("good.csv").write_bytes(table_bytes("csv"))
    Path("pairs.csv").write_text(PAIRS)
    Path("answered.csv").write_text("a,b,answer\nr0,r2,same\nr1,r2,different\n")
    np.save("vectors.npy", np.random.default_rng(0).normal(size=(12, 3)))
    Path("good.parquet").write_bytes(table_bytes("parquet"))
    Path("others.csv").write_bytes(table_bytes("csv").replace(b"\nr", b"\ns"))
    fit = ("fit", "good.csv", "--id", "id", "-o", "out.csv", "--force")
    plain = (*fit, "-k", 2, "--method", "pckmeans")
    _done(*plain, "--constraints", "pairs.csv", "--save", "model")
    _done(*plain, "--drop", "note", "--save", "numbers")
    _done(*fit, "--records", "--save", "people")
    _done(*READING["ask answers"]("answered.csv"))
    os.replace("new.db", "log.db")
    os.replace("new.db.lock", "log.db.lock")


def _done(*arguments: Any) -> None:
    done = run(*arguments)
    assert done.exit_code == 0, done.output


def broken_file(command: str, seed: int) -> str:
    """The name of a file that this command is to read, broken by this seed."""
    ending = ENDINGS[seed % len(ENDINGS)]
    rng = random.Random(seed)
    if command.endswith("stretches"):  # of many files, all are Parquet
        ending = "parquet"
    name = f"broken.{ending}"
    if command == "ask log":
        name, data = "broken.db", broken(Path("log.db").read_bytes(), rng)
        Path("broken.db.lock").write_bytes(Path("log.db.lock").read_bytes())
    elif seed // len(ENDINGS) % 2:  # whole, and odd in what it says
        odd = odd_pairs(rng) if command in _PAIRS else odd_columns(rng)
        data = table_bytes(ending, odd)
    elif command in _PAIRS and ending == "csv":
        data = broken(Path(WHOLE[command]).read_bytes(), rng)
    else:
        data = mutated(ending, rng)
    Path(name).write_bytes(data)
    return name


_PAIRS = ("fit pairs", "ask answers", "check pairs", "suspects pairs", "compare pairs")


def broken_files(command: str, seeds: range) -> Counter[int]:
    """How often the command ended with each exit code; refuses what no command may do."""
    codes: Counter[int] = Counter()
    for seed in seeds:
        name = broken_file(command, seed)
        before = set(os.listdir("."))
        done = run(*READING[command](name))
        left = set(os.listdir(".")) - before
        said = f"{command}, seed {seed}, {name}: {done.exit_code}\n{done.output}"
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

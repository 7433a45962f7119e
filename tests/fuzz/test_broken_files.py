"""Broken tables through every command that reads one: a code, a line, nothing half written."""

from __future__ import annotations

import gzip
import io
import random
import zipfile

import numpy as np
import pytest
from commands import READING, WHOLE, broken_files, make_folder, run
from mutations import ENDINGS, mutated, table_bytes

from coterie.cli.exits import Exit
from coterie.exceptions import InvalidData, InvalidParameter
from coterie.tables import read_table
from coterie.tables.unpacking import VARIABLE


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        make_folder()
    return folder


@pytest.fixture
def folder(made, monkeypatch):
    monkeypatch.chdir(made)
    return made


@pytest.mark.parametrize("command", READING)
def test_broken_files_are_told_in_a_line(command, folder, record_property):
    record_property("tried", 45)
    codes = broken_files(command, range(45))
    assert codes[Exit.BAD_INPUT] > 10


@pytest.mark.slow
@pytest.mark.parametrize("command", READING)
def test_five_hundred_broken_files(command, folder, record_property):
    record_property("tried", 500)
    broken_files(command, range(500))


@pytest.mark.parametrize("command", READING)
def test_the_commands_work_on_whole_files(command, folder):
    done = run(*READING[command](WHOLE.get(command, "good.csv")))
    assert done.exit_code == 0, done.output
    for made in folder.glob("new*"):
        made.unlink()


@pytest.mark.parametrize("ending", ENDINGS)
def test_whole_files_are_read(ending, folder):
    (folder / f"whole.{ending}").write_bytes(table_bytes(ending))
    assert read_table(f"whole.{ending}").n_rows == 12


def test_an_arrow_file_that_ended_the_process(folder):
    """Offsets of a text column that point before its letters: seed 86 of the mutations."""
    (folder / "broken.arrow").write_bytes(mutated("arrow", random.Random(86)))
    with pytest.raises(InvalidData, match="not a whole Arrow file"):
        read_table("broken.arrow")


@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_half_a_letter_is_shown_as_one_that_is_not_known(ending, folder):
    """Of an emoji cut in two; found by `make fuzz`, as an error when the labels were written."""
    rows = [f'{{"id": "r{t}\\ud83d", "\\udc00x": {t % 2 * 9 + t / 10}}}' for t in range(12)]
    text = "\n".join(rows) if ending == "jsonl" else f"[{','.join(rows)}]"
    (folder / f"half.{ending}").write_text(text)
    done = run(*READING["fit data"](f"half.{ending}"), "--id", "id")
    assert done.exit_code == 0, done.output
    assert "r0\ufffd" in (folder / "new.csv").read_text(encoding="utf-8")
    (folder / "new.csv").unlink()
    whole = folder / f"whole-letters.{ending}"
    whole.write_text(text.replace("\\ud83d", "\\ud83d\\ude00"))
    assert read_table(whole).column("id").texts()[0] == "r0\U0001f600"


# -- bombs ----------------------------------------------------------------------------------------
def packed(ending: str) -> bytes:
    """Two megabytes of table in a few kilobytes."""
    text = b"x,y\n" + b"0,0\n" * 500_000
    if ending == "csv.gz":
        return gzip.compress(text)
    stream = io.BytesIO()
    if ending == "npz":
        np.savez_compressed(stream, X=np.zeros((125_000, 2)))
    else:
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("xl/workbook.xml", text)
    return stream.getvalue()


@pytest.mark.parametrize("ending", ["csv.gz", "npz", "xlsx"])
def test_a_bomb_is_refused_and_the_limit_can_be_raised(ending, folder, monkeypatch):
    name = f"bomb.{ending}"
    (folder / name).write_bytes(packed(ending))
    assert (folder / name).stat().st_size < 20_000
    monkeypatch.setenv(VARIABLE, "1000000")
    with pytest.raises(InvalidData, match=f"more than 1,000,000 bytes.*{VARIABLE}"):
        read_table(name)
    done = run(*READING["fit data"](name))
    assert (done.exit_code, done.stderr.count("\n")) == (Exit.BAD_INPUT, 1)
    monkeypatch.setenv(VARIABLE, "9000000")
    if ending == "xlsx":  # no workbook, but no bomb either
        with pytest.raises(InvalidData, match="not a whole Excel workbook"):
            read_table(name)
    else:
        assert read_table(name).n_rows > 100_000
    monkeypatch.setenv(VARIABLE, "much")
    with pytest.raises(InvalidParameter, match=VARIABLE):
        read_table(name)

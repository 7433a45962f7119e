"""Files and folders appear whole or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from coterie.exceptions import NotWritten
from coterie.files import new_directory, new_file, write_array


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_takes_its_place_only_when_it_is_complete(tmp_path):
    target = tmp_path / "a.txt"
    target.write_text("old")
    with new_file(target) as temporary:
        temporary.write_text("new")
        assert target.read_text() == "old"
        assert temporary.parent == tmp_path  # a rename within one file system
    assert target.read_text() == "new"
    assert names(tmp_path) == ["a.txt"]


def test_an_error_on_the_way_leaves_what_was_there(tmp_path):
    target = tmp_path / "a.txt"
    target.write_text("old")

    def fail():
        with new_file(target) as temporary:
            temporary.write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert target.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def test_trouble_with_the_disk_names_the_output(tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    said = r"a\.txt was not written: No space left on device\."
    with pytest.raises(NotWritten, match=said), new_file(tmp_path / "a.txt") as temporary:
        temporary.write_text("x")
    with pytest.raises(NotWritten, match="m was not"), new_directory(tmp_path / "m") as folder:
        (folder / "part").write_text("x")
    assert names(tmp_path) == []


@pytest.mark.skipif(os.name != "posix", reason="POSIX permissions")
def test_the_result_is_as_readable_as_any_file_of_the_user(tmp_path):
    (tmp_path / "plain").write_text("")
    with new_file(tmp_path / "a") as temporary:
        temporary.write_text("")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_folder_is_replaced_as_a_whole(tmp_path):
    target = tmp_path / "m"
    for text in ("old", "new"):
        with new_directory(target) as folder:
            (folder / text).write_text(text)
    assert names(target) == ["new"]
    assert names(tmp_path) == ["m"]


def test_a_folder_that_cannot_even_be_put_back_is_kept_beside(tmp_path, monkeypatch):
    target = tmp_path / "m"
    with new_directory(target) as folder:
        (folder / "old").write_text("precious")
    rename = os.rename

    def never_to_the_target(source, end):
        if Path(end) == target:
            raise OSError("disk trouble")
        rename(source, end)

    monkeypatch.setattr(os, "rename", never_to_the_target)
    with pytest.raises(NotWritten, match="disk trouble"), new_directory(target) as folder:
        (folder / "new").write_text("x")
    (kept,) = tmp_path.iterdir()
    assert (kept / "old").read_text() == "precious"


# A write beyond the limit fails as on a full disk once the signal is ignored. numpy's own writing
# of so few bytes is left in a buffer of C's, and whether it arrived is never looked at.
CUT_SHORT = """
import resource, signal, sys
from pathlib import Path
import numpy as np
from coterie.files import write_array
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))
try:
    write_array(Path(sys.argv[1]), np.arange(100.0))
except OSError as error:
    print(error.strerror)
"""


def test_an_array_that_is_not_all_written_is_an_error(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", CUT_SHORT, str(tmp_path / "a.npy")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "File too large\n"


@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_is_what_numpy_would_write(tmp_path, order):
    array = np.asarray(np.random.default_rng(0).normal(size=(300, 70)), order=order)
    write_array(tmp_path / "a.npy", array)
    np.save(tmp_path / "b.npy", array)
    assert (tmp_path / "a.npy").read_bytes() == (tmp_path / "b.npy").read_bytes()

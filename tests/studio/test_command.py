"""What `coterie studio` makes of its options, before anything listens."""

from __future__ import annotations

import subprocess
import sys

import pytest
from click.testing import CliRunner

from coterie.cli.main import main
from coterie.studio import Studio, serving


@pytest.fixture
def served(monkeypatch):
    """What the command would have served."""
    calls = []

    def serve(folder, opening, address, *, suggest, browser, say):
        calls.append((folder, opening or suggest, address, browser))
        say("http://127.0.0.1:1/?token=x")

    monkeypatch.setattr(serving, "serve", serve)
    return calls


def run(*arguments):
    return CliRunner().invoke(main, ["studio", *map(str, arguments)])


def test_options_are_those_of_ask(served, folder):
    path = folder / "rows.csv"
    done = run(path, "--id", "id", "--drop", "kind", "-k", 3, "--scale", "--no-browser")
    assert done.exit_code == 0, done.output
    assert done.output.startswith("http://127.0.0.1:1/?token=x\n")
    ((where, opening, address, browser),) = served
    assert where == folder
    assert opening.data == path
    assert opening.answers == folder / "rows.csv.answers.db"
    assert opening.n_clusters == 3
    assert opening.choices["scale"] is True
    assert opening.choices["drop"] == ("kind",)
    assert opening.read().X.shape == (36, 2)
    assert address.host == "127.0.0.1"
    assert not browser
    assert "make studio" in done.output or "Ctrl-C" in done.output


def test_records_and_fields(served, folder):
    done = run(folder / "rows.csv", "--records", "--id", "id", "--fields", "kind:text,x")
    assert done.exit_code == 0, done.output
    opening = served[0][1]
    assert opening.records
    assert opening.choices["kinds"] == {"kind": "text"}
    assert opening.fields == ("kind", "x")
    assert "--records" in opening.command(None)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--id", "x"], "--id is about a table"),
        (["-k", "3"], "--clusters is about a table"),
        (["--scale"], "--scale is about a table"),
        (["DATA", "--records", "-k", "3"], "leave -k, --strategy out"),
        (["DATA", "--exclusive", "x"], "--exclusive is for --records"),
        (["DATA", "--host", "0.0.0.0"], "--password-file"),
        (["DATA", "--host", "0.0.0.0", "--password-file", "SHORT"], "at least 8"),
        (["DATA", "--password-file", "EMPTY"], "holds no password"),
        (["DATA", "--certificate", "SHORT"], "both --certificate and --key"),
    ],
)
def test_what_does_not_go_together_is_refused(served, folder, arguments, words):
    (folder / "short").write_text("short\n")
    (folder / "empty").write_text("\n")
    places = {"DATA": "rows.csv", "SHORT": "short", "EMPTY": "empty"}
    done = run(*(folder / places[a] if a in places else a for a in arguments))
    assert done.exit_code == 2
    assert words in done.output
    assert served == []


def test_a_table_alone_is_shown_first_and_then_opened_as_it_was(served, folder):
    path = folder / "rows.csv"
    assert run(path).exit_code == 0
    assert served[-1][:2] == (folder, "rows.csv")  # the page asks how its columns are used
    studio = Studio(folder)
    said = {"key": "key-000001", "file": "rows.csv", "id": "id", "columns": {"kind": "ignore"}}
    studio.call("ann", "open", said)
    assert studio.wait(60)["phase"] == "ready"
    studio.close()
    assert run(path).exit_code == 0
    assert served[-1][1].choices["id_column"] == "id"
    assert served[-1][1].choices["columns"] == {"kind": "drop"}
    (folder / "rows.csv.answers.studio.json").unlink()  # a log of coterie ask
    assert run(path).exit_code == 0
    assert served[-1][1].choices == {}


def test_without_data_the_page_asks(served, folder):
    done = run("--folder", folder, "--no-browser")
    assert done.exit_code == 0, done.output
    assert served[0][:2] == (folder, None)


def test_a_port_that_is_taken_is_named():
    import socket

    from coterie.exceptions import InvalidParameter

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InvalidParameter, match=f"port {port}.*--port 0"):
            serving.serve(None, None, serving.Address(port=port))


def test_the_address_waits_for_no_library(folder):
    """Numbers are worked out behind the first page: nothing of that is loaded before it."""
    code = (
        "import sys; import coterie.studio.serving as serving\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'pyarrow'}\n"
        "serving.serve = lambda *_, **__: print(sorted(heavy & set(sys.modules)))\n"
        "from coterie.cli.main import main; main()"
    )
    arguments = ["studio", str(folder / "rows.csv"), "--id", "id", "--drop", "kind"]
    found = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )
    assert found.stdout == "[]\n"

"""`session.widget()` and `model.map()` in JupyterLab and marimo, in a real browser.

Neither is a dependency of ours: where they are not installed the tests skip and say so.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from studio_web.served import missing
from studio_web.test_studio_page import play

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(missing() is not None, reason=missing() or ""),
    pytest.mark.skipif(importlib.util.find_spec("anywidget") is None, reason="needs anywidget"),
]

MAKE = """\
import numpy as np
import coterie

X = np.random.default_rng(0).normal(size=(120, 3)) + 6 * np.eye(4, 3)[np.repeat(range(4), 30)]
places = {"name": [f"Place {i % 7}, number {i}" for i in range(120)],
          "note": ["A long remark about the place that is folded. " * 8] * 120}
session = coterie.ActiveSession(X, random_state=0)
"""
WIDGET = "session.widget(places, annotator='Ann')"
MAP = "coterie.PCKMeans(4, random_state=0).fit(X).map(X, records=places)"


def needs(module: str) -> pytest.MarkDecorator:
    there = importlib.util.find_spec(module) is not None
    return pytest.mark.skipif(not there, reason=f"{module} is not installed")


@contextlib.contextmanager
def serving(folder: Path, port: int, *command: str) -> Iterator[None]:
    """The command in the folder, with settings of its own, until it answers and until the end."""
    own = {f"JUPYTER_{name}_DIR": str(folder / name.lower()) for name in ("CONFIG", "RUNTIME")}
    own |= {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "IPYTHONDIR": str(folder / "ipy")}
    with (folder / "log.txt").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=folder,
            stdout=log,
            stderr=log,
            env={**os.environ, **own},
        )
        try:
            end = time.monotonic() + 120
            while True:
                assert server.poll() is None, (folder / "log.txt").read_text()
                assert time.monotonic() < end, (folder / "log.txt").read_text()
                with contextlib.suppress(OSError):
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5)
                    break
                time.sleep(0.2)
            yield
        finally:
            server.terminate()
            server.wait(30)


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


@needs("jupyterlab")
def test_in_jupyterlab(tmp_path: Path) -> None:
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cells = [
        {**cell, "id": f"c{at}", "source": text} for at, text in enumerate([MAKE, WIDGET, MAP])
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    book = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "book.ipynb").write_text(json.dumps(book))
    port = free_port()
    options = [f"--ServerApp.port={port}", "--ServerApp.port_retries=0", "--no-browser"]
    options += ["--IdentityProvider.token=", "--allow-root", "--LabApp.news_url=None"]
    options += ["--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    with serving(tmp_path, port, "jupyterlab", *options):
        play("notebook", f"http://127.0.0.1:{port}/lab/tree/book.ipynb")


@needs("marimo")
def test_in_marimo(tmp_path: Path) -> None:
    made = "".join(f"    {line}\n" for line in MAKE.splitlines())
    script = (
        "import marimo\n\napp = marimo.App()\n\n\n"
        f"@app.cell\ndef _():\n{made}    return X, coterie, places, session\n\n\n"
        f"@app.cell\ndef _(places, session):\n    {WIDGET}\n    return\n\n\n"
        f"@app.cell\ndef _(X, coterie, places):\n    {MAP}\n    return\n\n\n"
        'if __name__ == "__main__":\n    app.run()\n'
    )
    (tmp_path / "book.py").write_text(script)
    port = free_port()
    options = ["run", "book.py", "--headless", "--no-token", f"--port={port}"]
    with serving(tmp_path, port, "marimo", *options):
        play("notebook", f"http://127.0.0.1:{port}/")

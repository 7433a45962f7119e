"""What is committed of the page, what is shipped, and what happens where it cannot be built."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest
from studio_web.served import ROOT, STATIC, WEB

SCRIPT = ROOT / "studio" / "build.py"


def test_versions_are_exact_and_locked_without_addresses():
    package = json.loads((WEB / "package.json").read_text())
    lock = json.loads((WEB / "package-lock.json").read_text())
    wanted = package["dependencies"] | package["devDependencies"]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in wanted.values())
    for name, version in wanted.items():
        assert lock["packages"][f"node_modules/{name}"]["version"] == version
    assert all("resolved" not in entry for entry in lock["packages"].values())
    assert all(entry.get("integrity") for path, entry in lock["packages"].items() if path)


def test_nothing_of_others_is_in_the_repository():
    listed = subprocess.run(
        ["git", "ls-files", "studio", "src/coterie/studio/static"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("this is no clone")
    found = listed.stdout.split()
    assert "studio/web/package.json" in found
    assert not [path for path in found if "node_modules" in path or "/static/" in path]


@pytest.mark.skipif(not (STATIC / "index.html").exists(), reason="make studio was not run")
def test_the_bundle_is_small_and_needs_nothing_from_elsewhere():
    files = [path for path in STATIC.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= 400_000
    page = (STATIC / "index.html").read_text()
    for kind, name in re.findall(r'(src|href)="\./([^"]+)"', page):
        assert (STATIC / name).exists(), (kind, name)
    assert "http" not in page
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", page)
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\beval\(|new Function\(|@import url|\bimport\(", text), path


@pytest.mark.parametrize(("options", "code"), [(["--soft"], 0), ([], 1)])
def test_without_packages_it_says_so_and_goes_on_if_asked_to(tmp_path, options, code):
    for name, text in (("node", "echo v22.12.0"), ("npm", "exit 7")):
        script = tmp_path / name
        script.write_text(f"#!/bin/sh\n{text}\n")
        script.chmod(0o755)
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    found = subprocess.run(
        [sys.executable, str(SCRIPT), "--check", *options],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == code
    assert "was not built" in found.stderr
    assert "Everything else works" in found.stderr

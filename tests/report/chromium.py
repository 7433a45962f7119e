"""A browser for tests: headless Chromium, spoken to through a pipe in its DevTools protocol.

A pipe needs no port and no websocket: messages are JSON, each ended by a zero byte.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
]
PATIENCE = 60.0  # seconds for one answer; machines that run tests are often busy


def executable() -> str | None:
    """Where Chromium is, if it is installed."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Chromium:
    """One browser with one page. Use as a context manager."""

    def __init__(self) -> None:
        self._profile = tempfile.mkdtemp(prefix="coterie-chromium-")
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        # Chromium reads from 3 and writes to 4; bash moves the ends there, from numbers above 9
        # so that none is overwritten before it is moved.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (to_browser, from_browser)]
        move = f'exec "$0" "$@" 3<&{ends[0]} 4>&{ends[1]}'
        profile = f"--user-data-dir={self._profile}"
        self._process = subprocess.Popen(
            ["bash", "-c", move, str(executable()), *FLAGS, profile, "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=ends,
        )
        for end in (to_browser, from_browser, *ends):
            os.close(end)
        self._buffer = b""
        self._sent = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)

    def __enter__(self) -> Chromium:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError, TimeoutError):
            self._session = None
            self.call("Browser.close")
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._write)
        os.close(self._read)
        shutil.rmtree(self._profile, ignore_errors=True)

    # -- the protocol --------------------------------------------------------------------------
    def call(self, method: str, **params: Any) -> Any:
        """Send a command and wait for its answer; events meanwhile go to `events`."""
        self._sent += 1
        message: dict[str, Any] = {"id": self._sent, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next_message()
            if answer.get("id") == self._sent:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def _wait_for(self, event: str, **details: Any) -> None:
        """Wait until an event with these details came."""
        while not any(
            message.get("method") == event and details.items() <= message["params"].items()
            for message in self.events
        ):
            self.events.append(self._next_message())

    def _next_message(self) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError("Chromium does not answer")
            piece = os.read(self._read, 1 << 16)
            if not piece:
                raise OSError("Chromium ended")
            self._buffer += piece
        message, self._buffer = self._buffer.split(b"\0", 1)
        found: dict[str, Any] = json.loads(message)
        return found

    # -- what tests want -----------------------------------------------------------------------
    def open(self, path: Path, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Load a file at a width, and forget the events of the page before."""
        self.events.clear()
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        loader = self.call("Page.navigate", url=path.resolve().as_uri())["loaderId"]
        self._wait_for("Page.lifecycleEvent", name="load", loaderId=loader)

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def complaints(self) -> list[str]:
        """Console messages, errors, and entries of the browser's own log (blocked content, …)."""
        kinds = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [json.dumps(e["params"]) for e in self.events if e.get("method") in kinds]

    def requests(self) -> list[str]:
        """Addresses the page asked for."""
        return [
            e["params"]["request"]["url"]
            for e in self.events
            if e.get("method") == "Network.requestWillBeSent"
        ]

    def screenshot(self, path: Path, whole: bool = True) -> None:
        """The page as a PNG file."""
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(answer["data"]))

    def pdf(self) -> bytes:
        """The page in print."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=False)["data"])

"""Who may come in, and what is looked at before any request is carried out.

Everything here is about HTTP; no request reaches the studio before it has passed.
"""

from __future__ import annotations

import hmac
import ipaddress
import json
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from coterie.studio.errors import Refused
from coterie.studio.people import Listener

__all__ = ["POLICY", "Gate", "Guard", "Visitor", "headers_of"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        "connect-src 'self'",
        "worker-src 'self' blob:",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)
_HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
]
_MOST_VISITORS = 1000
_RATE, _BURST = 100.0, 300.0  # requests a second, and at once, of one visitor
_TRIES, _PER = 5, 60.0  # wrong passwords, in so many seconds, from everybody together
_SAFE = ("GET", "HEAD")


class Visitor:
    """A browser that has shown the token or the password."""

    def __init__(self, person: str) -> None:
        self.person = person
        self.listeners: list[Listener] = []
        self._left, self._seen = _BURST, time.monotonic()

    def spend(self) -> bool:
        """Whether one more request is within the rate."""
        now = time.monotonic()
        self._left = min(_BURST, self._left + (now - self._seen) * _RATE)
        self._seen = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Gate:
    """Token, password, cookies and the names under which the server may be called.

    Parameters
    ----------
    port : int
        Cookies do not tell ports apart, so it is part of the cookie's name.
    person : str
        Who a visitor is until they say so.
    hosts : iterable of str
        Names by which the server may be addressed, besides numbers of this machine.
    anywhere : bool
        Whether it listens on the network: then it may be addressed by any number, which no other
        site can point at it by a name of its own.
    password : str, optional
    secure : bool
        Whether it is behind TLS.
    """

    def __init__(
        self,
        port: int,
        person: str,
        *,
        hosts: Iterable[str] = (),
        anywhere: bool = False,
        password: str | None = None,
        secure: bool = False,
    ) -> None:
        self.token = secrets.token_urlsafe(24)
        self.cookie = f"coterie_studio_{port}"
        self.port = port
        self.secure = secure
        self.has_password = password is not None
        self._password = password
        self._person = person
        self._hosts = {name.lower() for name in hosts} | {"localhost"}
        self._anywhere = anywhere
        self._visitors: OrderedDict[str, Visitor] = OrderedDict()
        self._failed: list[float] = []
        self._lock = threading.Lock()

    def admit(self, given: str, *, password: bool = False) -> str:
        """A cookie for who shows the token (or the password); refused if it is another.

        Wrong passwords are counted, wrong tokens are not: nobody guesses one, and a page of another
        site, which may send them all day, would lock everybody out.
        """
        right = self._password if password else self.token
        with self._lock:
            if password:
                self._refuse_tries()
            if right is None or not hmac.compare_digest(given.encode(), right.encode()):
                if password:
                    self._failed.append(time.monotonic())
                raise Refused("NotSignedIn", "That is not right.", 401)
            cookie = secrets.token_urlsafe(32)
            self._visitors[cookie] = Visitor(self._person)
            while len(self._visitors) > _MOST_VISITORS:
                self._visitors.popitem(last=False)
            return cookie

    def _refuse_tries(self) -> None:
        now = time.monotonic()
        self._failed = [then for then in self._failed if now - then < _PER]
        if len(self._failed) >= _TRIES:
            raise Refused("TooManyRequests", "Too many wrong tries; wait a minute.", 429, wait=60)

    def visitor(self, cookies: str) -> Visitor | None:
        """Who sent this Cookie header."""
        for part in cookies.split(";"):
            name, _, value = part.strip().partition("=")
            if name == self.cookie:
                return self._visitors.get(value)
        return None

    def set_cookie(self, value: str) -> str:
        """The Set-Cookie header."""
        secure = "; Secure" if self.secure else ""
        return f"{self.cookie}={value}; Path=/; HttpOnly; SameSite=Strict{secure}"

    def knows_host(self, host: str) -> bool:
        """Whether a Host header names this server: other names may be somebody's trick."""
        name, port = _split_host(host)
        if port not in (self.port, None) or (port is None and self.port not in (80, 443)):
            return False
        if name in self._hosts:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return self._anywhere or address.is_loopback

    def own_origin(self, origin: str, host: str) -> bool:
        """Whether a page of this server sent the request."""
        scheme = "https" if self.secure else "http"
        return origin.lower() == f"{scheme}://{host.lower()}"


def _split_host(host: str) -> tuple[str, int | None]:
    name, colon, port = host.strip().lower().rpartition(":")
    if not colon or host.endswith("]"):
        name, port = host.strip().lower(), ""
    if port and not (port.isascii() and port.isdigit() and len(port) <= 5):
        return "", None
    return name.removeprefix("[").removesuffix("]"), int(port) if port else None


def headers_of(scope: Scope) -> dict[str, str]:
    """Headers by name; of those given twice, all, with a comma, as HTTP has it."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


class Guard:
    """Looks at every request first, and puts what browsers must know on every response."""

    #: Paths that are for everybody: they show nothing of the data.
    OPEN = ("/", "/login", "/plain.css")

    def __init__(self, app: Any, gate: Gate) -> None:
        self.app = app
        self.gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One connection."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name for name, _ in message.get("headers", ())}
                more = [pair for pair in _HEADERS if pair[0] not in given]
                if b"cache-control" not in given:
                    more.append((b"cache-control", b"no-store"))
                message["headers"] = [*message.get("headers", ()), *more]
            await send(message)

        try:
            self._check(scope)
        except Refused as refused:
            await _refuse(refused, guarded)
            return
        await self.app(scope, receive, guarded)

    def _check(self, scope: Scope) -> None:
        headers = headers_of(scope)
        host = headers.get("host", "")
        if not self.gate.knows_host(host):
            raise Refused("ForbiddenHost", "This server is not called by that name.", 403)
        origin = headers.get("origin")
        if origin is not None and not self.gate.own_origin(origin, host):
            raise Refused("ForbiddenOrigin", "Pages of other sites get nothing here.", 403)
        elsewhere = headers.get("sec-fetch-site") in ("cross-site", "same-site")
        if elsewhere and (scope["method"] not in _SAFE or scope["path"].startswith("/api")):
            raise Refused("ForbiddenOrigin", "Pages of other sites get nothing here.", 403)
        visitor = self.gate.visitor(headers.get("cookie", ""))
        scope["visitor"] = visitor
        if visitor is None:
            if scope["path"] not in self.OPEN:
                raise Refused(
                    "NotSignedIn", "Open the address that `coterie studio` has printed.", 401
                )
        elif not visitor.spend():
            raise Refused("TooManyRequests", "Too many requests; wait a second.", 429, wait=1)


async def _refuse(refused: Refused, send: Send) -> None:
    from coterie.studio.errors import as_error

    status, content = as_error(refused)
    body = json.dumps(content).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    if status == 429:
        headers.append((b"retry-after", b"%d" % refused.extra.get("wait", 1)))
    headers.append((b"connection", b"close"))  # the body, if there is one, is not read
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})

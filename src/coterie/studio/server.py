"""`Studio` behind HTTP: routes, one to one; JSON in and out; one stream of events for each page."""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from coterie.studio.core import MOST_BYTES, Studio, upload_target
from coterie.studio.errors import Refused, as_error
from coterie.studio.guard import Gate, Guard, Visitor
from coterie.studio.pages import PLAIN_CSS, bundle_folder, no_bundle_page, sign_in_page
from coterie.studio.stream import dumps, stream

__all__ = ["make_app"]

_LOG = logging.getLogger("coterie.studio")
_MOST_JSON = 4 << 20  # bytes
_MOST_FORM = 4 << 10
_MOST_STREAMS = 8  # of one visitor

#: Method, path and name of the call; parts of the path in braces become fields of the body.
ROUTES = (
    ("GET", "/api/state", "state"),
    ("POST", "/api/me", "me"),
    ("POST", "/api/refit", "refit"),
    ("POST", "/api/stop", "stop"),
    ("GET", "/api/files", "files"),
    ("POST", "/api/preview", "preview"),
    ("POST", "/api/open", "open"),
    ("POST", "/api/close", "close"),
    ("POST", "/api/question", "question"),
    ("POST", "/api/answer", "answer"),
    ("POST", "/api/release", "release"),
    ("POST", "/api/go_on", "go_on"),
    ("POST", "/api/undo", "undo"),
    ("POST", "/api/redo", "redo"),
    ("GET", "/api/search", "search"),
    ("GET", "/api/records", "records"),
    ("GET", "/api/guidelines", "guidelines"),
    ("POST", "/api/guidelines", "set_guidelines"),
    ("GET", "/api/map", "map"),
    ("POST", "/api/layout", "layout"),
    ("GET", "/api/map/points", "points"),
    ("GET", "/api/map/order", "order"),
    ("GET", "/api/map/labels", "map_labels"),
    ("GET", "/api/map/pairs", "map_pairs"),
    ("GET", "/api/clusters", "clusters"),
    ("GET", "/api/clusters/{number}", "cluster_page"),
    ("GET", "/api/clusters/{number}/members", "members"),
    ("POST", "/api/cluster", "cluster"),
    ("GET", "/api/doubts", "doubts"),
    ("POST", "/api/retract", "retract"),
    ("POST", "/api/keep", "keep"),
    ("GET", "/api/history", "history"),
    ("POST", "/api/edit", "edit"),
    ("GET", "/api/annotators", "annotators"),
    ("GET", "/api/result", "result"),
    ("GET", "/api/export/{kind}", "export"),
)

Endpoint = Callable[[Request], Awaitable[Response]]


def make_app(studio: Studio, gate: Gate, static: Path | None = None) -> Guard:
    """The ASGI application.

    Parameters
    ----------
    studio : Studio
    gate : Gate
    static : Path, optional
        Where the page is; the package's own if not given.
    """
    folder = bundle_folder() if static is None else static
    routes = [
        Route("/", _home(gate, folder), methods=["GET"]),
        Route("/login", _login(gate), methods=["POST"]),
        Route("/plain.css", _plain_css, methods=["GET"]),
        Route("/favicon.svg", _asset(folder, "favicon.svg"), methods=["GET"]),
        Route("/assets/{name}", _asset(folder / "assets"), methods=["GET"]),
        Route("/api/events", _events(studio), methods=["GET"]),
        Route("/api/image", _image(studio), methods=["GET"]),
        Route("/api/files/{name}", _upload(studio), methods=["PUT"]),
        *_calls(studio),
    ]
    handlers: dict[Any, Any] = {HTTPException: _http_error, Exception: _any_error}
    handlers |= {Refused: _any_error}
    return Guard(Starlette(routes=routes, exception_handlers=handlers), gate)


# -- calls -------------------------------------------------------------------------------------
def _calls(studio: Studio) -> list[Route]:
    by_path: dict[str, dict[str, str]] = {}
    for method, path, name in ROUTES:
        by_path.setdefault(path, {})[method] = name
    return [
        Route(path, _endpoint(studio, names), methods=list(names))
        for path, names in by_path.items()
    ]


def _endpoint(studio: Studio, names: dict[str, str]) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        name = names[method]
        try:
            body = await (_query(request) if method == "GET" else _json(request))
            body |= request.path_params
            person = request.scope["visitor"].person
            found = await run_in_threadpool(studio.call, person, name, body)
        except ClientDisconnect:
            return Response(status_code=400)
        except Exception as error:
            return _error(error)
        if name == "me":
            await run_in_threadpool(_rename, studio, request.scope["visitor"], found["name"])
        return _response(found)

    return endpoint


def _rename(studio: Studio, visitor: Visitor, name: str) -> None:
    visitor.person = name
    for listener in visitor.listeners:
        listener.person = name
    studio.tell_people()


async def _query(request: Request) -> dict[str, Any]:
    return dict(request.query_params)


async def _json(request: Request) -> dict[str, Any]:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused("UnsupportedType", "Send JSON, as application/json.", 415)
    raw = await _limited(request, _MOST_JSON)
    try:
        found = json.loads(raw, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Refused("InvalidRequest", "The body is not JSON.") from None
    if not isinstance(found, dict):
        raise Refused("InvalidRequest", "The body must be a JSON object.")
    return found


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


async def _limited(request: Request, most: int) -> bytes:
    """The body, refused as soon as it is too large."""
    parts: list[bytes] = []
    size = 0
    _refuse_length(request, most)
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise Refused("TooLarge", f"The body must not be larger than {most} bytes.", 413)
        parts.append(part)
    return b"".join(parts)


def _refuse_length(request: Request, most: int) -> None:
    length = request.headers.get("content-length", "0")
    if not length.isascii() or not length.isdigit() or int(length[:20]) > most:
        raise Refused("TooLarge", f"The body must not be larger than {most} bytes.", 413)


# -- responses ---------------------------------------------------------------------------------
def _response(found: dict[str, Any]) -> Response:
    if "data" in found and isinstance(found["data"], bytes):
        headers = {"content-disposition": "inline", **found.get("headers", {})}
        return Response(found["data"], media_type="application/octet-stream", headers=headers)
    if isinstance(found.get("path"), Path):
        path: Path = found["path"]
        return FileResponse(
            path,
            media_type=found["type"],
            filename=found["name"],
            background=BackgroundTask(shutil.rmtree, path.parent, ignore_errors=True),
        )
    return Response(dumps(found), media_type="application/json")


def _error(error: Exception) -> Response:
    status, content = as_error(error)
    if status == 500:
        _LOG.error("an error nobody foresaw", exc_info=error)
    headers = {"retry-after": "1"} if status == 429 else None
    return JSONResponse(content, status_code=status, headers=headers)


async def _any_error(request: Request, error: Exception) -> Response:
    return _error(error)


async def _http_error(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 400)
    kinds = {404: "NotFound", 405: "MethodNotAllowed"}
    words = {404: "There is nothing at this address.", 405: "This address takes another method."}
    refused = Refused(
        kinds.get(status, "InvalidRequest"), words.get(status, "The request is not right."), status
    )
    return _error(refused)


# -- pages -------------------------------------------------------------------------------------
def _home(gate: Gate, folder: Path) -> Endpoint:
    async def home(request: Request) -> Response:
        token = request.query_params.get("token")
        if token is not None:
            try:
                cookie = gate.admit(token)
            except Refused as refused:
                return _html(sign_in_page(gate.has_password, str(refused)), refused.status)
            return _enter(gate, cookie)
        if request.scope["visitor"] is None:
            return _html(sign_in_page(gate.has_password), 401)
        index = folder / "index.html"
        if not index.is_file():
            return _html(no_bundle_page())
        return _html(index.read_text(encoding="utf-8"))

    return home


def _enter(gate: Gate, cookie: str) -> Response:
    headers = {"location": "/", "set-cookie": gate.set_cookie(cookie)}
    return Response(status_code=303, headers=headers)


def _login(gate: Gate) -> Endpoint:
    async def login(request: Request) -> Response:
        try:
            raw = await _limited(request, _MOST_FORM)
            given = parse_qs(raw.decode("utf-8", errors="replace")).get("password", [""])[0]
            return _enter(gate, gate.admit(given, password=True))
        except Refused as refused:
            return _html(sign_in_page(gate.has_password, str(refused)), refused.status)

    return login


def _html(page: str, status: int = 200) -> Response:
    return Response(page, status_code=status, media_type="text/html")


async def _plain_css(request: Request) -> Response:
    return Response(PLAIN_CSS, media_type="text/css")


_TYPES = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
    ".png": "image/png",
    ".json": "application/json",
    ".wasm": "application/wasm",
}


def _asset(folder: Path, fixed: str | None = None) -> Endpoint:
    async def asset(request: Request) -> Response:
        name = fixed or request.path_params["name"]
        known = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
        path = folder / name if name in known else None  # a name of the folder, never a path
        kind = _TYPES.get(Path(name).suffix)
        if path is None or kind is None or not path.is_file():
            raise HTTPException(404)
        lasting = "no-store" if fixed else "public, max-age=31536000, immutable"
        return FileResponse(path, media_type=kind, headers={"cache-control": lasting})

    return asset


_IMAGES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".bmp": "image/bmp",
}


def _image(studio: Studio) -> Endpoint:
    async def image(request: Request) -> Response:
        try:
            path = await run_in_threadpool(studio.image, dict(request.query_params))
        except Exception as error:
            return _error(error)
        kind = None if path is None else _IMAGES.get(path.suffix.lower())
        if path is None or kind is None:
            raise HTTPException(404)
        return FileResponse(path, media_type=kind)

    return image


# -- uploads -----------------------------------------------------------------------------------
def _upload(studio: Studio) -> Endpoint:
    async def upload(request: Request) -> Response:
        try:
            kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind != "application/octet-stream":
                raise Refused("UnsupportedType", "Send the file as application/octet-stream.", 415)
            _refuse_length(request, MOST_BYTES)
            target = upload_target(studio, request.path_params["name"])
            try:
                size = await _receive(request, target)
            except BaseException:
                target.unlink(missing_ok=True)
                raise
            return JSONResponse({"name": target.name, "bytes": size})
        except ClientDisconnect:
            return Response(status_code=400)
        except Exception as error:
            return _error(error)

    return upload


async def _receive(request: Request, target: Path) -> int:
    size = 0
    with target.open("xb") as stream:
        async for part in request.stream():
            size += len(part)
            if size > MOST_BYTES:
                raise Refused("TooLarge", f"A file may have {MOST_BYTES >> 20} MB at most.", 413)
            await run_in_threadpool(stream.write, part)
    return size


# -- events ------------------------------------------------------------------------------------
def _events(studio: Studio) -> Endpoint:
    async def events(request: Request) -> Response:
        visitor: Visitor = request.scope["visitor"]
        if len(visitor.listeners) >= _MOST_STREAMS:
            return _error(Refused("TooManyRequests", "Too many pages of one browser.", 429))
        return StreamingResponse(
            stream(studio, visitor),
            media_type="text/event-stream",
            headers={"x-accel-buffering": "no"},
        )

    return events

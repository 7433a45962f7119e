"""The studio on a port of this machine, until it is stopped."""

from __future__ import annotations

import logging
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from coterie.exceptions import InvalidParameter
from coterie.studio.core import Studio, user_name
from coterie.studio.guard import Gate
from coterie.studio.opening import Opening

__all__ = ["Address", "serve"]

# A clustering in another thread holds the interpreter for so many seconds at a time. An answer has
# to get it back a dozen times, so Python's own 5 ms would be felt.
_SWITCH = 0.0005
_KEPT_OPEN = 30  # seconds: who looks at a record for six need not connect anew to answer
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Address(NamedTuple):
    """Where the studio listens, and who may come in.

    Attributes
    ----------
    host : str
    port : int
        0: any that is free.
    password : str or None
    certificate, key : Path or None
        For TLS.
    names : tuple of str
        By which it may be called, besides numbers.
    """

    host: str = "127.0.0.1"
    port: int = 0
    password: str | None = None
    certificate: Path | None = None
    key: Path | None = None
    names: tuple[str, ...] = ()

    def check(self) -> None:
        """Refuse to show data to a network without a password or TLS."""
        if (self.certificate is None) != (self.key is None):
            raise InvalidParameter("TLS needs both --certificate and --key.")
        if self.password is not None and len(self.password) < 8:
            raise InvalidParameter("the password must have at least 8 characters.")
        if self.host in _LOOPBACK or self.password is not None or self.certificate is not None:
            return
        raise InvalidParameter(
            f"--host {self.host} lets everybody who can reach this machine try to open the studio, "
            "and whoever listens on the network can read along. Give --password-file FILE (at "
            "least 8 characters; anybody with it can see and change the session), or --certificate "
            "and --key for TLS, best both; or leave --host out and use ssh -L to come from "
            "elsewhere."
        )


def serve(
    folder: Path,
    opening: Opening | None = None,
    address: Address | None = None,
    *,
    suggest: str | None = None,
    browser: bool = True,
    say: Callable[[str], Any] = print,
) -> None:
    """Run the studio until it is interrupted.

    Parameters
    ----------
    folder : Path
        The only folder whose files a page can open.
    opening : Opening, optional
        What to open at once; else the page asks.
    address : Address, optional
        On 127.0.0.1, any free port, if not given.
    suggest : str, optional
        A table of the folder that the page shows first, to say how its columns are used.
    browser : bool
        Whether to open a browser.
    say : callable
        Called with the address, which holds the token.
    """
    import uvicorn

    from coterie.studio.server import make_app

    address = address or Address()
    address.check()
    listening = _listen(address)
    port = listening.getsockname()[1]
    gate = _gate(address, port)
    studio = Studio(folder)
    studio.suggested = suggest
    app = make_app(studio, gate)
    scheme = "https" if address.certificate is not None else "http"
    shown = _shown_host(address.host)
    link = f"{scheme}://{shown}:{port}/?token={gate.token}"
    config = uvicorn.Config(
        app,
        log_level=logging.CRITICAL,
        access_log=False,
        server_header=False,
        date_header=False,
        ws="none",
        timeout_graceful_shutdown=2,
        timeout_keep_alive=_KEPT_OPEN,
        h11_max_incomplete_event_size=32 << 10,
        limit_concurrency=400,
        ssl_certfile=address.certificate,
        ssl_keyfile=address.key,
    )
    say(link)
    if opening is not None:
        studio.open(opening)
    if browser:
        threading.Thread(target=webbrowser.open, args=(link,), daemon=True).start()
    sys.setswitchinterval(_SWITCH)
    try:
        uvicorn.Server(config).run(sockets=[listening])
    except KeyboardInterrupt:  # Ctrl-C is how it ends
        pass
    finally:
        studio.close()


def _listen(address: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((address.host, address.port))
    except OSError as error:
        listening.close()
        raise InvalidParameter(
            f"cannot listen on {address.host}, port {address.port}: {error.strerror or error}; "
            "choose another with --port, or --port 0 for any that is free."
        ) from error
    listening.listen(128)
    return listening


def _gate(address: Address, port: int) -> Gate:
    on_network = address.host not in _LOOPBACK
    names = {*address.names, address.host}
    if on_network:
        names |= {socket.gethostname()}
    return Gate(
        port,
        user_name(),
        hosts=names,
        anywhere=on_network,
        password=address.password,
        secure=address.certificate is not None,
    )


def _shown_host(host: str) -> str:
    if host in ("0.0.0.0", "::"):
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host

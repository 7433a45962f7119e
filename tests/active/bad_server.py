"""A real HTTP server on loopback that speaks chat completions, and misbehaves as it is told."""

from __future__ import annotations

import json
import socket
import struct
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class BadServer(ThreadingHTTPServer):
    """Plays a script of misdeeds, one a request, then answers by `answer(prompt)`.

    Misdeeds: ("status", code, headers), ("body", text), "reset", "slow" (until `release` is set).
    """

    daemon_threads = True

    def __init__(self, answer):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer
        self.script = []
        self.requests = []
        self.release = threading.Event()
        self.guard = threading.Lock()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request, client_address):
        """Clients that went away are the point."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 65536  # head and body at once: two small packets would wait for each other

    def do_POST(self):
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.guard:
            self.server.requests.append((self.path, dict(self.headers), sent))
            misdeed = self.server.script.pop(0) if self.server.script else None
        if misdeed == "reset":
            # Closed with a time to linger of 0: the client gets RST, not the end of a reply.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True
        elif misdeed == "slow":
            self.server.release.wait(60)
            self._send(200, completion("too late"))
        elif misdeed is not None and misdeed[0] == "status":
            self._send(misdeed[1], '{"error": "misdeed"}', misdeed[2])
        elif misdeed is not None:
            self._send(200, misdeed[1])
        else:
            self._send(200, completion(self.server.answer(sent["messages"][-1]["content"])))

    def _send(self, status, body, headers=()):
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        data = body.encode()
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        """Nothing on the terminal."""


def completion(text):
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 1000, "completion_tokens": 10}
    return json.dumps({"choices": [{"message": message}], "usage": usage})


@contextmanager
def bad_server(answer=lambda prompt: "ANSWER: same"):
    server = BadServer(answer)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.release.set()
        server.shutdown()
        server.server_close()
        thread.join()

"""A gateway that only tells its health: `participants` are what stands in HEALTHY, split at commas."""

import json
import os
import signal
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PARENT = os.getppid()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        names = os.environ.get("HEALTHY", "conversation").split(",")
        health = {"status": "ok", "version": "0", "participants": dict.fromkeys(names, "ready")}
        models = {"backend": {"kind": "embedded", "state": "ready"}, "roles": [{"role": "default", "model": "m:1b"}]}
        body = json.dumps(health if self.path == "/health" else models).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        return


def _leave(*_: object) -> None:
    os._exit(0)


def _with_parent() -> None:
    never = threading.Event()
    while os.getppid() == PARENT:
        never.wait(0.05)
    _leave()


signal.signal(signal.SIGTERM, _leave)
threading.Thread(target=_with_parent, daemon=True).start()
ThreadingHTTPServer(("127.0.0.1", int(os.environ["LOCAL2_GATEWAY__PORT"])), Handler).serve_forever()

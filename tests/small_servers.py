"""``python -m tests.small_servers PORT KIND``: ``serve_processes`` with servers that do little."""

from __future__ import annotations

import http.server
import os
import signal
import sys
from collections.abc import Callable

from hcviz.core.errors import HcvizError
from hcviz.io.network_access import read_access
from hcviz.serving.server_processes import serve_processes


class Answer(http.server.BaseHTTPRequestHandler):
    """Names the process, and ends it at ``/end``."""

    def do_GET(self) -> None:
        if self.path == "/end":
            os.kill(os.getpid(), signal.SIGKILL)
        text = f"{os.getpid()}\n".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        """Nothing: the tests read what the parent writes."""


def serve(port: int, listening: Callable[[], None]) -> None:
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), Answer) as server:
        listening()
        server.serve_forever()


def refuse(port: int, listening: Callable[[], None]) -> None:
    raise HcvizError("The data cannot be read.", "Choose other data.")


def end(port: int, listening: Callable[[], None]) -> None:
    sys.exit(7)


def main(port: int, kind: str) -> str:
    serve_one = {"serve": serve, "refuse": refuse, "end": end}[kind]
    try:
        serve_processes(2, serve_one, read_access(port))
    except HcvizError as fault:
        return str(fault)
    return ""


if __name__ == "__main__":
    from tests import small_servers  # picklable: not of __main__

    sys.exit(small_servers.main(int(sys.argv[1]), sys.argv[2]) or None)

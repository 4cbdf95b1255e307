"""A server that notes who asks, run as a program at the head: `python metering.py PORT FILE`."""

import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def main(port: str, file: str) -> None:
    """Write a line with the time and the path of each request."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with Path(file).open("a") as lines:
                lines.write(f"{time.time()} {self.path}\n")
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    ThreadingHTTPServer(("", int(port)), Handler).serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])

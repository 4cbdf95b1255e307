"""A server of https on the loopback, with a certificate of its own."""

import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass(frozen=True)
class Server:
    """Where it is, and who vouches for it."""

    address: str
    certificate: Path


def body(content: bytes, **headers: str) -> Answer:
    """Answer with a content of its length."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(content)

    return answer


def redirect(location: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", location)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


def certificate(folder: Path) -> tuple[Path, Path]:
    """Make a certificate and its key."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    words = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-keyout", key, "-out", certificate, *words],
        check=True,
        capture_output=True,
    )  # fmt: skip
    return certificate, key


@contextmanager
def serving(folder: Path, answers: Mapping[str, Answer]) -> Iterator[Server]:
    """Serve answers by the beginnings of paths; of others there is nothing."""
    own, key = certificate(folder)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer = next((it for path, it in answers.items() if self.path.startswith(path)), None)
            if answer is None:
                self.send_error(404)
                return
            try:
                answer(self)
            except OSError:  # the client has had enough
                self.close_connection = True

        do_POST = do_GET

        def log_message(self, format: str, *arguments: object) -> None:
            """Say nothing."""

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(own, key)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield Server(f"https://127.0.0.1:{server.server_address[1]}", own)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

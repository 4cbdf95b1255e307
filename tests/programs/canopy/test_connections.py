"""Requests that do not arrive whole: connections that wait, drip, or go on after the answer."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from itertools import product
from threading import Thread

import pytest
import uvicorn
from starlette.middleware import Middleware

from swarm_bench.programs.canopy.service.endpoints import Endpoints
from swarm_bench.programs.canopy.service.server import Gate, TimedProtocol, application

SECONDS = 0.4
WAIT = 10.0
POST = b"POST %s HTTP/1.1\r\nHost: localhost:%d\r\nContent-Type: application/json\r\n"
GET = b"GET /status HTTP/1.1\r\nHost: localhost:%d\r\n\r\n"


class Hasty(TimedProtocol):
    seconds = SECONDS


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Of a service in a thread, whose keep-alive is longer than a test."""
    gate = Middleware(Gate, names={"localhost"}, key="pass", keyless=("/status", "/query"))
    app = application(Endpoints(), gate)
    config = uvicorn.Config(
        app, http=Hasty, ws="none", lifespan="off", log_level="error", timeout_keep_alive=60
    )
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = Thread(target=server.run, args=([listening],))
        thread.start()
        yield listening.getsockname()[1]
        server.should_exit = True
        thread.join()


def is_closed(client: socket.socket, drip: bytes) -> bool:
    """Whether the service has closed the connection, to which one more byte is sent otherwise."""
    try:
        client.send(drip)
        return client.recv(4096) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def test_half_a_request_is_not_waited_for(port: int) -> None:
    halves = [
        b"",
        b"GET /sta",
        GET % port + b"GET /sta",
        POST % (b"/query", port) + b"Content-Length: 99\r\n\r\n{",
        # The answer to this one does not wait for its body.
        POST % (b"/repos/add", port) + b"Content-Length: 9999999\r\n\r\n{",
        GET % port + POST % (b"/query", port) + b"Content-Length: 99\r\n\r\n{",
    ]
    with ExitStack() as stack:
        opened = {}
        for case in product(halves, (b"", b"x")):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            client.send(case[0])
            client.setblocking(False)
            opened[case] = client
        deadline = time.monotonic() + WAIT
        while opened and time.monotonic() < deadline:
            time.sleep(0.05)
            opened = {
                case: client for case, client in opened.items() if not is_closed(client, case[1])
            }
        assert list(opened) == []


def test_whole_requests_are_answered_however_long_their_connection_lasts(port: int) -> None:
    with closing(HTTPConnection("localhost", port, timeout=WAIT)) as client:
        for _ in range(3):
            client.request("GET", "/status")
            assert b"canopy-service" in client.getresponse().read()
            time.sleep(SECONDS * 0.6)

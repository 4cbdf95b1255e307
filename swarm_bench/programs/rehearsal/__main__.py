"""`python -m swarm_bench.programs.rehearsal`: the server, on the loopback interface only."""

import argparse
import logging
import signal
import socket
import sys
from typing import NoReturn

import uvicorn

from swarm_bench.core.errors import UsageError
from swarm_bench.models.rehearsal.faults import parse_faults
from swarm_bench.programs.rehearsal.server import application

ADDRESS = "127.0.0.1"
STOP_SECONDS = 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="swarm_bench.programs.rehearsal",
        description="A model server without a model: real agent programs rehearse with it.",
    )
    parser.add_argument("--port", type=int, default=0, help="default 0, which takes a free one")
    parser.add_argument(
        "--fault", action="append", default=[], metavar="NAME[:N[-M]]", help="may be repeated"
    )
    parser.add_argument(
        "--instructions", action="append", default=[], help="words before a task; may be repeated"
    )
    return parser.parse_args()


def _bound(port: int) -> socket.socket:
    # asyncio turns off Nagle's delay, 40 ms per answer, only where the protocol is named.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind((ADDRESS, port))
    # From here on clients can connect; they wait until uvicorn takes them.
    listening.listen()
    return listening


def _end(_number: int, _frame: object) -> NoReturn:
    raise SystemExit(0)


def main() -> None:
    options = _options()
    # uvicorn stops in an orderly way and then hands the signal on: to this.
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, _end)
    logging.basicConfig(format="%(asctime)s %(message)s", level=logging.WARNING)
    try:
        faults = parse_faults(options.fault)
        listening = _bound(options.port)
    except (UsageError, OSError, OverflowError) as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(1) from None
    # Whoever started us waits for this line.
    sys.stdout.write(f"http://{ADDRESS}:{listening.getsockname()[1]} answers until it is stopped\n")
    sys.stdout.flush()
    config = uvicorn.Config(
        application(faults, options.instructions),
        log_level="warning",
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=STOP_SECONDS,
    )
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main()

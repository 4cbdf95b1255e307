"""`python -m swarm_bench.programs.placebo MATERIAL WORKSPACE`: serves until its input ends. Agents
get the script beside the material instead."""

import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from swarm_bench.programs.placebo.server import placebo_server
from swarm_bench.retrieval.placebo.material import read_material


def main() -> None:
    material, workspace = map(Path, sys.argv[1:])
    serve(material, workspace)


def serve(material: Path, workspace: Path) -> None:
    """Answer on stdout what stdin asks."""
    signal.signal(signal.SIGTERM, _end)
    with suppress(KeyboardInterrupt, BrokenPipeError):
        placebo_server(read_material(material), workspace).serve(
            sys.stdin.buffer, sys.stdout.buffer
        )


def _end(_number: int, _frame: object) -> NoReturn:
    raise SystemExit(0)


if __name__ == "__main__":
    main()

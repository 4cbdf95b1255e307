"""Start-up of `swarm-bench --help`, relative to a bare import of typer. Goal: at most 2 times."""

import statistics
import subprocess
import sys
import time
from pathlib import Path

PAIRS = 15
COMMAND = [str(Path(sys.executable).parent / "swarm-bench"), "--help"]
BARE = [sys.executable, "-c", "import typer"]


def seconds(argv: list[str]) -> float:
    """Wall time of one process."""
    started = time.perf_counter()
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main() -> None:
    """Pairs in turn, so that a slow moment of the machine hits both."""
    seconds(COMMAND), seconds(BARE)
    pairs = [(seconds(COMMAND), seconds(BARE)) for _ in range(PAIRS)]
    ratio = statistics.median(help_ / bare for help_, bare in pairs)
    helped, bare = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(
        f"start-up: --help {helped * 1000:.0f} ms, import typer {bare * 1000:.0f} ms, "
        f"ratio {ratio:.2f} (goal 2.00), median of {PAIRS} pairs"
    )


if __name__ == "__main__":
    main()

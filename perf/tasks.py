"""How long `tasks make` takes on a history of 5,500 commits, in seconds of processor time.

.venv/bin/python perf/tasks.py [REPOSITORY]
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from swarm_bench.datasets.making.kinds import KINDS, Source, make
from swarm_bench.datasets.making.made import POOL
from swarm_bench.runtime.workspaces.objects import Objects

COMMITS = 5500
FILES = 400
COUNT = 30


def _history() -> Iterator[str]:
    """Yield what `git fast-import` reads: each commit changes a function of one file."""
    for number in range(COMMITS):
        file = number % FILES
        functions = (
            f"def load_{file}_{n}(path):\n    return path + {number if n == 3 else n}\n\n\n"
            for n in range(20)
        )
        text = "".join(functions)
        message = f"Let w{number % 97}x coupons change w{number % 89}y totals of w{number}z bills"
        yield f"commit refs/heads/main\ncommitter a <a@b> {1_700_000_000 + number} +0000\n"
        yield f"data {len(message)}\n{message}\nM 100644 inline shop/part_{file}.py\n"
        yield f"data {len(text)}\n{text}\n"


def _build(folder: Path) -> Path:
    subprocess.run(["git", "init", "-q", "-b", "main", folder], check=True)
    stream = "".join(_history()).encode()
    subprocess.run(["git", "fast-import", "--quiet"], cwd=folder, input=stream, check=True)
    return folder


def main() -> None:
    """Print a line for each kind of task."""
    with tempfile.TemporaryDirectory() as folder:
        repository = Path(sys.argv[1]) if sys.argv[1:] else _build(Path(folder))
        head = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=repository, check=True, capture_output=True, text=True
        ).stdout.strip()
        with Objects(repository) as objects:
            source = Source(
                objects=objects,
                repository=repository,
                commit=head,
                tree=objects.tree(head),
                count=COUNT * POOL,
                seed=0,
                on_commit=True,
            )
            for kind in KINDS:
                start = time.process_time(), time.perf_counter()
                made = make(kind, source)
                used, wall = time.process_time() - start[0], time.perf_counter() - start[1]
                print(
                    f"tasks make, {kind:8} {len(made.tasks):3} of {made.looked_at:6,} candidates: "
                    f"{used:5.1f} s of processor time, {wall:5.1f} s in all"
                )


if __name__ == "__main__":
    main()

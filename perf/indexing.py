"""How fast the embedded canopy indexes and answers, on a real tree.

    python perf/indexing.py [TREE] [--repeat N]

Without TREE, the installed packages of this environment are used. The files that would be indexed
are copied into a temporary folder first: nothing is written into the tree.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from swarm_bench.programs.canopy.index.discovery import discover
from swarm_bench.programs.canopy.index.indexing import Index

SERVER = "swarm_bench.programs.canopy.mcp.server"
ROUNDS = 5
NAMES = 20

QUESTIONS = (
    {"pattern": "authentication middleware"},
    {"pattern": "database models relationships"},
    {"pattern": "request handler response"},
    {"pattern": "background job queue worker"},
    {"pattern": "plugin extension load"},
    {"pattern": "import"},
    {"pattern": "return self"},
    {"pattern": "error OR exception OR warning"},
    {"patterns": ["parse", "config", "file"], "match": "any"},
    {"patterns": ["parse", "config", "file"], "match": "all"},
    {"pattern": "test", "glob": "**/*.py"},
    {"section": "usage"},
)
"""Words of the exploration tasks, and words that stand nearly everywhere."""


@dataclass(frozen=True, kw_only=True)
class Indexing:
    """Seconds of one repetition; `processor` is the cold one's share of the processor."""

    cold: float
    warm: float
    processor: float


def copy(tree: Path, target: Path) -> tuple[int, int]:
    """Files and bytes that were copied."""
    sizes = []
    for path, stamp in discover(tree, None, ()).items():
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(tree / path, target / path)
        sizes.append(stamp.size)
    return len(sizes), sum(sizes)


def indexing(root: Path) -> Indexing:
    """Index from nothing, then again with nothing changed."""
    shutil.rmtree(root / ".canopy", ignore_errors=True)
    used = time.process_time()
    cold = _indexed(root)
    used = time.process_time() - used
    return Indexing(cold=cold, warm=_indexed(root), processor=used)


def _indexed(root: Path) -> float:
    started = time.perf_counter()
    index = Index(root)
    index.refresh()
    index.close()
    return time.perf_counter() - started


def questions(root: Path) -> list[dict[str, Any]]:
    """The fixed questions, and lookups of names spread over the index."""
    index = Index(root)
    sql = "SELECT DISTINCT name FROM nodes WHERE type IN (3, 4, 5, 6) ORDER BY hex"
    names = [row[0] for row in index.store().connection.execute(sql)]
    index.close()
    chosen = names[:: max(1, len(names) // NAMES)][:NAMES]
    return [*QUESTIONS, *({"symbol": name} for name in chosen)]


def latencies(root: Path, asked: list[dict[str, Any]], tool: str) -> list[float]:
    """Milliseconds of each call, to a server process over stdin and stdout."""
    server = subprocess.Popen(
        [sys.executable, "-m", SERVER, "--root", str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    with server.stdin, server.stdout:
        _call(server.stdin, server.stdout, tool, asked[0])
        times = list(_timed(server.stdin, server.stdout, tool, asked))
    server.wait()
    return times


def _timed(
    stdin: IO[bytes], stdout: IO[bytes], tool: str, asked: list[dict[str, Any]]
) -> Iterator[float]:
    for _ in range(ROUNDS):
        for arguments in asked:
            started = time.perf_counter()
            _call(stdin, stdout, tool, arguments)
            yield (time.perf_counter() - started) * 1000


def _call(stdin: IO[bytes], stdout: IO[bytes], tool: str, arguments: dict[str, Any]) -> None:
    params = {"name": tool, "arguments": arguments}
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    stdin.write(json.dumps(request).encode() + b"\n")
    stdin.flush()
    reply = json.loads(stdout.readline())
    if "error" in reply:
        raise SystemExit(f"The server refused {arguments}: {reply['error']['message']}")


def report(root: Path, files: int, size: int, repeat: int) -> None:
    runs = [indexing(root) for _ in range(repeat)]
    cold = statistics.median(run.cold for run in runs)
    warm = statistics.median(run.warm for run in runs)
    print(f"tree         {files} files, {size / 1e6:.1f} MB; median of {repeat} repetitions")
    print(f"cold index   {cold:.2f} s   {files / cold:.0f} files/s   {size / 1e6 / cold:.1f} MB/s")
    processor = statistics.median(run.processor for run in runs)
    print(f"             {processor:.2f} s of one processor; the rest is waiting for it")
    print(f"warm index   {warm:.3f} s   {warm / cold:.1%} of cold")
    asked = questions(root)
    for tool in ("canopy_query", "canopy_evidence_pack"):
        times = latencies(root, asked, tool)
        cuts = statistics.quantiles(times, n=100)
        print(
            f"{tool:<20} p50 {statistics.median(times):.1f} ms   p95 {cuts[94]:.1f} ms"
            f"   ({len(times)} calls, {len(asked)} questions)"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = Path(sysconfig.get_paths()["purelib"])
    parser.add_argument("tree", nargs="?", type=Path, default=default)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    if not options.tree.is_dir():
        parser.error(f"{options.tree} is not a folder")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        files, size = copy(options.tree.resolve(), root)
        if not files:
            parser.error(f"{options.tree} has no files to index")
        report(root, files, size, options.repeat)


if __name__ == "__main__":
    main()

"""The embedded canopy beside the real one: how fast they index and answer, and what they find.

    SWARM_BENCH_CANOPY_MCP=… SWARM_BENCH_CANOPY_SERVICE=… python perf/canopy.py [TREE]

Without TREE, the installed packages of this environment are used; it is copied and never written
to. Without the two variables, only the embedded one is measured.
"""

import argparse
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx2
import psutil

EMBEDDED = "swarm_bench.programs.canopy"
ENDINGS = ("rs", "py", "js", "ts", "tsx", "jsx", "go", "md", "txt", "json", "yaml", "yml", "toml")
GLOB = f"**/*.{{{','.join(ENDINGS)}}}"
"""What the real one indexes by default; both are given the same files."""
NAMES = 30
SHORTEST_NAME = 8
LIMIT = 16
ROUNDS = 3
_DEFINITION = re.compile(r"^\s*(?:async def|def|class) (\w+)", re.MULTILINE)
_TOP = re.compile(r"^(?:async def|def|class) (\w+)", re.MULTILINE)

Json = dict[str, Any]
Programs = dict[str, tuple[str, ...]]
"""Commands of an MCP server and a service, as `mcp` and `service`."""


def copied(tree: Path, target: Path) -> int:
    """A committed copy of the files with the endings above; how many they are."""
    count = 0
    for folder, folders, files in os.walk(tree):
        folders[:] = [each for each in folders if each not in {".git", "node_modules", ".canopy"}]
        for name in files:
            source = Path(folder, name)
            if name.rpartition(".")[2] not in ENDINGS or source.is_symlink():
                continue
            copy = target / source.relative_to(tree)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)
            count += 1
    # The real one would write this line itself, and the checkout would count as changed.
    (target / ".gitignore").write_text(".canopy/\n")
    identity = ("-c", "user.name=perf", "-c", "user.email=perf@example.org")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "copy")):
        subprocess.run(["git", *identity, "-C", str(target), *words], check=True)
    return count


def expected(root: Path) -> dict[str, str]:
    """Names that one Python file defines, once and at its top level, and that file."""
    counts: Counter[str] = Counter()
    places: dict[str, str] = {}
    for file in root.rglob("*.py"):
        text = file.read_text("utf-8", "replace")
        counts.update(_DEFINITION.findall(text))
        path = file.relative_to(root).as_posix()
        places.update(dict.fromkeys(_TOP.findall(text), path))
    unique = [name for name in places if counts[name] == 1 and len(name) >= SHORTEST_NAME]
    # In an order that has nothing to do with where they stand or what they are called.
    unique.sort(key=lambda name: sha256(name.encode()).digest())
    return {name: places[name] for name in unique[:NAMES]}


def questions(name: str) -> dict[str, tuple[str, Json]]:
    """The ways to ask for a name: by itself as symbol and as text, and in plain words."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    words = " ".join(parts).lower() or name
    return {
        "query symbol=Name": ("canopy_query", {"symbol": name, "limit": LIMIT}),
        "query pattern=Name": ("canopy_query", {"pattern": name, "limit": LIMIT}),
        "pack pattern=Name": ("canopy_evidence_pack", {"pattern": name, "max_handles": LIMIT}),
        "pack its words": ("canopy_evidence_pack", {"pattern": words, "max_handles": LIMIT}),
    }


class Server:
    """An MCP server process."""

    def __init__(self, command: tuple[str, ...], *words: str) -> None:
        self.process = subprocess.Popen(
            [*command, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(),
        )

    def call(self, tool: str, **arguments: object) -> tuple[float, Json]:
        """Seconds, and the JSON of the answer; an error is an answer without handles."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        params = {"name": tool, "arguments": arguments}
        request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        started = time.perf_counter()
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        reply = json.loads(self.process.stdout.readline())
        seconds = time.perf_counter() - started
        if "error" in reply:
            return seconds, {"handles": []}
        return seconds, json.loads(reply["result"]["content"][0]["text"])

    def files(self) -> int:
        return int(self.call("canopy_status")[1]["files_indexed"])


def processor(*processes: subprocess.Popen[bytes]) -> float:
    """Seconds of processor time, with that of children that have ended: busy machines wait."""
    return sum(sum(psutil.Process(each.pid).cpu_times()[:4]) for each in processes)


def environment() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if not key.startswith("CANOPY_")}


@contextmanager
def server(command: tuple[str, ...], *words: str) -> Iterator[Server]:
    started = Server(command, *words)
    try:
        yield started
    finally:
        started.process.kill()
        started.process.communicate()


@contextmanager
def service(
    command: tuple[str, ...],
) -> Iterator[tuple[httpx2.Client, subprocess.Popen[bytes]]]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [*command, "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(),
    )
    url = f"http://127.0.0.1:{port}"
    try:
        with httpx2.Client(base_url=url, timeout=60, trust_env=False) as client:
            _wait(client)
            yield client, process
    finally:
        process.kill()
        process.wait()


def _wait(client: httpx2.Client) -> None:
    for _ in range(300):
        try:
            client.get("/status")
        except httpx2.TransportError:
            time.sleep(0.05)
        else:
            return
    raise SystemExit("The service does not answer; run it by hand and look at what it prints")


def reindexed(client: httpx2.Client, root: Path) -> float:
    """Seconds until the service is ready."""
    repo = client.post("/repos/add", json={"path": str(root)}).json()["repo_id"]
    started = time.perf_counter()
    client.post("/reindex", json={"repo": repo})
    while (status := client.get("/repos").json()[0]["status"]) != "ready":
        if status == "error":
            raise SystemExit("The service could not index the tree")
        time.sleep(0.05)
    return time.perf_counter() - started


def found_and_timed(wanted: dict[str, str], mcp: Server, *others: subprocess.Popen[bytes]) -> None:
    """Prints recall, and the median time when everything was asked before."""
    for title in questions("any"):
        hits, times = 0, []
        used = processor(mcp.process, *others)
        for turn in range(ROUNDS):
            for name, path in wanted.items():
                tool, arguments = questions(name)[title]
                seconds, answer = mcp.call(tool, **arguments)
                times.append(seconds * 1000)
                hits += not turn and path in {each["file_path"] for each in answer["handles"]}
        used = (processor(mcp.process, *others) - used) * 1000 / len(times)
        print(
            f"    {title:<20} found {hits:>2} of {len(wanted)}"
            f"   median {statistics.median(times[len(wanted) :]):8.1f} ms"
            f"   of the processor {used:6.1f} ms"
        )


def speed(files: int, seconds: float, used: float) -> str:
    return (
        f"{files} files in {seconds:.1f} s, {files / seconds:.0f} files/s; processor {used:.1f} s"
    )


def with_service(programs: Programs, root: Path, wanted: dict[str, str]) -> None:
    with service(programs["service"]) as (client, process):
        seconds = reindexed(client, root)
        used = processor(process)
        url = str(client.base_url).rstrip("/")
        with server(programs["mcp"], "--root", str(root), "--service-url", url) as mcp:
            print(f"  service      {speed(mcp.files(), seconds, used)}", flush=True)
            found_and_timed(wanted, mcp, process)


def standalone(programs: Programs, root: Path, wanted: dict[str, str]) -> None:
    """As agents meet it: the first call indexes what the server thinks right."""
    with server(programs["mcp"], "--root", str(root)) as mcp:
        seconds, _ = mcp.call("canopy_evidence_pack", pattern="authentication middleware")
        used = processor(mcp.process)
        print(f"  standalone   {speed(mcp.files(), seconds, used)}", flush=True)
        found_and_timed(wanted, mcp)


def wholly_indexed(programs: Programs, root: Path, wanted: dict[str, str]) -> None:
    """When canopy_index was told to take everything."""
    shutil.rmtree(root / ".canopy")
    with server(programs["mcp"], "--root", str(root)) as mcp:
        seconds, done = mcp.call("canopy_index", glob=GLOB)
        used = processor(mcp.process)
        print(f"  canopy_index {speed(done['files_indexed'], seconds, used)}", flush=True)
        times = [mcp.call("canopy_query", symbol=name)[0] for name in list(wanted)[:ROUNDS]]
        print(f"    a query after it        median {statistics.median(times) * 1000:8.1f} ms")


def canopies() -> dict[str, Programs]:
    """The programs of each canopy there is, by role."""
    python = (sys.executable, "-m")
    found: dict[str, Programs] = {
        "embedded": {
            "mcp": (*python, f"{EMBEDDED}.mcp_server"),
            "service": (*python, f"{EMBEDDED}.service"),
        }
    }
    mcp = os.environ.get("SWARM_BENCH_CANOPY_MCP")
    http = os.environ.get("SWARM_BENCH_CANOPY_SERVICE")
    if mcp and http:
        found["real"] = {"mcp": (mcp,), "service": (http,)}
    else:
        print("real: skipped, SWARM_BENCH_CANOPY_MCP and SWARM_BENCH_CANOPY_SERVICE name nothing")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = Path(sysconfig.get_paths()["purelib"])
    parser.add_argument("tree", nargs="?", type=Path, default=default)
    tree = parser.parse_args().tree.resolve()
    if not tree.is_dir():
        parser.error(f"{tree} is not a folder")
    for name, programs in canopies().items():
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve()
            count = copied(tree, root / "served")
            shutil.copytree(root / "served", root / "alone")
            wanted = expected(root / "served")
            load = os.getloadavg()[0]
            print(f"{name}: {count} files, {len(wanted)} names, load {load:.1f}", flush=True)
            with_service(programs, root / "served", wanted)
            standalone(programs, root / "alone", wanted)
            wholly_indexed(programs, root / "alone", wanted)


if __name__ == "__main__":
    main()

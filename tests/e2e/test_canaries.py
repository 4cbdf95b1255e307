"""Keys that are planted wherever one can stand, and looked for wherever one could end."""

import base64
import json
import stat
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import quote

import pytest
import yaml

from tests.e2e.conftest import Bench, Done

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

PLACES = (
    "environment", "proxy", "dotenv", "env", "header", "arg", "login", "query", "agent-env",
    "command",
)  # fmt: skip
CANARIES = {place: f"canary/{place}+7f~3a" for place in PLACES}

AGENT = """
import sys
from dataclasses import replace
from pathlib import Path
from swarm_bench.agents.scripted import Scripted

LEAK = str(Path(__file__).with_name("leak.py"))

class Mine(Scripted):
    '''Prints all that it finds before it plays its script.'''

    def launch(self, request):
        launch = super().launch(request)
        argv = (sys.executable, "-I", LEAK, str(request.home), *launch.argv)
        return replace(launch, argv=argv, leaves=("left.txt",))
"""
LEAK = """
import os, sys
from pathlib import Path

def ancestors():
    pid = os.getppid()
    while pid > 1:
        yield Path("/proc", str(pid))
        pid = int(Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[1])

def found():
    yield from (f"{name}={value}".encode() for name, value in os.environ.items())
    yield Path(__file__).with_name("forms.txt").read_bytes()
    yield Path(sys.argv[1], "mcp.json").read_bytes()
    for process in ancestors():
        try:
            # What stands above the orchestrator is none of its keys.
            for name in ("environ", "cmdline"):
                data = (process / name).read_bytes()
                yield data if b"canary" in data or b"Mine" in data else b""
        except OSError:
            yield b"closed"

everything = b"\\n".join(found()) + b"\\n"
os.write(1, everything)
os.write(2, everything)
Path(sys.argv[1], "left.txt").write_bytes(everything)
os.execv(sys.argv[2], sys.argv[2:])
"""


def forms(canary: str) -> list[str]:
    """As an agent could print it."""
    plain = canary.encode()
    logins = [b"x" * number + b":" + plain for number in range(3)]
    encoded = [base64.b64encode(login).decode() for login in (plain, *logins)]
    encoded += [base64.urlsafe_b64encode(login).decode() for login in (plain, *logins)]
    texts = [canary, json.dumps([canary]), json.dumps(json.dumps([canary]))]
    return [
        *texts,
        *encoded,
        quote(canary),
        quote(canary, safe=""),
        plain.hex(),
        plain.hex().upper(),
    ]


def traces(canary: str) -> set[bytes]:
    """What must be found nowhere: each form without the ends that depend on what is beside it."""
    plain = canary.encode()
    encoded = {base64.b64encode(b"x" * number + plain)[4:-4] for number in range(3)}
    urls = {part.replace(b"+", b"-").replace(b"/", b"_") for part in encoded}
    quoted = {quote(canary).encode(), quote(canary, safe="").encode()}
    return {plain, *quoted, *encoded, *urls, plain.hex().encode(), plain.hex().upper().encode()}


class Shelf(BaseHTTPRequestHandler):
    """An MCP server over HTTP that says its key when it is asked who it is."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key = self.headers["X-Library"]
        results: dict[str, Any] = {
            "initialize": {
                "protocolVersion": request.get("params", {}).get("protocolVersion"),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": f"shelf of {key}", "version": key},
            },
            "tools/list": {"tools": [{"name": "find", "inputSchema": {"type": "object"}}]},
        }
        answer = {
            "jsonrpc": "2.0",
            "id": request.get("id"),
            "result": results.get(request["method"]),
        }
        body = json.dumps(answer).encode() if "id" in request else b""
        self.send_response(200 if body else 202)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self.send_error(405)

    do_DELETE = do_GET

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def port() -> Iterator[int]:
    """Of that server."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Shelf)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


def plant(bench: Bench, port: int) -> tuple[Done, Done]:
    """A session of two agents that print every canary in every form, and its plan."""
    everything = "\n".join(form for canary in CANARIES.values() for form in forms(canary))
    init: dict[str, Any] = {"init": {"tools": ["Read"]}}
    call = {"call": {"tool": "Read", "input": {"file_path": everything}, "result": everything}}
    plays = [
        {"when": {"servers": []}, "steps": [init, call, {"answer": {"text": everything}}]},
        {"steps": [init, {"error": {"text": everything}}]},
    ]
    login = quote(CANARIES["login"], safe="")
    query = quote(CANARIES["query"], safe="")
    log = str(bench.folder / "starts.log")
    servers = {
        "local": {
            "command": sys.executable,
            "args": ["-I", "-m", "swarm_bench.testing.remembering_mcp", log,
                     "--api-key", CANARIES["arg"]],
            "env": {"LICENCE": CANARIES["env"]},
        },
        "remote": {
            "type": "http",
            "url": f"http://me:{login}@127.0.0.1:{port}/mcp?api_key={query}",
            "headers": {"X-Library": CANARIES["header"]},
        },
    }  # fmt: skip
    ours = {"version": ["echo", "--api-key", CANARIES["command"]]}
    files = {
        "script.yaml": yaml.safe_dump(plays),
        "mine.py": AGENT,
        "leak.py": LEAK,
        "forms.txt": everything,
        "own.json": json.dumps({"mcpServers": servers, "swarmBench": ours}),
        ".env": f"OTHER_API_KEY={CANARIES['dotenv']}\n",
    }
    for name, text in files.items():
        (bench.folder / name).write_text(text)
    words = [
        "compare", "--repo", str(bench.repo), "--modes", "baseline", "./own.json",
        "--agent", "mine:Mine", "--model", "script.yaml", "--agents", "1", "--runs", "1",
        "--output", "out", "--record", "--agent-env", f"AGENT_THING={CANARIES['agent-env']}",
    ]  # fmt: skip
    environment = {
        "SERVICE_TOKEN": CANARIES["environment"],
        "DATABASE": f"postgres://me:{quote(CANARIES['proxy'], safe='')}@db.example/x",
    }
    planned = bench.call(*words, "--plan", env=environment)
    # In a process of its own, whose environment an agent can read in /proc.
    done = bench.call(*words, env=environment, inside=["env"])
    for name in files:
        (bench.folder / name).unlink()
    return planned, done


def test_no_canary_is_in_a_file_or_on_the_terminal(bench: Bench, port: int) -> None:
    planned, done = plant(bench, port)

    assert planned.code == 0, planned.err
    assert done.code in (0, 3), done.err
    assert len(bench.records("out")) == 2, done.err
    stream = (bench.folder / "out" / "baseline" / "agent-1.stream.jsonl").read_bytes()
    assert stream.count(b"(not stored)") > 100
    assert b"AGENT_THING=(not stored)" in stream
    read = b"SERVICE_TOKEN=(not stored)" in stream  # from our own environment: as root it can be
    assert read or b"closed" in stream
    written = {str(path): path.read_bytes() for path in bench.folder.rglob("*") if path.is_file()}
    assert any("recording/streams" in name for name in written)
    printed = [planned.out, planned.err, done.out, done.err]
    shown = {**written, "terminal": "".join(printed).encode()}
    assert [
        (place, name, data[max(0, data.find(trace) - 60) :][:150])
        for place, canary in CANARIES.items()
        for trace in traces(canary)
        for name, data in shown.items()
        if trace in data
    ] == []
    results = [bench.folder / "out", *(bench.folder / "out").rglob("*")]
    modes = {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in results}
    assert modes == {(True, 0o700), (False, 0o600)}


def test_no_canary_is_in_an_error(bench: Bench) -> None:
    login = "http://me:tweety-login@127.0.0.1:9/x?api_key=tweety-query"
    headers = {"Authorization": "Bearer tweety-header"}
    server = {"type": "http", "url": login, "headers": headers}
    (bench.folder / "dead.json").write_text(json.dumps({"mcpServers": {"dead": server}}))
    repo = str(bench.repo)
    calls = [
        ("--modes", "baseline", "./dead.json", "--repo", repo),
        ("--modes", "baseline", "--repo", login),
        ("--modes", "baseline", "canopy-service", "--repo", repo, "--service-url", login),
    ]
    for words in calls:
        done = bench.call("compare", "--agents", "1", "--output", "out", *words)
        assert done.code != 0
        assert done.err.count("127.0.0.1:9") > 0
        assert "tweety" not in done.out + done.err
    assert not (bench.folder / "out").exists()

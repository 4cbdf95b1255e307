"""The key of a session's service: its servers have it, strangers and files do not."""

import base64
import json

import pytest
import yaml

from tests.builders.golden import Sentences
from tests.e2e.conftest import Bench

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

AGENT = """
import sys
from dataclasses import replace
from pathlib import Path
from swarm_bench.agents.scripted import Scripted

class Nosy(Scripted):
    '''Tries the service and prints the key before it plays its script.'''

    def launch(self, request):
        launch = super().launch(request)
        script = str(Path(__file__).with_name("nosy.py"))
        return replace(launch, argv=(sys.executable, "-I", script, str(request.home), *launch.argv))
"""
NOSY = """
import base64, json, os, subprocess, sys, urllib.error, urllib.request
from pathlib import Path

(server,) = json.loads(Path(sys.argv[1], "mcp.json").read_text())["mcpServers"].values()
url = server["args"][server["args"].index("--service-url") + 1]
key = server["env"]["CANOPY_API_KEY"]

def asked(route, **headers):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    body = None if "Content-Type" not in headers else json.dumps({"path": "/"}).encode()
    try:
        with opener.open(urllib.request.Request(url + route, body, headers)) as answer:
            return answer.status
    except urllib.error.HTTPError as refused:
        return refused.code

def queried(**variables):
    call = {"name": "canopy_query", "arguments": {"symbol": "authenticate"}}
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
    command, env = [server["command"], *server["args"]], {**server["env"], **variables}
    return subprocess.run(command, env=env, input=line + "\\n", capture_output=True, text=True)

def open_to_all():
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            yield place.read_bytes()
        except OSError:
            pass

own = {"X-Api-Key": key}
seen = {
    "key": key,
    "private": (Path(sys.argv[1], "mcp.json").stat().st_mode & 0o077) == 0,
    "in the environment of the agent": key in os.environ.values(),
    "on a command line": any(key.encode() in words for words in open_to_all()),
    "without": [asked(route) for route in ("/status", "/metrics", "/repos")],
    "with": [asked(route, **own) for route in ("/status", "/metrics", "/repos")],
    "other folder": asked("/repos/add", **own, **{"Content-Type": "application/json"}),
    "tool": queried().stdout,
    "tool without": queried(CANOPY_API_KEY="wrong").stdout,
}
Path(__file__).with_name("seen.json").write_text(json.dumps(seen))
forms = f"{key} {base64.b64encode(key.encode()).decode()}\\n".encode()
os.write(1, forms)
os.write(2, forms)
os.execv(sys.argv[2], sys.argv[2:])
"""


def test_the_key_of_a_session_opens_its_service_and_is_in_no_file(
    bench: Bench, golden: Sentences
) -> None:
    script = [{"steps": [{"init": {"tools": ["Read"]}}, {"answer": {"text": "done"}}]}]
    (bench.folder / "script.yaml").write_text(yaml.safe_dump(script))
    (bench.folder / "agent.py").write_text(AGENT)
    (bench.folder / "nosy.py").write_text(NOSY)
    done = bench.call(
        "compare", "--repo", str(bench.repo), "--modes", "canopy-service", "--agents", "1",
        "--runs", "1", "--agent", "agent:Nosy", "--model", "script.yaml", "--output", "out",
        "--record",
    )  # fmt: skip
    assert done.code in (0, 3), done.err
    seen = json.loads((bench.folder / "seen.json").read_text())
    (bench.folder / "seen.json").unlink()
    assert seen["without"] == [401, 401, 401]
    assert seen["with"] == [200, 200, 200]
    assert seen["other folder"] == 403
    assert "shop/auth.py" in seen["tool"]
    golden(seen["tool without"])
    assert seen["private"]
    assert not seen["in the environment of the agent"]
    assert not seen["on a command line"]

    key = seen["key"].encode()
    stream = (bench.folder / "out" / "canopy-service" / "agent-1.stream.jsonl").read_bytes()
    assert b"(not stored)" in stream
    written = [path.read_bytes() for path in bench.folder.rglob("*") if path.is_file()]
    shown = [*written, done.out.encode(), done.err.encode()]
    assert not [data for data in shown if key in data or base64.b64encode(key)[:-4] in data]

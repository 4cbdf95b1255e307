"""`swarm-bench datasets fetch`, and what is left when it is killed."""

import hashlib
import json
import subprocess
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from signal import Signals

import psutil
import pytest

from tests.builders.golden import Sentences
from tests.builders.https import body, serving
from tests.builders.repositories import commit, start
from tests.e2e.conftest import COMMAND, Bench

ROWS = "".join(
    json.dumps({"idx": str(number), "func": "int f;", "target": str(number % 2)}) + "\n"
    for number in range(20)
).encode()
HASH = hashlib.sha256(ROWS).hexdigest()


def slow(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    for at in range(0, len(ROWS), 200):
        handler.wfile.write(ROWS[at : at + 200])
        time.sleep(0.4)


def silent(handler: BaseHTTPRequestHandler) -> None:
    time.sleep(20)


def cache(bench: Bench) -> Path:
    return bench.folder / ".cache" / "swarm-bench" / "datasets"


def test_a_fetched_set_is_run_and_a_killed_fetch_leaves_none(
    bench: Bench, tmp_path: Path, golden: Sentences
) -> None:
    with serving(tmp_path, {"/slow": slow, "/rows": body(ROWS)}) as server:
        own = {"SSL_CERT_FILE": str(server.certificate)}
        words = ("datasets", "fetch", "--sha256", HASH, "--name", "rows")
        killed = subprocess.Popen(
            [COMMAND, *words, f"{server.address}/slow/rows.jsonl"],
            cwd=bench.folder,
            env=bench.environment(own),
            stderr=subprocess.PIPE,
        )
        assert killed.stderr is not None
        told = killed.stderr.readline()  # after a second
        killed.kill()
        killed.communicate()
        assert b"/slow/rows.jsonl: 0.0 MB" in told
        (part,) = cache(bench).iterdir()
        assert part.name.startswith(".rows.")
        assert "fetched:rows" not in bench.call("datasets").out
        labels = ("run", "labels", "--dataset", "fetched:rows", "--models", "reference", "--quiet")
        refused = bench.call(*labels)
        assert refused.code == 2
        golden(refused.err)
        done = bench.call(*words, f"{server.address}/rows.jsonl", env=own)
        assert (done.code, done.err) == (0, "")
        golden(done.out)
    assert [it.name for it in cache(bench).iterdir()] == ["rows"]
    assert "fetched:rows" in bench.call("datasets").out
    ran = bench.call(*labels, "--output", "out")
    assert ran.code == 0, ran.err
    data = bench.experiment("out")["data"]
    assert (data["name"], data["sha256"]) == ("fetched:rows", HASH)
    more = bench.call("run", "labels", "--continue", "out", "--models", "empty", "--quiet")
    assert (more.code, len(bench.records("out"))) == (0, 40), more.err


@pytest.mark.parametrize("signal", [Signals.SIGINT, Signals.SIGTERM])
def test_who_is_interrupted_leaves_nothing(bench: Bench, tmp_path: Path, signal: Signals) -> None:
    with serving(tmp_path, {"/slow": slow, "/silent": silent}) as server:
        entry = {"repo": f"{server.address}/silent/shop", "commit": "a" * 40, "include": ["src/*"]}
        list_file = bench.folder / "list.json"
        list_file.write_text(json.dumps({"title": "eval", "content": [entry]}))
        for words in ([f"{server.address}/slow/rows.jsonl", "--sha256", HASH], ["list.json"]):
            process = subprocess.Popen(
                [COMMAND, "datasets", "fetch", *words],
                cwd=bench.folder,
                env=bench.environment({"SSL_CERT_FILE": str(server.certificate)}),
                stderr=subprocess.PIPE,
            )
            assert process.stderr is not None
            assert b"MB" in process.stderr.readline()  # after a second
            process.send_signal(signal)
            _, rest = process.communicate()
            assert (process.returncode, b"Traceback" in rest) == (130, False)
            assert list(cache(bench).iterdir()) == []
    running = [process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])]
    assert not any(entry["repo"] in words for words in running)


def test_repositories_become_cases_of_completion(bench: Bench, tmp_path: Path) -> None:
    text = "contract A {\n" + "".join(f"    uint a{it} = {it};\n" for it in range(20)) + "}\n"
    whole = commit(start(tmp_path / "shop"), "one", {"src/A.sol": text})
    entry = {"repo": f"file://{tmp_path}/shop", "commit": whole, "include": ["src/*"]}
    (bench.folder / "list.json").write_text(json.dumps({"title": "eval", "content": [entry]}))
    done = bench.call("datasets", "fetch", "list.json")
    assert done.code == 0, done.err
    verified = bench.call("datasets", "verify", "fetched:eval", "--benchmark", "completion")
    assert (verified.code, verified.out.split(",")[0]) == (0, "1 row"), verified.out
    page = bench.call("datasets", "show", "fetched:eval", "--benchmark", "completion").out
    assert whole in page
    words = ("run", "completion", "--dataset", "fetched:eval", "--models", "reference", "--quiet")
    ran = bench.call(*words, "--output", "out")
    assert ran.code == 0, ran.err
    (cache(bench) / "eval" / "files" / "shop" / "src" / "A.sol").write_text("contract B {}\n")
    changed = bench.call("datasets", "verify", "fetched:eval", "--benchmark", "completion")
    assert (changed.code, "1 fault" in changed.out) == (1, True), changed.out

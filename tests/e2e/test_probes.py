"""Probes of one's own: the example of docs/extending/probe.md, in real sessions."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.testing.contracts import check_probe
from tests.builders.golden import Sentences
from tests.builders.packages import block, install_example
from tests.e2e.conftest import Bench

PROBE = "my_probe:MyToolProbe"
SERVER = """
import os
import sys
from pathlib import Path
from swarm_bench.testing import indexed_mcp

search = indexed_mcp.search

def counted(query):
    Path(".my-tool").mkdir(exist_ok=True)
    with open(".my-tool/searches.txt", "a") as file:
        file.write(f"{query!r}\\n" * int(sys.argv[1]))
    return search(query)

indexed_mcp.search = counted
indexed_mcp.INDEX = Path(".indexed") / f"{os.getpid()}.json"  # two agents build one at once
indexed_mcp.build()
indexed_mcp.serve()
"""


@pytest.mark.anyio
async def test_the_example_keeps_the_contract_of_its_role(tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    exec(block("probe", "python"), names)
    await check_probe(names["MyToolProbe"](), tmp_path)


def lay(bench: Bench, *, times: int = 1, folder: str = ".") -> str:
    """The example as its page has it, with a server that writes so many lines for a search."""
    (bench.folder / "my_probe.py").write_text(block("probe", "python"), encoding="utf-8")
    (bench.folder / "server.py").write_text(SERVER, encoding="utf-8")
    mode = json.loads(block("probe", "json"))
    server = {"command": sys.executable, "args": [str(bench.folder / "server.py"), str(times)]}
    mode["mcpServers"]["mine"] = server
    path = bench.folder / folder / "mine.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(mode), encoding="utf-8")
    return f"./{folder}/mine.json"


def swarms(bench: Bench) -> dict[str, dict[str, Any]]:
    lines = (bench.folder / "out" / "retrieval.jsonl").read_text().splitlines()
    return {record["mode"]: record for record in map(json.loads, lines)}


def compare(bench: Bench, mode: str, *more: str) -> tuple[int, str, str]:
    words = ["--modes", "baseline", mode, "--agents", "2", "--runs", "1", "--output", "out"]
    done = bench.call("compare", "--repo", str(bench.repo), *words, *more)
    return done.code, done.out, done.err


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_probe_of_ones_own_is_read_compared_and_reported_without_its_code(bench: Bench) -> None:
    code, out, err = compare(bench, lay(bench))
    assert code == 0, out + err
    mine, baseline = swarms(bench)["mine"], swarms(bench)["baseline"]
    searches = mine["difference"][PROBE]["searches"]
    assert (mine["before"][PROBE], mine["after"][PROBE]) == (None, {"searches": searches})
    assert searches > 0
    assert (mine["counters"], mine["counters_why"]) == ("agree", [])
    assert baseline["before"][PROBE] is baseline["after"][PROBE] is None
    assert (baseline["counters"], baseline["difference"][PROBE]) == ("agree", None)
    assert {record["retrieval"] for record in bench.records("out")} == {"used", "not-given"}
    (file,) = (bench.folder / "out").glob("mine/my-tool-metrics*.json")
    written = {"mode": "mine", "path": ".my-tool/searches.txt", "searches": searches}
    assert json.loads(file.read_text()) == written
    assert list(bench.experiment("out")["counters"]) == [PROBE]
    summary = (bench.folder / "out" / "summary.md").read_text(encoding="utf-8")
    (bench.folder / "my_probe.py").write_text("raise KeyboardInterrupt('loaded')", encoding="utf-8")
    assert bench.call("report", "out").code == 0
    assert (bench.folder / "out" / "summary.md").read_text(encoding="utf-8") == summary


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_package_registers_a_probe_by_name(bench: Bench) -> None:
    path = bench.folder / lay(bench)
    path.write_text(path.read_text().replace(PROBE, "my-tool"), encoding="utf-8")
    packages = bench.folder / "packages"
    (bench.folder / "my_probe.py").unlink()
    install_example("probe", "my_probe", packages)
    words = ["--modes", str(path), "--agents", "1", "--runs", "1", "--output", "out"]
    env = {"PYTHONPATH": str(packages)}
    done = bench.call("compare", "--repo", str(bench.repo), *words, env=env)
    assert done.code == 0, done.err
    mine = swarms(bench)["mine"]
    assert mine["difference"]["my-tool"]["searches"] > 0
    assert mine["counters"] == "agree"


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_probe_that_fails_has_counted_nothing_and_contradicts_nobody(bench: Bench) -> None:
    mode = lay(bench)
    with (bench.folder / "my_probe.py").open("a") as file:
        file.write('\n    async def snapshot(self, context):\n        raise OSError("no disk")\n')
    code, out, err = compare(bench, mode)
    assert code == 0, out + err
    assert "OSError: no disk" in err
    mine, baseline = swarms(bench)["mine"], swarms(bench)["baseline"]
    assert (mine["counters"], baseline["counters"]) == (None, "agree")  # canopy's have a say there
    for swarm in (mine, baseline):
        assert "could not be read" in swarm["counters_why"][0]
    assert {record["retrieval"] for record in bench.records("out")} == {"used", "not-given"}


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_tool_that_counts_what_nobody_asked_contradicts(bench: Bench, golden: Sentences) -> None:
    code, out, err = compare(bench, lay(bench, times=3))
    assert code == 0, out + err
    mine = swarms(bench)["mine"]
    assert mine["counters"] == "contradict"
    golden(mine["counters_why"][0])


def test_a_plan_shows_a_probe_and_loads_none_of_it(bench: Bench) -> None:
    mode = lay(bench)
    (bench.folder / "my_probe.py").write_text("raise KeyboardInterrupt('loaded')", encoding="utf-8")
    code, out, err = compare(bench, mode, "--plan")
    assert code == 0, out + err
    assert f"the probe {PROBE}" in out


def test_a_settings_file_that_leads_to_a_probe_asks(bench: Bench) -> None:
    lay(bench, folder="mcp_configs")
    (bench.folder / "my_probe.py").write_text("raise KeyboardInterrupt('loaded')", encoding="utf-8")
    settings = 'modes = ["baseline", "mine"]\n'
    (bench.folder / "swarm-bench.toml").write_text(settings, encoding="utf-8")
    done = bench.call("compare", "--repo", str(bench.repo), "--output", "out")
    assert (done.code, f"the probe {PROBE}" in done.err) == (2, True), done.err


@pytest.mark.parametrize(
    ("probe", "sentence"),
    [
        ("feedbak", "There is no probe called 'feedbak'; did you mean 'feedback'?"),
        ("../own", "must be the name of a probe, or module:Class"),
        ("pathlib:Path", "'pathlib:Path' is no probe: it needs all that the role in"),
        ("my_probe:Nothing", "cannot be loaded as one of the probes"),
    ],
)
def test_what_is_no_probe_is_refused_in_a_sentence(bench: Bench, probe: str, sentence: str) -> None:
    path = bench.folder / lay(bench)
    path.write_text(path.read_text().replace(PROBE, probe), encoding="utf-8")
    code, _, err = compare(bench, str(path))
    assert (code, sentence in err) == (2, True), err

"""Controls: what an agent is told and not given, and an index that is there before the agents."""

import json
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.text.tokens import count
from tests.builders.golden import Sentences
from tests.e2e.conftest import Bench

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

ARM = "canopy-instructions"


def compare(bench: Bench, *arguments: str, output: str = "out") -> None:
    done = bench.call(
        "compare", "--repo", str(bench.repo), "--agents", "1", "--runs", "1",
        "--output", output, *arguments,
    )  # fmt: skip
    assert done.code == 0, done.err


def swarms(bench: Bench, session: str = "out") -> dict[str, dict[str, Any]]:
    lines = (bench.folder / session / "retrieval.jsonl").read_text().splitlines()
    return {record["mode"]: record for record in map(json.loads, lines)}


def test_instructions_alone_change_nothing_but_tokens_for_fixed_rules(bench: Bench) -> None:
    compare(bench, "--modes", "baseline", "canopy", "canopy-service", "--controls")
    modes = {mode["name"]: mode for mode in bench.experiment("out")["modes"]}
    assert list(modes) == ["baseline", "canopy", ARM, "canopy-service"]
    assert modes[ARM]["control_of"] == ["canopy", "canopy-service"]
    by = {record["mode"]: record for record in bench.records("out")}
    told = count(modes[ARM]["instructions"] + "\n\n")
    baseline, arm = by["baseline"], by[ARM]
    same = ("tool_calls", "tool_failures", "num_turns", "output_tokens", "references")
    assert {key: arm[key] for key in same} == {key: baseline[key] for key in same}
    assert (arm["retrieval"], arm["backend"], arm["mcp_calls"]) == ("not-given", None, 0)
    more = arm["effective_tokens"] - baseline["effective_tokens"]
    turns = baseline["num_turns"]
    assert (told - 1) * turns <= more <= (told + 1) * turns  # every request has them once
    assert swarms(bench)[ARM]["index_seconds"] is None


def test_arms_are_added_to_a_session_as_modes_are(bench: Bench) -> None:
    compare(bench, "--modes", "baseline", "canopy")
    before = bench.records("out")
    go_on = ("compare", "--continue", "out", "--repo", str(bench.repo))
    plan = bench.call(*go_on, "--controls", "--plan")
    assert (plan.code, plan.out.count(f"\n    1  {ARM} ")) == (0, 1), plan.out
    assert bench.call(*go_on, "--controls").code == 0
    after = bench.records("out")
    assert after[: len(before)] == before
    assert [record["mode"] for record in after[len(before) :]] == [ARM]
    done = bench.call(*go_on, "--modes", "canopy-service")  # its arm is there already
    assert done.code == 0, done.err
    arm = next(mode for mode in bench.experiment("out")["modes"] if mode["name"] == ARM)
    assert arm["control_of"] == ["canopy", "canopy-service"]
    assert {record["mode"] for record in bench.records("out")[len(after) :]} == {"canopy-service"}


def test_a_warm_index_is_built_before_the_counters_and_the_agents(
    bench: Bench, golden: Sentences
) -> None:
    compare(bench, "--modes", "canopy", "canopy-service", "--index", "warm", "--keep-workspaces")
    found = swarms(bench)
    assert found["canopy"]["index_seconds"] > 0
    assert found["canopy-service"]["index_seconds"] > 0
    assert found["canopy"]["difference"]["feedback"]["query_events"] > 0
    assert {record["retrieval"] for record in bench.records("out")} == {"used"}
    for errors in (bench.folder / "out" / "canopy").glob("agent-*.stderr.log"):
        assert "indexing" not in errors.read_text()  # the agents' servers found it
    refused = bench.call("compare", "--continue", "out", "--index", "cold")
    assert refused.code == 2
    golden(refused.err)


def test_an_index_that_cannot_be_built_is_a_failure_of_ours(bench: Bench) -> None:
    mode = json.loads(_shipped("canopy"))
    mode["swarmBench"]["prepare"]["arguments"] = {"glob": "["}
    (bench.folder / "mine.json").write_text(json.dumps(mode))
    done = bench.call(
        "compare", "--repo", str(bench.repo), "--modes", "./mine.json", "--index", "warm",
        "--agents", "1", "--runs", "1", "--output", "out",
    )  # fmt: skip
    assert done.code == 3
    (record,) = bench.records("out")
    assert (record["cause"], record["wall_seconds"]) == ("index-failed", None)
    assert "has an open bracket" in record["detail"]


@pytest.mark.parametrize(
    ("option", "words"),
    [(("--controls",), "no mode has a tool"), (("--index", "warm"), "no mode says how")],
)
def test_controls_without_a_tool_are_refused(
    bench: Bench, option: tuple[str, ...], words: str
) -> None:
    done = bench.call("compare", "--repo", str(bench.repo), "--modes", "baseline", *option)
    assert (done.code, words in done.err) == (2, True)


def _shipped(name: str) -> str:
    return (Path(__file__).parents[2] / "mcp_configs" / f"{name}.json").read_text()

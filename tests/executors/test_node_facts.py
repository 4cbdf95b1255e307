"""What is said of a node, from its facts."""

import platform
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from swarm_bench.core.entry_points import own_version
from swarm_bench.core.listing import State
from swarm_bench.core.roles.executor import Needs
from swarm_bench.executors.node_facts import build_node_check, collect_facts, find_fault
from tests.builders.golden import Sentences

NEEDS = Needs(
    programs=("git",),
    keys=(("ONE_KEY", "OTHER_KEY"),),
    memory_mb=4000,
    disk_mb=100,
    agents=("scout",),
    optional_programs=("bwrap",),
    optional_keys=("ONE_KEY", "OTHER_KEY"),
)
FACTS: Mapping[str, Any] = {
    "version": own_version(), "python": platform.python_version(), "machine": {},
    "programs": {"git": "/usr/bin/git", "bwrap": None}, "keys": ["OTHER_KEY"],
    "memory_mb": 8000, "disk_mb": 5000, "agents": {"scout": "scout 1.0"}, "agent_faults": {},
    "authentication": "token",
}  # fmt: skip
FAULTS: Mapping[str, Mapping[str, Any]] = {
    "version": {"version": "0.0.1"},
    "python": {"python": "3.99.0"},
    "authentication": {"authentication": "none"},
    "git": {"programs": {"git": None}},
    "key": {"keys": []},
    "memory": {"memory_mb": 1000},
    "disk": {"disk_mb": 50},
}


def test_a_node_that_has_all_has_no_fault() -> None:
    assert find_fault(FACTS, NEEDS) is None
    check = build_node_check("far", FACTS, NEEDS)
    assert (check.about, check.state, check.advice) == ("node far", State.OK, None)
    assert "scout 1.0, git, no bwrap, 8.4 GB of memory" in check.finding
    assert check.finding.endswith("keys: OTHER_KEY")


@pytest.mark.parametrize("word", ["memory_mb", "disk_mb"])
def test_a_need_that_nobody_knows_is_not_checked(word: str) -> None:
    facts = {**FACTS, word: -1}
    assert find_fault(facts, replace(NEEDS, memory_mb=0, disk_mb=0))
    assert find_fault(facts, replace(NEEDS, memory_mb=None, disk_mb=None)) is None


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_says_what_to_do(name: str) -> None:
    facts = {**FACTS, **FAULTS[name]}
    fault = find_fault(facts, NEEDS)
    assert fault
    assert "; " in fault
    check = build_node_check("far", facts, NEEDS)
    assert (check.state, check.advice) == (State.PROBLEM, f"it {fault}")


def test_all_faults_stand_on_the_line(golden: Sentences) -> None:
    facts = {**FACTS, "agents": {}, "agent_faults": {"scout": "The agent scout is gone"}}
    for name in ("git", "key", "memory", "disk"):
        facts |= FAULTS[name]
    golden(build_node_check("far", facts, NEEDS).advice or "")


def test_facts_are_those_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER_KEY", "hunter2")
    monkeypatch.delenv("ONE_KEY", raising=False)
    facts = collect_facts(NEEDS)
    assert facts["keys"] == ["OTHER_KEY"]
    assert facts["programs"]["git"]
    assert facts["agents"]["scout"].startswith("scout ")
    assert "hunter2" not in str(facts)
    faults = collect_facts(Needs(agents=("no-such-agent",)))["agent_faults"]
    assert "no-such-agent" in faults["no-such-agent"]


def test_an_agent_that_cannot_run_is_a_fault() -> None:
    facts = {**FACTS, "agents": {}, "agent_faults": {"claude": "The program is not there"}}
    assert find_fault(facts, NEEDS) == "cannot run claude: The program is not there"

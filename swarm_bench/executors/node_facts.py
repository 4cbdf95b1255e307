"""What a machine has of what a session needs, collected there and judged before anything runs."""

import os
import platform
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any, TypedDict

import psutil

from swarm_bench.core import entry_points
from swarm_bench.core.entry_points import own_version
from swarm_bench.core.errors import SwarmBenchError
from swarm_bench.core.listing import Check, State
from swarm_bench.core.roles.executor import Needs
from swarm_bench.core.session.base import Machine
from swarm_bench.runtime import machine


class Facts(TypedDict, total=False):
    """As a node says them."""

    version: str
    """Version of swarm-bench."""
    python: str
    machine: Machine
    programs: dict[str, str | None]
    """Paths of programs that are needed, by name."""
    keys: list[str]
    """Names of variables that are set, of those that are asked for."""
    memory_mb: int
    """Memory that is available."""
    disk_mb: int
    """Room for clones and homes."""
    agents: dict[str, str]
    """Programs of agents, with their versions, by name."""
    agent_faults: dict[str, str]
    """Sentences on those that cannot run, likewise."""
    authentication: str
    """`token`, or `none`."""
    ray: str
    """Version of Ray, where that reaches it."""


def collect_facts(needs: Needs) -> Facts:
    """Return the facts of this machine."""
    names = [name for alternatives in needs.keys for name in alternatives]
    agents, agent_faults = _ask_agents(needs)
    return Facts(
        version=own_version(),
        python=platform.python_version(),
        machine=dict(machine.describe()),
        programs={name: shutil.which(name) for name in _list_programs(needs)},
        keys=[name for name in {*names, *needs.optional_keys} if os.environ.get(name)],
        agents=agents,
        agent_faults=agent_faults,
        memory_mb=psutil.virtual_memory().available >> 20,
        disk_mb=shutil.disk_usage(tempfile.gettempdir()).free >> 20,
    )


def _list_programs(needs: Needs) -> tuple[str, ...]:
    return (*needs.programs, *needs.optional_programs)


def _ask_agents(needs: Needs) -> tuple[dict[str, str], dict[str, str]]:
    """Return the programs of the agents that can run, and sentences on the others."""
    labels, faults = dict[str, str](), dict[str, str]()
    for name in needs.agents:
        try:
            labels[name] = entry_points.make("agents", name).program(None).label
        except SwarmBenchError as error:
            faults[name] = str(error)
    return labels, faults


def find_fault(facts: Mapping[str, Any], needs: Needs) -> str | None:
    """Return what a node lacks, as a clause after its name; `None` where it can run the session."""
    for fault in _iterate_faults(facts, needs):
        return fault
    for name, sentence in facts["agent_faults"].items():
        return f"cannot run {name}: {sentence}"
    return None


def build_node_check(name: str, facts: Mapping[str, Any], needs: Needs) -> Check:
    """Say what a node has, and what it lacks."""
    agents = [facts["agents"][agent] for agent in needs.agents if agent in facts["agents"]]
    programs = [
        program if facts["programs"].get(program) else f"no {program}"
        for program in _list_programs(needs)
    ]
    memory, disk = (facts[key] * (1 << 20) / 1e9 for key in ("memory_mb", "disk_mb"))
    parts = [
        f"swarm-bench {facts['version']}, Python {facts['python']}",
        *agents,
        *programs,
        f"{memory:.1f} GB of memory and {disk:.1f} GB of disk free",
        f"keys: {', '.join(sorted(facts['keys'])) or 'none'}",
    ]
    faults = [f"it {fault}" for fault in _iterate_faults(facts, needs)]
    faults += facts["agent_faults"].values()
    return Check(
        about=f"node {name}",
        state=State.PROBLEM if faults else State.OK,
        finding=", ".join(parts),
        advice="; ".join(faults) or None,
    )


def _iterate_faults(facts: Mapping[str, Any], needs: Needs) -> Iterator[str]:
    version, python = own_version(), platform.python_version()
    if facts["version"] != version:
        yield f"has swarm-bench {facts['version']}, and this machine {version}; install the same"
    if facts["python"] != python:
        yield f"has Python {facts['python']}, and this machine {python}; use the same"
    if facts["authentication"] != "token":
        yield (
            "takes commands of anybody who reaches it; start Ray with RAY_AUTH_MODE=token on every "
            "node"
        )
    yield from _iterate_missing(facts, needs)
    for word, needed in (("memory", needs.memory_mb), ("disk", needs.disk_mb)):
        if needed is not None and (free := facts[f"{word}_mb"]) < needed:
            yield (
                f"has {free:,} MB of {word} left, and needs {needed:,} MB; let fewer run at once "
                "with --concurrency, or make room"
            )


def _iterate_missing(facts: Mapping[str, Any], needs: Needs) -> Iterator[str]:
    for name in needs.programs:
        if not facts["programs"].get(name):
            yield f"has no {name} on its PATH; install it there"
    for alternatives in needs.keys:
        if not set(alternatives) & set(facts["keys"]):
            names = " or ".join(alternatives[:2])
            yield f"lacks the variable {names}; set it where Ray is started there"

"""What a machine has of what a session needs, collected there and judged before anything runs."""

import os
import platform
import shutil
import tempfile
from collections.abc import Mapping
from typing import Any, TypedDict

import psutil

from swarm_bench.core.entry_points import own_version
from swarm_bench.core.roles.executor import Needs
from swarm_bench.runtime import machine


class Facts(TypedDict, total=False):
    """As a node says them."""

    version: str
    """Version of swarm-bench."""
    python: str
    machine: dict[str, Any]
    programs: dict[str, str | None]
    """Paths of programs that are needed, by name."""
    keys: list[str]
    """Names of variables that are set, of those that are asked for."""
    memory_mb: int
    """Memory that is available."""
    disk_mb: int
    """Room for clones and homes."""
    authentication: str
    """`token`, or `none`."""


def collect_facts(needs: Needs) -> Facts:
    """Return the facts of this machine."""
    names = [name for alternatives in needs.keys for name in alternatives]
    return Facts(
        version=own_version(),
        python=platform.python_version(),
        machine=dict(machine.describe()),
        programs={name: shutil.which(name) for name in needs.programs},
        keys=[name for name in names if os.environ.get(name)],
        memory_mb=psutil.virtual_memory().available >> 20,
        disk_mb=shutil.disk_usage(tempfile.gettempdir()).free >> 20,
    )


def find_fault(facts: Mapping[str, Any], needs: Needs) -> str | None:
    """Return what a node lacks, as a clause after its name; `None` where it can run the session."""
    version, python = own_version(), platform.python_version()
    if facts["version"] != version:
        return f"has swarm-bench {facts['version']}, and this machine {version}; install the same"
    if facts["python"] != python:
        return f"has Python {facts['python']}, and this machine {python}; use the same"
    if facts["authentication"] != "token":
        return (
            "takes commands of anybody who reaches it; start Ray with RAY_AUTH_MODE=token on every "
            "node"
        )
    for name in needs.programs:
        if not facts["programs"].get(name):
            return f"has no {name} on its PATH; install it there"
    for alternatives in needs.keys:
        if not set(alternatives) & set(facts["keys"]):
            return f"has no key; set {' or '.join(alternatives)} where Ray is started there"
    for word, needed in (("memory", needs.memory_mb), ("disk", needs.disk_mb)):
        if (left := facts[f"{word}_mb"]) < needed:
            return (
                f"has {left:,} MB of {word} left, and needs {needed:,} MB; let fewer run at once "
                "with --concurrency, or make room"
            )
    return None

"""Everything that `doctor` looks at, in the order in which it prints."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio

from swarm_bench.app.doctor.machine import (
    check_disk,
    check_git,
    check_memory,
    check_python,
    check_ripgrep,
)
from swarm_bench.app.doctor.programs import check_programs, memory_of
from swarm_bench.core import settings as options
from swarm_bench.core.checks import Check


def examine(given: Mapping[str, Any], config: Path | None) -> Iterator[Check]:
    """Each check as soon as it is done. Raises `UsageError` and `ConfigError` for wrong options."""
    settings = options.load(given, config=config).settings
    yield check_python()
    yield anyio.run(check_git)
    yield check_ripgrep()
    yield check_disk(settings.workspace_root)
    at_once = settings.concurrency or settings.agents
    yield check_memory(at_once, settings.agent, memory_of(settings))
    yield from check_programs(settings)

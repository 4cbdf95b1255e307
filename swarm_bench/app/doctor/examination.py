"""Everything that `doctor` looks at, in the order in which it tells."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio

from swarm_bench.app.doctor.machine import (
    check_descriptors,
    check_disk,
    check_git,
    check_memory,
    check_python,
    check_ripgrep,
)
from swarm_bench.app.doctor.programs import check_programs, memory_of
from swarm_bench.app.doctor.tools import check_tools
from swarm_bench.core import settings as options
from swarm_bench.core.checks import Check, State
from swarm_bench.core.settings import Settings

Tell = Callable[[Check], None]


def examine(given: Mapping[str, Any], config: Path | None, tell: Tell) -> None:
    """Tell of each check as soon as it is done. Raises `UsageError` and `ConfigError` for options
    that cannot be."""
    anyio.run(_examine, options.load(given, config=config).settings, tell)


async def _examine(settings: Settings, tell: Tell) -> None:
    tell(check_python())
    tell(await check_git())
    tell(check_ripgrep())
    tell(check_disk(settings.workspace_root))
    at_once = settings.concurrency or max(settings.agents)
    tell(check_memory(at_once, settings.agent, memory_of(settings)))
    tell(check_descriptors(at_once))
    programs = list(check_programs(settings))
    for check in programs:
        if check.state is not State.ABSENT:
            tell(check)
    async for check in check_tools(settings):
        tell(check)
    for check in programs:  # last, so that what stands in the way is seen
        if check.state is State.ABSENT:
            tell(check)

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
    check_repository,
    check_sandbox,
    clone_bytes,
)
from swarm_bench.app.doctor.programs import check_agent, memory_of
from swarm_bench.app.doctor.servers import check_tools
from swarm_bench.app.doctor.unapproved import not_started, trusted_modes, without
from swarm_bench.app.setup.sizes import largest
from swarm_bench.app.trust.approval import approve, unapproved
from swarm_bench.config import settings as options
from swarm_bench.config.settings import Resolved
from swarm_bench.core.checks import Check
from swarm_bench.core.interruption import cancelling

Tell = Callable[[Check], None]
Doing = Callable[[str], None]


def examine(
    typed: Mapping[str, Any],
    config: Path | None,
    trust: bool,
    tell: Tell,
    environment: str | None,
    doing: Doing,
) -> None:
    """Tell of each check as soon as it is done, and what is looked at meanwhile. `environment` runs
    code of models. Raises `UsageError` and `ConfigError` for options that cannot be."""
    resolved = approve(options.load(typed, config=config), trust=trust, refuse=False)
    with cancelling():
        anyio.run(_examine, resolved, tell, environment, doing)


async def _examine(resolved: Resolved, tell: Tell, environment: str | None, doing: Doing) -> None:
    waiting = unapproved(resolved)
    settings = without(resolved.settings, waiting)
    tell(check_python())
    tell(await check_git())
    named = resolved.sources["repo"] != "default"
    doing(f"looking at {settings.repo.resolve()}")
    tell(await check_repository(settings.repo, settings.include, named=named))
    doing("running a program as one that a model wrote")
    tell(await check_sandbox(environment))
    tell(check_disk(settings.workspace_root, await clone_bytes(settings.repo)))
    at_once = settings.concurrency or largest(settings)
    tell(check_memory(at_once, settings.agent, memory_of(settings)))
    tell(check_descriptors(at_once))
    doing(f"asking {settings.agent} for its version")
    for check in check_agent(settings, resolved.environment):
        tell(check)
    for demand in waiting:
        tell(not_started(demand))
    async for check in check_tools(resolved, settings, trusted_modes(resolved), doing):
        tell(check)

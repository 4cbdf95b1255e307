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
    estimate_clone_bytes,
)
from swarm_bench.app.doctor.programs import check_agent, find_agent_memory
from swarm_bench.app.doctor.servers import check_tools
from swarm_bench.app.doctor.unapproved import (
    build_unstarted_check,
    create_mode_reader,
    drop_unapproved,
)
from swarm_bench.app.setup.sizes import find_largest_swarm
from swarm_bench.app.trust.approval import approve, list_unapproved
from swarm_bench.config import settings as options
from swarm_bench.config.settings import Resolved
from swarm_bench.core.checks import Check
from swarm_bench.core.interruption import cancelling

Tell = Callable[[Check], None]
TellStep = Callable[[str], None]


def examine(
    typed_options: Mapping[str, Any],
    config: Path | None,
    trust: bool,
    tell: Tell,
    environment: str | None,
    tell_step: TellStep,
) -> None:
    """Tell of each check as soon as it is done, and what is looked at meanwhile. `environment` runs
    code of models. Raises `UsageError` and `ConfigError` for options that cannot be."""
    resolved = approve(options.load(typed_options, config=config), trust=trust, refuse=False)
    with cancelling():
        anyio.run(_examine, resolved, tell, environment, tell_step)


async def _examine(
    resolved: Resolved, tell: Tell, environment: str | None, tell_step: TellStep
) -> None:
    pending = list_unapproved(resolved)
    settings = drop_unapproved(resolved.settings, pending)
    tell(check_python())
    tell(await check_git())
    is_named = resolved.sources["repo"] != "default"
    tell_step(f"looking at {settings.repo.resolve()}")
    tell(await check_repository(settings.repo, settings.include, is_named=is_named))
    tell_step("running a program as one that a model wrote")
    tell(await check_sandbox(environment))
    tell(check_disk(settings.workspace_root, await estimate_clone_bytes(settings.repo)))
    at_once = settings.concurrency or find_largest_swarm(settings)
    tell(check_memory(at_once, settings.agent, find_agent_memory(settings)))
    tell(check_descriptors(at_once))
    tell_step(f"asking {settings.agent} for its version")
    for check in check_agent(settings, resolved.environment):
        tell(check)
    for demand in pending:
        tell(build_unstarted_check(demand))
    async for check in check_tools(resolved, settings, create_mode_reader(resolved), tell_step):
        tell(check)

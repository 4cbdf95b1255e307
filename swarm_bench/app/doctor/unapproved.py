"""What `doctor` does not start: whatever a file asks for and nobody vouches for."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from swarm_bench.app.trust.approval import require
from swarm_bench.app.trust.demands import list_mode_demands
from swarm_bench.config.options import SCOPES, Settings
from swarm_bench.config.settings import Resolved
from swarm_bench.config.trust import Demand
from swarm_bench.core.checks import Check, State
from swarm_bench.core.session.experiment import Mode
from swarm_bench.retrieval.modes.mode import find_modes


def drop_unapproved(settings: Settings, demands: Sequence[Demand]) -> Settings:
    """Return the settings without what is asked for; other modes stay."""
    omitted = {demand.word for demand in demands if demand.option == "modes"}
    options = {demand.option for demand in demands} & SCOPES.keys()
    defaults = Settings()
    changes: dict[str, Any] = {name: getattr(defaults, name) for name in options}
    if "modes" in changes:
        changes["modes"] = [name for name in settings.modes if name not in omitted]
    return replace(settings, **changes)


def build_unstarted_check(demand: Demand) -> Check:
    """Name what was not started."""
    return Check(
        about=demand.option.replace("_", "-"),
        state=State.WARNING,
        finding=f"not started or used: {demand.sentence}",
        advice="look at it, then add --trust",
    )


def create_mode_reader(resolved: Resolved) -> Callable[[str], tuple[Mode, ...]]:
    """Return what reads a mode. It raises `UsageError` also for a mode that was changed since it
    was approved."""

    def find(name: str) -> tuple[Mode, ...]:
        modes = find_modes([name])
        require(resolved, list_mode_demands(resolved, modes))
        return modes

    return find

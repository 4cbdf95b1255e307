"""What `doctor` leaves alone: whatever a file asks to be started and nobody vouches for."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from swarm_bench.app.trust.approval import require
from swarm_bench.app.trust.demands import of_modes
from swarm_bench.config.options import NAMES, Settings
from swarm_bench.config.settings import Resolved
from swarm_bench.config.trust import Demand
from swarm_bench.core.checks import Check, State
from swarm_bench.core.session.experiment import Mode
from swarm_bench.retrieval.modes.mode import find_modes


def without(settings: Settings, waiting: Sequence[Demand]) -> Settings:
    """The settings as they are without what is asked for: other modes stay."""
    left_out = {demand.word for demand in waiting if demand.option == "modes"}
    options = {demand.option for demand in waiting} & set(NAMES)
    defaults = Settings()
    changes: dict[str, Any] = {name: getattr(defaults, name) for name in options}
    if "modes" in changes:
        changes["modes"] = [name for name in settings.modes if name not in left_out]
    return replace(settings, **changes)


def not_started(demand: Demand) -> Check:
    """The line that names what was left alone."""
    return Check(
        about=demand.option.replace("_", "-"),
        state=State.WARNING,
        finding=f"not started or used: {demand.sentence}",
        advice="look at it, then add --trust",
    )


def trusted_modes(resolved: Resolved) -> Callable[[str], tuple[Mode, ...]]:
    """Finds a mode by its word. Raises `UsageError` also for one that was changed since it was
    approved."""

    def find(word: str) -> tuple[Mode, ...]:
        found = find_modes([word])
        require(resolved, of_modes(resolved, found))
        return found

    return find

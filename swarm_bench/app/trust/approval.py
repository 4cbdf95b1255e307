"""Who vouches for what files ask to be started: the person, now or before. Without that nothing of
it is."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from swarm_bench.app.trust.demands import (
    is_agent_free,
    list_continued_demands,
    list_demands,
    list_session_demands,
    list_variable_demands,
    may_load,
    read_documented_variables,
)
from swarm_bench.benchmarks.agents.finding import find_agent, identify
from swarm_bench.config.layers import TRUST, Resolved
from swarm_bench.config.parsing import parse_yes_or_no
from swarm_bench.config.trust import Demand, build_refusal, find_unapproved, list_marks
from swarm_bench.core.errors import ConfigError, UsageError
from swarm_bench.core.events import Emit, WarningRaised
from swarm_bench.core.outcome import Activity, AgentExit, AgentRequest, Launch, Outcome
from swarm_bench.core.ports import Agent, Capabilities
from swarm_bench.core.session.experiment import Program
from swarm_bench.core.session.retrieving import AnyExperiment
from swarm_bench.runtime.trusted import TrustFile

Ask = Callable[[Sequence[Demand]], bool | None]
"""Function that asks the user; it returns `None` where there is no user to ask."""


def approve(
    resolved: Resolved, *, trust: bool = False, ask: Ask | None = None, refuse: bool = True
) -> Resolved:
    """Add to the options what may be started. `trust` is `--trust`; with `refuse` false, as for
    what only looks, the rest stays unapproved. Raises `UsageError` for what the user does not
    approve."""
    for _ in range(2):  # an agent says what variables it takes once it may be loaded
        complete, requested = may_load(resolved), list_demands(resolved)
        approved = resolved.approved | _read_remembered(requested)
        pending = find_unapproved(requested, approved)
        if pending and _is_approved(pending, trust, ask if refuse else None):
            approved |= list_marks(pending)
        elif pending and refuse:
            raise build_refusal(pending)
        resolved = replace(resolved, approved=approved)
        if complete:
            break
    return replace(resolved, from_dotenv=_select_dotenv(resolved))


def vouch(requested: Sequence[Demand], *, trust: bool = False, ask: Ask | None = None) -> None:
    """Refuse what the user has not approved, now or before. Raises `UsageError`."""
    pending = find_unapproved(requested, _read_remembered(requested))
    if pending and not _is_approved(pending, trust, ask):
        raise build_refusal(pending)


def is_vouched(requested: Sequence[Demand]) -> bool:
    """Tell whether the person vouches for all of it, here or before."""
    pending = find_unapproved(requested, _read_remembered(requested))
    return not pending or _is_approved(pending, trust=False, ask=None)


def list_unapproved(resolved: Resolved) -> list[Demand]:
    """List what is asked for and may not be started."""
    return find_unapproved(list_demands(resolved), resolved.approved)


def require(resolved: Resolved, requested: Sequence[Demand]) -> None:
    """Refuse what is not approved, such as a file that was changed since. Raises `UsageError`."""
    if pending := find_unapproved(requested, resolved.approved):
        raise build_refusal(pending)


def require_code(requested: Sequence[Demand], *, trust: bool) -> None:
    """Refuse to load code because a file or a session of another user names it. Raises
    `UsageError`."""
    pending = find_unapproved(requested, _read_remembered(requested))
    if pending and not _is_approved(pending, trust, None):
        code = "; ".join(demand.full_sentence for demand in pending)
        raise UsageError(
            f"No code was loaded, because you did not name it yourself: {code}; look at it, then "
            "add --trust"
        )


def remember_session(
    experiment: AnyExperiment, resolved: Resolved, emit: Emit, *, continued: bool
) -> None:
    """Note that this user has made the session, or extended one: it is continued without a
    question."""
    granted = list_session_demands(experiment, resolved, made_now=True)
    requested = list_continued_demands(resolved) if continued else []
    remember_demands(granted, emit, unless=requested)


def remember_demands(granted: Sequence[Demand], emit: Emit, unless: Sequence[Demand] = ()) -> None:
    """Note what a session of this user's asks for, unless it asks for what was not approved. Where
    that cannot be noted it will be asked about."""
    try:
        if not find_unapproved(unless, _read_remembered(granted)):
            _remember(granted)
    except ConfigError as error:
        emit(WarningRaised(message=f"{error}; --continue may ask whether to trust this session"))


def _is_approved(pending: Sequence[Demand], trust: bool, ask: Ask | None) -> bool:
    value = os.environ.get(TRUST, "")
    by_environment = parse_yes_or_no(value)
    if by_environment is None:
        raise UsageError(f"{TRUST} is {value!r}; set it to 1 or 0, or unset it")
    if by_environment:
        return True
    answer = trust or (ask is not None and ask(pending))
    if answer is False and ask is not None and not trust:
        raise UsageError("Nothing was started, since the answer was no; --plan shows what would be")
    if answer:
        _remember(pending)
    return bool(answer)


def _read_remembered(requested: Sequence[Demand]) -> frozenset[str]:
    if not requested:
        return frozenset()
    file = TrustFile()
    return frozenset().union(
        *(file.digests(key) for key in {_build_key(demand) for demand in requested})
    )


def _remember(requested: Sequence[Demand]) -> None:
    for key, of_key in groupby(sorted(requested, key=_build_key), _build_key):
        TrustFile().remember(key, list_marks(of_key))


def _build_key(demand: Demand) -> str:
    return f"session {demand.session}" if demand.session else f"folder {Path.cwd()}"


def _select_dotenv(resolved: Resolved) -> dict[str, str]:
    """Return what the agents get of the variables in `.env`."""
    if not may_load(resolved):
        return {}
    refused = {
        demand.option
        for demand in find_unapproved(list_variable_demands(resolved), resolved.approved)
    }
    return {
        name: value
        for name, value in read_documented_variables(resolved)[0].items()
        if name not in refused
    }


class WithheldAgent:
    """Stand-in for an agent whose code may not be loaded: it has a name and starts nothing."""

    capabilities = Capabilities()

    def __init__(self, spec: str) -> None:
        self.name = spec

    def launch(self, request: AgentRequest) -> Launch:
        """Start nothing: all of it but the name raises `NotImplementedError`."""
        raise NotImplementedError(self.name)

    def activity(self, line: bytes) -> Activity | None:
        raise NotImplementedError(self.name)

    def outcome(self, exit: AgentExit) -> Outcome:
        raise NotImplementedError(self.name)

    def program(self, model: str | None) -> Program:
        raise UsageError(f"The agent {self.name} was not loaded; add --trust")


def load_agent(resolved: Resolved) -> Agent:
    """Make the agent that the options name, or what stands for one that may not be loaded."""
    spec = resolved.settings.agent
    return find_agent(spec) if may_load(resolved) else WithheldAgent(spec)


def identify_program(agent: Agent, resolved: Resolved) -> Program:
    """Describe the agent's program. One that may not be started, as it would be for its version, is
    that of the session which is continued, or has a name only."""
    settings = resolved.settings
    if is_agent_free(resolved):
        return identify(agent, settings.agent, settings.model)
    return resolved.session.agent if resolved.session else Program(name=settings.agent)

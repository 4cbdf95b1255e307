"""What the files of the working folder, and sessions that are continued, ask to be started."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from swarm_bench.app.setup.agents import list_adapter_variables
from swarm_bench.app.trust.option_parts import (
    OF_OPTION,
    Makers,
    TrustedPart,
    describe_mode,
    describe_suite,
    find_agent_file,
    list_own_scorers,
    list_stored_parts,
)
from swarm_bench.config.compare_options import SCOPES
from swarm_bench.config.layers import Resolved
from swarm_bench.config.parsing import REPLAY, YAML
from swarm_bench.config.settings_file import FILE
from swarm_bench.config.shipped import MODES, SUITES
from swarm_bench.config.trust import Demand, digest_of, find_unapproved
from swarm_bench.core.session.base import Source
from swarm_bench.core.session.cases import CaseExperiment
from swarm_bench.core.session.experiment import Mode
from swarm_bench.core.session.retrieving import AnyExperiment
from swarm_bench.datasets import suites
from swarm_bench.retrieval.modes.secret_parts import redact_secret_parts

_KEYS = ("_KEY", "_KEY_ID", "_TOKEN")
"""Endings of the names of keys."""


def list_demands(resolved: Resolved) -> list[Demand]:
    """List what everything that this call reads asks for. Variables are missing while the agent is
    code that may not be loaded."""
    files = list_file_demands(OF_OPTION, resolved.settings, resolved.sources, resolved.config)
    requested = [*files, *list_continued_demands(resolved)]
    if may_load(resolved):
        requested += list_variable_demands(resolved)
    return list({demand.digest: demand for demand in requested}.values())


def is_agent_free(resolved: Resolved) -> bool:
    """Tell whether the agent may be started: the person named it, or vouched for what did."""
    agent = Makers(agent=OF_OPTION["agent"])
    requested = list(list_file_demands(agent, resolved.settings, resolved.sources, resolved.config))
    if resolved.sources["agent"] == "session":
        parts = [("agent", part) for part in OF_OPTION["agent"](resolved.settings.agent)]
        for session in resolved.continued:
            requested += build_demands(session.experiment, parts)
    return not find_unapproved(requested, resolved.approved)


def may_load(resolved: Resolved) -> bool:
    """Tell whether the agent may be made: one of a file, or a registered one, starts nothing by
    that."""
    return not _is_code(resolved.settings.agent) or is_agent_free(resolved)


def list_file_demands(
    makers: Makers, settings: object, sources: Mapping[str, Source], config: Path | None
) -> Iterator[Demand]:
    """Yield what the settings file and `.env` of the working folder ask for."""
    for option, parts in makers.items():
        if (origin := find_origin(option, sources, config)) is not None:
            for part in parts(getattr(settings, option)):
                yield build_demand(option, part, origin)


def list_mode_demands(resolved: Resolved, modes: Sequence[Mode]) -> list[Demand]:
    """List what modes ask for as they were read, which is what will run."""
    origin = find_origin("modes", resolved.sources, resolved.config)
    user_modes = (mode for mode in modes if not MODES.is_shipped(Path(mode.source)))
    return [
        build_demand("modes", describe_mode(mode), origin)
        for mode in user_modes
        if origin is not None
    ]


def list_suite_demands(resolved: Resolved, suite: suites.Suite) -> list[Demand]:
    """List what a task suite asks for as it was read."""
    origin = find_origin("tasks", resolved.sources, resolved.config)
    if origin is None or SUITES.is_shipped(Path(suite.source)):
        return []
    return [build_demand("tasks", describe_suite(suite), origin)]


def list_continued_demands(resolved: Resolved) -> list[Demand]:
    """List what the session or series asks for that is continued."""
    sessions: list[AnyExperiment] = [session.experiment for session in resolved.continued]
    sessions += [resolved.retrieve_session] if resolved.retrieve_session else []
    return [demand for session in sessions for demand in list_session_demands(session, resolved)]


def list_session_demands(
    experiment: AnyExperiment, resolved: Resolved, *, made_now: bool = False
) -> list[Demand]:
    """List what a stored session asks for when it is continued with these options; `made_now`: when
    it is, in a later call, from whatever folder."""
    settings = resolved.settings
    names = [variable.partition("=")[0] for variable in settings.agent_env]
    nameless = replace(settings, agent_env=names)
    options = [
        name
        for name in OF_OPTION
        if not (SCOPES[name].stored or SCOPES[name].of_call)
        and (made_now or resolved.sources[name] == "session")
    ]
    parts = [(name, part) for name in options for part in OF_OPTION[name](getattr(nameless, name))]
    if not settings.agent.startswith(REPLAY):  # which starts nothing of it
        parts += list_stored_parts(experiment, anywhere=made_now)
    return build_demands(experiment, parts)


def list_scorer_demands(experiment: AnyExperiment) -> list[Demand]:
    """List the scorers of a stored session that are code of the user's own."""
    if not list_own_scorers(experiment):
        return []
    parts = list_stored_parts(experiment, anywhere=True)
    return build_demands(experiment, [part for part in parts if part[0] == "tasks"])


def build_demands(
    experiment: AnyExperiment | CaseExperiment, parts: Iterable[tuple[str, TrustedPart]]
) -> list[Demand]:
    """List what a stored session asks for, by option."""
    return [
        Demand(
            option=option,
            word=part.word,
            what=part.description,
            origin=f"the session {experiment.session}",
            digest=digest_of("session", experiment.session, part.digest),
            session=experiment.session,
        )
        for option, part in parts
    ]


def list_variable_demands(resolved: Resolved) -> list[Demand]:
    """List variables in `.env` that the agent would get and that are no keys: addresses, proxies,
    paths."""
    variables, keys = read_documented_variables(resolved)
    return [
        Demand(
            option=name,
            word=name,
            what=f"the variable {redact_secret_parts([f'{name}={value}'])[0]} for the agents",
            origin=".env",
            digest=digest_of("variable", name, value, resolved.settings.agent),
        )
        for name, value in variables.items()
        if name not in keys and not name.endswith(_KEYS)
    ]


def read_documented_variables(resolved: Resolved) -> tuple[dict[str, str], frozenset[str]]:
    """Return variables in `.env` that the agent's adapter lets through and that are not set here,
    and the names that it documents as keys."""
    if not resolved.dotenv.raw or resolved.settings.agent.startswith(REPLAY):
        return {}, frozenset()
    inherited, keys = list_adapter_variables(resolved.settings)
    variables = {
        name: value
        for name, value in resolved.dotenv.raw.items()
        if name in inherited and name not in os.environ
    }
    return variables, keys


def find_origin(option: str, sources: Mapping[str, Source], config: Path | None) -> str | None:
    """Name the file of the working folder that sets an option; `None` for what the person typed, or
    whose file they named."""
    if sources[option] == "file":
        return str(FILE) if config is None else None
    return ".env" if sources[option] == ".env" else None


def build_demand(option: str, part: TrustedPart, origin: str) -> Demand:
    """Describe what a file of the working folder asks for."""
    return Demand(
        option=option, word=part.word, what=part.description, origin=origin, digest=part.digest
    )


def _is_code(spec: str) -> bool:
    """Tell whether the agent is a class of the user's own, which is imported to be asked."""
    file = find_agent_file(spec)
    return file is not None and not file.endswith(YAML)

"""Whether the agent program that was asked for is here, whether our adapter knows its version, and
whether a provider would authenticate it. No value of a key is looked at, and no log-in is read."""

import shutil
from collections.abc import Iterator, Mapping

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from swarm_bench.app.setup.credentials import find_authentication, suggest_credentials
from swarm_bench.benchmarks.agents.finding import find_agent
from swarm_bench.config.settings import Settings
from swarm_bench.core.checks import Check, State
from swarm_bench.core.errors import SwarmBenchError
from swarm_bench.core.ports import Abilities, Agent, Described
from swarm_bench.core.session.experiment import REHEARSAL, Program


def check_agent(settings: Settings, variables: Mapping[str, str]) -> Iterator[Check]:
    """Check the agent that was asked for, and what its own searches need. `variables` are those of
    the user."""
    subject = f"agent {settings.agent}"
    try:
        agent = find_agent(settings.agent)
        program = agent.program(settings.model)
    except SwarmBenchError as error:
        yield Check(about=subject, state=State.PROBLEM, finding=str(error))
        return
    abilities = _find_abilities(agent)
    if abilities is None:
        yield Check(about=subject, state=State.OK, finding=_describe_program(program))
        return
    yield _check_program(subject, program, abilities, settings, variables)
    if needed := abilities.searches_with:
        yield _check_needed(settings.agent, needed)


def _check_needed(agent: str, program: str) -> Check:
    if path := shutil.which(program):
        return Check(about=program, state=State.OK, finding=path)
    return Check(
        about=program,
        state=State.WARNING,
        finding=f"{program} is not on the PATH",
        advice=f"install it: searches of {agent} itself fail without it",
    )


def find_agent_memory(settings: Settings) -> int | None:
    """Return the megabytes that one agent of the kind asked for takes, as measured."""
    try:
        abilities = _find_abilities(find_agent(settings.agent))
    except SwarmBenchError:
        return None
    return abilities.memory_mb if abilities else None


def _check_program(
    subject: str,
    program: Program,
    abilities: Abilities,
    settings: Settings,
    variables: Mapping[str, str],
) -> Check:
    """Check its version, and its key or login."""
    version, advice = _describe_version(program, abilities)
    entry = find_authentication(abilities, settings, variables)
    finding = f"{version}; {entry or 'no key and no login'}"
    if settings.model == REHEARSAL:
        finding = f"{version}; a rehearsal needs no key"
    elif entry is None:
        state = State.WARNING if abilities.keyless else State.PROBLEM
        advice = suggest_credentials(abilities)
        return Check(about=subject, state=state, finding=finding, advice=advice)
    return Check(
        about=subject, state=State.WARNING if advice else State.OK, finding=finding, advice=advice
    )


def _describe_version(program: Program, abilities: Abilities) -> tuple[str, str | None]:
    """Say what is installed, and what to do if our adapter was not verified with the like of it."""
    label, tested = _describe_program(program), abilities.tested_version
    if program.version == tested:
        return f"{label}, which its adapter was verified with", None
    if abilities.supported is None or _fits(program.version, abilities.supported):
        return f"{label}; its adapter was verified with {tested}", None
    return (
        f"{label} is outside of {abilities.supported}; its adapter was verified with {tested}",
        f"rehearse first and look whether tokens and calls are plausible, or install {tested}",
    )


def _fits(version: str | None, supported: str) -> bool:
    try:
        return Version(version or "") in SpecifierSet(supported)
    except InvalidVersion:
        return False


def _find_abilities(agent: Agent) -> Abilities | None:
    return agent.abilities if isinstance(agent, Described) else None


def _describe_program(program: Program) -> str:
    return (
        f"{program.version or 'version unknown'} at {program.path}"
        if program.path
        else (program.version or "version unknown")
    )

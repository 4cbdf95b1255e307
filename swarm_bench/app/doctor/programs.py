"""Which agent programs are here, whether our adapters know their versions, and whether a provider
would let them in. No value of a key is looked at, and no log-in is read."""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from swarm_bench.app.setup.credentials import advice as no_credentials
from swarm_bench.app.setup.credentials import authentication
from swarm_bench.benchmarks.agents.finding import agent_names, find_agent, needs_argument
from swarm_bench.config.settings import Settings
from swarm_bench.core.checks import Check, State
from swarm_bench.core.errors import SwarmBenchError
from swarm_bench.core.ports import Abilities, Agent, Described
from swarm_bench.core.session.experiment import REHEARSAL, Program


def check_programs(settings: Settings, variables: Mapping[str, str]) -> Iterator[Check]:
    """Check the agent that was asked for, and every other that is registered. `variables` are
    those of the user."""
    names = [settings.agent, *(name for name in agent_names() if name != settings.agent)]
    plain = [name for name in names if name == settings.agent or not needs_argument(name)]
    with ThreadPoolExecutor() as threads:  # some programs take seconds to say their version
        yield from threads.map(lambda name: _check(name, settings, variables), plain)


def memory_of(settings: Settings) -> int | None:
    """Return the megabytes that one agent of the kind asked for takes, as measured."""
    try:
        abilities = _abilities(find_agent(settings.agent))
    except SwarmBenchError:
        return None
    return abilities.memory_mb if abilities else None


def _check(name: str, settings: Settings, variables: Mapping[str, str]) -> Check:
    asked = name == settings.agent
    about = f"agent {name}"
    model = settings.model if asked else None
    try:
        agent = find_agent(name)
        program = agent.program(model)
    except SwarmBenchError as error:
        state = State.PROBLEM if asked else State.ABSENT
        return Check(about=about, state=state, finding=str(error))
    abilities = _abilities(agent)
    if abilities is None:
        return Check(about=about, state=State.OK, finding=_label(program))
    entry = authentication(abilities, settings if asked else None, variables)
    return _check_program(about, program, abilities, settings if asked else None, entry)


def _check_program(
    about: str, program: Program, abilities: Abilities, asked: Settings | None, entry: str | None
) -> Check:
    """Check its version, and its key or login; `asked`: the options that ask for this agent."""
    version, advice = _version(program, abilities)
    finding = f"{version}; {entry or 'no key and no login'}"
    if asked and asked.model == REHEARSAL:
        finding = f"{version}; a rehearsal needs no key"
    elif entry is None and asked:
        state = State.WARNING if abilities.keyless else State.PROBLEM
        return Check(about=about, state=state, finding=finding, advice=no_credentials(abilities))
    return Check(
        about=about, state=State.WARNING if advice else State.OK, finding=finding, advice=advice
    )


def _version(program: Program, abilities: Abilities) -> tuple[str, str | None]:
    """Say what is installed, and what to do if our adapter was not verified with the like of it."""
    label, tested = _label(program), abilities.tested_version
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


def _abilities(agent: Agent) -> Abilities | None:
    return agent.abilities if isinstance(agent, Described) else None


def _label(program: Program) -> str:
    return (
        f"{program.version or 'version unknown'} at {program.path}"
        if program.path
        else (program.version or "version unknown")
    )

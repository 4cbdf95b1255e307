"""From the value of `--agent` to an agent: what the user gives it, how its program authenticates,
and whether its costs can be limited. No value of a key is looked at, and no login is read."""

import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from swarm_bench.app.notices import LOCAL_AGENT
from swarm_bench.benchmarks.agents.finding import find_agent, find_argument
from swarm_bench.config.layers import Resolved, Settings
from swarm_bench.core import entry_points
from swarm_bench.core.errors import SwarmBenchError, UsageError
from swarm_bench.core.listing import Listing
from swarm_bench.core.outcome import AgentRequest, Launch
from swarm_bench.core.ports import Abilities, Agent, Described
from swarm_bench.core.session.experiment import NOT_STORED, REHEARSAL, Mode, Program
from swarm_bench.core.session.prices import Prices, find_price
from swarm_bench.models.rehearsal.faults import parse_faults
from swarm_bench.retrieval.modes.mode import render_servers
from swarm_bench.retrieval.modes.variables import PLACEHOLDERS
from swarm_bench.retrieval.placebo.arm import PLACEBO
from swarm_bench.runtime.environment import home_folder
from swarm_bench.runtime.ownership import temporary


def find_authentication(
    abilities: Abilities, options: Settings | None, variables: Mapping[str, str]
) -> str | None:
    """Find what the program can authenticate with; `None` when there is nothing.

    `asked`: the options, when they ask for this agent; `variables` are the user's.
    """
    names = list_variable_names(options) if options else ()
    for name in abilities.keys:
        if variables.get(name) or name in names:
            return f"{name} is set"
    home = home_folder()
    login = next((file for file in abilities.login if home and (home / file).exists()), None)
    if login is None:
        return None
    if options is None or options.inherit_settings:
        return f"a login is in ~/{login}"
    return None  # agents have a home of their own


def suggest_credentials(abilities: Abilities) -> str:
    """Say what to do without any of it."""
    return f"set {' or '.join(abilities.keys[:2])}, or rehearse with --model rehearsal"


def check_credentials(agent: Agent, settings: Settings, variables: Mapping[str, str]) -> str | None:
    """Refuse what would fail in every trial; return a sentence where that cannot be decided here.

    Variables and arguments for the agent, its settings in the user's home and models that need no
    key can do as well. Raises `UsageError`.
    """
    if settings.model == REHEARSAL or not isinstance(agent, Described):
        return None
    abilities = agent.abilities
    if not abilities.keys or find_authentication(abilities, settings, variables):
        return None
    has_alternatives = settings.agent_env or settings.agent_arg or settings.inherit_settings
    if has_alternatives or abilities.keyless:
        return (
            f"no key for {settings.agent} was found, and whether it can authenticate without one "
            "is not known; the session stops at the first agent that fails to"
        )
    raise UsageError(
        f"The agent {settings.agent} has no key for its provider, and without --inherit-settings "
        f"it cannot use your login; {suggest_credentials(abilities)}, or see 'swarm-bench doctor'"
    )


def describe_credential_warning(agent: Agent, resolved: Resolved) -> str | None:
    """Warn in a plan that the session would be refused, or stopped, for want of a key; `None` when
    nothing speaks for that."""
    try:
        return check_credentials(agent, resolved.settings, resolved.environment)
    except UsageError as error:
        return f"it would be refused: {error}"


def is_paid(agent: Agent, settings: Settings) -> bool | None:
    """Tell whether the user is charged for what the agent does; `None` where that is unknown, as of
    an adapter that documents no keys."""
    if settings.model == REHEARSAL or settings.agent == LOCAL_AGENT:
        return False
    if isinstance(agent, Described) and agent.abilities.keys and not agent.abilities.keyless:
        return True
    return None


def check_until_clear(agent: Agent, settings: Settings, modes: int) -> None:
    """Refuse to continue until a verdict stands if none could, or if the cost has no limit. Raises
    `UsageError`."""
    if modes == 1:
        problem = "with one mode nothing is compared; give two modes, or omit it"
    elif settings.agents:
        problem = "every task has an agent of its own then, and --agents shares tasks out; omit one"
    elif settings.runs > 1:
        problem = "each task is run once, as more tasks say more than more runs; give --runs 1"
    elif settings.max_cost is None and is_paid(agent, settings) is not False:
        problem = (
            "nobody knows how many trials it takes, and each may be charged for; give --max-cost "
            "too"
        )
    else:
        return
    raise UsageError(f"--until-clear: {problem}")


def check_cost_limit(
    agent: Agent, program: Program, settings: Settings, prices: Prices
) -> str | None:
    """Refuse a limit of what an agent will not report and no table prices. Return a sentence where
    that cannot be decided here, or where a table decides: it may be that of a checkout. Raises
    `UsageError`."""
    if settings.max_cost is None:
        return None
    if is_paid(agent, settings) is False:
        subject = "a rehearsal" if settings.model == REHEARSAL else program.name
        return f"--max-cost has no effect: nobody is billed for {subject}"
    if not isinstance(agent, Described) or agent.abilities.cost:
        return None
    reports = f"{program.name} reports no cost"
    model = settings.model or program.model
    if model is None:
        return (
            f"--max-cost: {reports}, and which model answers is not known before it does; the "
            "session ends when no price table has it"
        )
    price = find_price(model, prices)
    if price is None:
        raise UsageError(
            f"--max-cost: {reports}, and no price table has the model {model}; add it to "
            "prices.toml (swarm-bench docs prices), or omit --max-cost"
        )
    return f"--max-cost: {reports}; the tokens of {model} are priced by {price.table}"


PROMPT = "{{ prompt }}"
"""Placeholder for the prompt where only the command line is looked at."""


def list_agents() -> list[Listing]:
    """List every registered agent, with its version or why it cannot be used."""
    with ThreadPoolExecutor() as threads:  # some programs take seconds to say their version
        return list(threads.map(_build_listing, entry_points.list_plugins("agents")))


def check(
    agent: Agent, modes: Sequence[Mode], settings: Settings, variables: Mapping[str, str]
) -> None:
    """Refuse what the agent cannot do in this experiment now, rather than in every trial.

    `variables` are the user's, with those of `--agent-env`. Raises `UsageError`.
    """
    if settings.fault and settings.model != REHEARSAL:
        raise UsageError("--fault is played by the rehearsal server; add --model rehearsal")
    parse_faults(settings.fault)
    for mode in modes:
        _try_launch(agent, mode, settings, variables)
    with_tool = [mode.name for mode in modes if mode.servers]
    if with_tool and not agent.capabilities.takes_mcp:
        raise UsageError(
            f"The agent {settings.agent!r} takes no MCP servers, and {', '.join(with_tool)} gives "
            "it some; omit the mode from --modes, or say in its file how it takes them"
        )


def list_adapter_variables(settings: Settings) -> tuple[frozenset[str], frozenset[str]]:
    """Name the variables that the agent's adapter lets through, and those that it documents as
    keys; none for an agent that cannot be made or launched."""
    try:
        agent = find_agent(settings.agent)
        launch = build_trial_launch(agent, Mode(name="none", source=""), settings, os.environ)
    except SwarmBenchError:
        return frozenset(), frozenset()
    keys = agent.abilities.keys if isinstance(agent, Described) else ()
    return frozenset(launch.inherit if launch else ()), frozenset(keys)


def build_trial_launch(
    agent: Agent, mode: Mode, settings: Settings, variables: Mapping[str, str]
) -> Launch | None:
    """Ask the adapter how the agent would be started in a mode, its folders and the prompt by name.

    `None` when the adapter fails. Raises `UsageError` for what it refuses.
    """
    with temporary() as folder:
        workspace, home = folder / "workspace", folder / "home"
        workspace.mkdir()
        home.mkdir()
        servers = render_servers(mode, dict.fromkeys((*PLACEHOLDERS, PLACEBO), "x"), variables)
        config = home / "mcp.json"
        config.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
        request = AgentRequest(
            prompt=PROMPT,
            workspace=workspace,
            home=home,
            mcp_config=config,
            max_turns=settings.max_turns,
            model=settings.model,
            seed=settings.seed,
            arguments=tuple(settings.agent_arg),
            inherit_settings=settings.inherit_settings,
            rehearsal="http://127.0.0.1:1" if settings.model == REHEARSAL else None,
        )
        try:
            launch = agent.launch(request)
        except UsageError:
            raise
        except (Exception, SystemExit):  # noqa: BLE001  # an adapter may raise anything
            return None
    names = {str(workspace): "{{ workspace }}", str(home): "{{ home }}"}
    return replace(launch, argv=tuple(_replace_paths(argument, names) for argument in launch.argv))


def _replace_paths(argument: str, names: Mapping[str, str]) -> str:
    for path, name in names.items():
        argument = argument.replace(path, name)
    return argument


def _try_launch(agent: Agent, mode: Mode, settings: Settings, variables: Mapping[str, str]) -> None:
    """Let the adapter refuse what its program cannot be started with. Whatever it raises besides a
    `UsageError` is recorded with the trial."""
    launch = build_trial_launch(agent, mode, settings, variables)
    if launch is None:
        return
    # In a rehearsal the adapter's variables are what leads to the server, and to no provider.
    rehearsed = settings.model == REHEARSAL
    fixed = set(launch.env) if rehearsed else {"HOME"} & set(launch.env)
    for name in fixed.intersection(list_variable_names(settings)):
        raise UsageError(
            f"--agent-env {name}: the adapter of {settings.agent} sets it itself"
            f"{' in a rehearsal' if rehearsed else ''}; omit it"
        )


def read_agent_environment(settings: Settings) -> dict[str, str]:
    """Read the variables that the user gives the agents: set, or let through by name.

    Raises `UsageError` for one that has no value here.
    """
    values = {}
    for variable in settings.agent_env:
        name, sets, value = variable.partition("=")
        if not sets and name not in os.environ:
            raise UsageError(f"--agent-env {name}: it is not set here; set it, or omit it")
        if value == NOT_STORED:
            raise UsageError(
                f"--agent-env {name}: its value was not stored with the session; give it again"
            )
        values[name] = value if sets else os.environ[name]
    return values


def list_variable_names(settings: Settings) -> tuple[str, ...]:
    """List the names of the variables that the user gives the agents; their values are secrets."""
    return tuple(sorted({variable.partition("=")[0] for variable in settings.agent_env}))


def _build_listing(plugin: entry_points.Plugin) -> Listing:
    listing = Listing(name=plugin.name, about="", source=plugin.distribution)
    try:
        factory = entry_points.load("agents", plugin.name)
        argument = find_argument(factory)
        if argument is not None:
            description = (factory.__doc__ or "").split("\n")[0]
            return replace(listing, name=f"{plugin.name}:{argument}", about=description)
        program = find_agent(plugin.name).program(None)
    except SwarmBenchError as error:
        return replace(listing, problem=str(error))
    tested = (
        f", tested with {program.tested}" if program.tested not in (None, program.version) else ""
    )
    version = program.version or "(version unknown)"
    return replace(listing, about=f"{program.name} {version}{tested}")

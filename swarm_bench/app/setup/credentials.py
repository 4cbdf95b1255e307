"""How an agent's program can authenticate with its provider, and whether a limit of what that costs
can be kept. No value of a key is looked at, and no login is read."""

from collections.abc import Mapping

from swarm_bench.app.notices import LOCAL_AGENT
from swarm_bench.app.setup.agents import list_variable_names
from swarm_bench.config.settings import Resolved, Settings
from swarm_bench.core.errors import UsageError
from swarm_bench.core.ports import Abilities, Agent, Described
from swarm_bench.core.session.experiment import REHEARSAL, Program
from swarm_bench.core.session.prices import Prices, find_price
from swarm_bench.runtime.environment import home_folder


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
    """Tell whether somebody is charged for what the agent does; `None` where that is unknown, as of
    an adapter that documents no keys."""
    if settings.model == REHEARSAL or settings.agent == LOCAL_AGENT:
        return False
    if isinstance(agent, Described) and agent.abilities.keys and not agent.abilities.keyless:
        return True
    return None


def check_until_clear(agent: Agent, settings: Settings, modes: int) -> None:
    """Refuse to go on until a verdict stands where there is none that could, or no limit of what
    somebody pays. Raises `UsageError`."""
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

"""Whether a limit of the cost can be kept: nobody can limit what nobody knows."""

from swarm_bench.config.settings import Settings
from swarm_bench.core.errors import UsageError
from swarm_bench.core.ports import Agent, Described
from swarm_bench.core.session.experiment import REHEARSAL, Program
from swarm_bench.core.session.prices import Prices, price_of


def check_cost_limit(
    agent: Agent, program: Program, settings: Settings, prices: Prices
) -> str | None:
    """Refuse a limit of what an agent will not report and no table prices. Return a sentence where
    that cannot be decided here, or where a table decides: it may be that of a checkout. Raises
    `UsageError`."""
    if settings.max_cost is None or not isinstance(agent, Described) or agent.abilities.cost:
        return None
    reports = f"{program.name} reports no cost"
    if settings.model == REHEARSAL:
        raise UsageError(f"--max-cost: {reports}, and a rehearsal costs nothing; omit it")
    model = settings.model or program.model
    if model is None:
        return (
            f"--max-cost: {reports}, and which model answers is not known before it does; the "
            "session ends when no price table has it"
        )
    price = price_of(model, prices)
    if price is None:
        raise UsageError(
            f"--max-cost: {reports}, and no price table has the model {model}; add it to "
            "prices.toml (docs/prices.md), or omit --max-cost"
        )
    return f"--max-cost: {reports}; the tokens of {model} are priced by {price.table}"

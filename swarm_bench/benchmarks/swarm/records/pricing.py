"""What a trial cost, where its agent does not know."""

from dataclasses import replace

from swarm_bench.core.outcome import Outcome, Usage
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.prices import price_of


def with_price(experiment: Experiment, outcome: Outcome) -> Outcome:
    """Price the tokens of an agent that gives no cost, gives our own estimate, or had no price of
    its model. What no table has stays as it is; in a rehearsal no model has a price."""
    reported = outcome.cost is not None and not outcome.cost_unreliable
    if experiment.rehearsal or (reported and not outcome.cost_estimated):
        return outcome
    price = price_of(outcome.model or experiment.model, experiment.prices or {})
    usage = _billed(outcome)
    stated = usage.can_be_of_text if outcome.text else any(vars(usage).values())
    cost = price.of(usage) if price and stated else None
    if price is None or cost is None:
        return outcome
    return replace(
        outcome, cost=cost, cost_estimated=True, cost_unreliable=None, price_table=price.table
    )


def _billed(outcome: Outcome) -> Usage:
    """Return the tokens with those of sub-agents and compactions, where they are known."""
    return outcome.usage if outcome.all_in.effective is None else outcome.all_in

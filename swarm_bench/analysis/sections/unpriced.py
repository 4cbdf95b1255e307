"""Tokens that nobody has a price of."""

from collections import Counter
from collections.abc import Iterator, Mapping

from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.wording import join, quantify
from swarm_bench.core.session.prices import find_price

_LONGEST = 50
"""Characters of the names of models in one line."""


def describe_unpriced(selection: Selection) -> Iterator[str]:
    """Say for which models a price is missing, and where it belongs."""
    agent = selection.data.experiment.agent.name
    for model, number in _count_models(selection).items():
        clause = f"The cost of {quantify(number, 'trial')} is missing"
        yield f"{clause}: {agent} reports none, and {_explain_missing_price(model)}."


def describe_unknown_cost(selection: Selection) -> Iterator[str]:
    """Say the same of all models in one line of a terminal."""
    models = _count_models(selection)
    if not models:
        return
    number = sum(models.values())
    share_text = "" if number == len(selection.trials) else f" of {quantify(number, 'trial')}"
    names = [model for model in models if model]
    names_text = join(names) if names else ""
    if len(names_text) > _LONGEST:
        names_text = "the model" if len(names) == 1 else f"these {len(names)} models"
    reason = f"no price table has {names_text}" if names else "nobody knows its model"
    yield f"The cost{share_text} is unknown: {reason} (swarm-bench docs prices)."


def _count_models(selection: Selection) -> Mapping[str | None, int]:
    """Count the trials of each model without a price. Sessions that stored no prices had none to
    look up."""
    experiment = selection.data.experiment
    if experiment.prices is None or selection.rehearsal:
        return {}
    prices = experiment.prices
    models = Counter(
        trial.model
        for trial in selection.trials
        if trial.cost is None and trial.effective_tokens is not None
    )
    return {model: number for model, number in models.items() if find_price(model, prices) is None}


def _explain_missing_price(model: str | None) -> str:
    if model is None:
        return "nobody knows its model; name it with --model"
    return (
        f"no price table has the model {model}; give it input, cache_write, cache_read and output "
        f'(dollars per million tokens) below ["{model}"] in prices.toml, for the trials to come'
    )

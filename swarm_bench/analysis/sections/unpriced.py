"""Tokens that nobody has a price of."""

from collections import Counter
from collections.abc import Iterator

from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.wording import amount
from swarm_bench.core.session.prices import price_of


def unpriced(selection: Selection) -> Iterator[str]:
    """Say for which models a price is missing, and where it belongs. Sessions that stored no prices
    had none to look up."""
    experiment = selection.data.experiment
    if experiment is None or experiment.prices is None or selection.rehearsal:
        return
    models = Counter(
        trial.model
        for trial in selection.trials
        if trial.cost is None and trial.effective_tokens is not None
    )
    for model, number in models.items():
        if price_of(model, experiment.prices) is None:
            yield (
                f"The cost of {amount(number, 'trial')} is missing: {experiment.agent.name} "
                f"reports none, and {_reason(model)}."
            )


def _reason(model: str | None) -> str:
    if model is None:
        return "nobody knows its model; name it with --model"
    return (
        f"no price table has the model {model}; give it input, cache_write, cache_read and output "
        f'(dollars per million tokens) below ["{model}"] in prices.toml, for the trials to come'
    )

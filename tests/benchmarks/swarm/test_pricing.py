"""Costs of agents that report tokens and no cost."""

from dataclasses import replace
from typing import Any

import pytest

from swarm_bench.benchmarks.swarm.trial_records import add_price
from swarm_bench.core.outcome import Outcome, Usage
from swarm_bench.core.session.prices import Price
from swarm_bench.core.status import Cause
from tests.builders.experiments import experiment

MILLION = 1_000_000
PRICES = {"gpt-9": Price(input=1, cache_write=2, cache_read=0.5, output=4, table="prices.toml")}
USAGE = Usage(input=MILLION, cache_create=0, cache_read=MILLION, output=MILLION)
TOKENS = Outcome(cause=Cause.FINISHED, usage=USAGE, model="gpt-9")


def priced(outcome: Outcome, **changes: Any) -> tuple[float | None, bool | None, str | None]:
    made = add_price(experiment(**{"prices": PRICES, **changes}), outcome)
    return made.cost, made.cost_estimated, made.price_table


def test_tokens_without_a_cost_are_priced_and_it_is_an_estimate() -> None:
    assert priced(TOKENS) == (5.5, True, "prices.toml")
    assert priced(replace(TOKENS, model=None), model="gpt-9-2026-01-01") == (
        5.5, True, "prices.toml"
    )  # fmt: skip


def test_sub_agents_and_compactions_are_priced_where_their_tokens_are_known() -> None:
    twice = Usage.total([USAGE, USAGE])
    assert priced(replace(TOKENS, all_in=twice))[0] == 11
    assert priced(replace(TOKENS, all_in=Usage(output=1)))[0] == 5.5


@pytest.mark.parametrize(
    "outcome",
    [
        replace(TOKENS, cost=3.0),
        replace(TOKENS, model="gpt-9-mini"),
        replace(TOKENS, model=None),
        replace(TOKENS, usage=replace(USAGE, cache_create=None)),
        replace(TOKENS, usage=Usage()),
        replace(TOKENS, text="An answer.", usage=replace(USAGE, output=0)),
        replace(TOKENS, text="An answer.", usage=replace(USAGE, input=0, cache_read=0)),
        replace(TOKENS, usage=replace(USAGE, input=-10 * MILLION)),
        replace(TOKENS, usage=Usage(input=0, cache_create=0, cache_read=0, output=0)),
    ],
)
def test_what_is_reported_stays_and_what_is_not_known_is_missing(outcome: Outcome) -> None:
    assert add_price(experiment(prices=PRICES), outcome) is outcome


def test_our_own_estimate_and_that_of_a_program_without_the_price_give_way() -> None:
    assert priced(replace(TOKENS, cost=1.0, cost_estimated=True, price_table="p"))[0] == 5.5
    assert priced(replace(TOKENS, cost=1.0, cost_unreliable=True))[0] == 5.5


def test_a_rehearsal_and_an_older_session_have_no_prices() -> None:
    assert priced(TOKENS, model="rehearsal") == (None, None, None)
    assert priced(TOKENS, prices=None) == (None, None, None)


def test_a_model_that_costs_nothing_costs_0() -> None:
    free = Price(input=0, cache_write=0, cache_read=0, output=0, table="prices.toml")
    assert priced(TOKENS, prices={"gpt-9": free})[0] == 0

"""Models that no price table has."""

from collections.abc import Callable
from typing import Any

from swarm_bench.core.session.records import SessionData, TrialRecord
from tests.builders.golden import Sentences
from tests.builders.reports import summarise

Trial = Callable[..., TrialRecord]
Session = Callable[..., SessionData]
PRICE = {"input": 1, "cache_write": 1, "cache_read": 1, "output": 1, "table": "prices.toml"}


def missing(data: SessionData) -> list[str]:
    return [
        warning
        for warning in summarise(data).warnings
        if warning.startswith("The cost of ") and " missing" in warning
    ]


def test_a_model_without_a_price_is_named_and_where_to_add_it(
    trial: Trial, session: Session, golden: Sentences
) -> None:
    unknown: dict[str, Any] = {"model": "gpt-9", "cost": None}
    data = session(trial(agent=1, **unknown), trial("canopy", **unknown), prices={"x": PRICE})
    (warning,) = missing(data)
    golden(warning)
    assert "the model gpt-9" in warning
    assert '["gpt-9"] in prices.toml' in warning


def test_a_model_that_nobody_knows_is_asked_for(trial: Trial, session: Session) -> None:
    (warning,) = missing(session(trial(model=None, cost=None), prices={}))
    assert "--model" in warning


def test_nothing_is_said_of_trials_without_tokens_nor_of_older_sessions(
    trial: Trial, session: Session
) -> None:
    unknown: dict[str, Any] = {"model": "gpt-9", "cost": None}
    assert missing(session(trial(**unknown), prices=None)) == []
    assert missing(session(trial(**unknown, effective_tokens=None), prices={})) == []
    assert missing(session(trial(**unknown), prices={"gpt-9": PRICE})) == []


def test_a_terminal_says_it_last_and_in_a_line(
    trial: Trial, session: Session, golden: Sentences
) -> None:
    unknown: dict[str, Any] = {"model": "gpt-9", "cost": None}
    data = session(trial(agent=1, **unknown), trial("canopy", **unknown), prices={"x": PRICE})
    *others, cost = summarise(data).gravest
    golden(cost)
    assert len(cost) <= 130
    assert not any("cost" in it for it in others)
    several = [trial(agent=at, model=f"{'m' * 60}-{at}", cost=None) for at in range(1, 4)]
    long = summarise(session(*several, prices={"x": PRICE})).gravest[-1]
    golden(long)
    assert len(long) <= 130


def test_where_the_verdicts_are_on_the_cost_it_is_a_warning_as_any_other(
    trial: Trial, session: Session
) -> None:
    unknown: dict[str, Any] = {"model": "gpt-9", "cost": None}
    settings = {"primary": {"value": "cost", "source": "command line"}}
    data = session(trial(agent=1, **unknown), prices={"x": PRICE}, settings=settings)
    report = summarise(data)
    assert missing(data)[0] in report.gravest

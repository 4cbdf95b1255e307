"""A limit of costs that nobody would report is refused."""

from dataclasses import replace
from typing import Any

import pytest

from swarm_bench.agents.claude.adapter import Claude
from swarm_bench.agents.codex.adapter import Codex
from swarm_bench.agents.scout.adapter import Scout
from swarm_bench.agents.scripted import Scripted
from swarm_bench.app.setup.agents import check_cost_limit, check_until_clear
from swarm_bench.benchmarks.agents.finding import find_agent
from swarm_bench.config.layers import Settings
from swarm_bench.core.errors import UsageError
from swarm_bench.core.ports import Agent
from swarm_bench.core.session.experiment import Program
from swarm_bench.core.session.prices import Price
from tests.builders.golden import Sentences

PRICE = Price(input=1, cache_write=1, cache_read=1, output=1, table="prices.toml")


def check(agent: Agent, program_model: str | None = None, **settings: Any) -> str | None:
    program = Program(name=agent.name, model=program_model)
    options = Settings(**{"max_cost": 5.0, "agent": agent.name, **settings})
    return check_cost_limit(agent, program, options, {"gpt-9": PRICE})


def test_agents_that_report_a_cost_or_do_not_say_are_taken() -> None:
    assert check(Claude()) is check(Scripted(), model="x") is None
    assert check(Codex(), max_cost=None) is None


def test_the_table_that_decides_is_named() -> None:
    for sentence in (check(Codex(), model="gpt-9-2026-01-01"), check(Codex(), "gpt-9")):
        assert "priced by prices.toml" in (sentence or "")


def test_what_nobody_can_price_is_refused() -> None:
    with pytest.raises(UsageError, match="no price table has the model gpt-8"):
        check(Codex(), model="gpt-8")


@pytest.mark.parametrize("agent", [Codex(), Claude(), Scout()], ids=lambda agent: agent.name)
def test_where_nobody_is_billed_a_limit_has_no_effect(agent: Agent) -> None:
    model = None if agent.name == "scout" else "rehearsal"
    assert "has no effect: nobody is billed" in (check(agent, model=model) or "")


def test_a_model_that_is_not_known_yet_is_warned_of(golden: Sentences) -> None:
    golden(check(Codex()) or "")


@pytest.mark.parametrize(
    ("agent", "settings"),
    [
        (Claude(), Settings(agent="claude")),
        (find_agent("opencode"), Settings(agent="opencode", model="openai/gpt-5")),
        (Scripted(), Settings(agent="scripted")),
    ],
    ids=["is charged for", "has models that need no key", "does not say"],
)
def test_until_clear_needs_a_limit_where_somebody_may_pay(
    golden: Sentences, agent: Agent, settings: Settings
) -> None:
    asked = replace(settings, runs=1, until_clear=True)
    with pytest.raises(UsageError) as refused:
        check_until_clear(agent, asked, modes=2)
    golden(str(refused.value))
    check_until_clear(agent, replace(asked, max_cost=5.0), modes=2)
    check_until_clear(agent, replace(asked, model="rehearsal"), modes=2)

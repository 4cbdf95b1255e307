"""What is said before there are any figures."""

import os
import re
from pathlib import Path

import pytest

from swarm_bench.app.notices import emit_notices, explain_waiting
from swarm_bench.app.setup.choosing import resolve_sizes
from swarm_bench.config.layers import load
from swarm_bench.core.events import Event, WarningRaised
from swarm_bench.core.session.designs import CALIBRATE, COMPARE
from swarm_bench.core.session.experiment import Program
from tests.builders.experiments import experiment
from tests.builders.golden import Sentences


def told(agent: str, concurrency: int) -> list[str]:
    made = experiment(agent=Program(name=agent), agents=concurrency, concurrency=concurrency)
    repository = made.repository.model_copy(update={"left_out": ("1 file is left out",)})
    heard: list[Event] = []
    emit_notices(made.model_copy(update={"repository": repository}), heard.append)
    assert explain_waiting(made) == [
        event.message for event in heard[1:] if isinstance(event, WarningRaised)
    ]
    return [event.message for event in heard if isinstance(event, WarningRaised)]


def test_agents_of_our_own_that_wait_for_each_other_are_said_and_what_is_left_out(
    golden: Sentences,
) -> None:
    processors = os.cpu_count() or 1
    left_out, shared = told("scout", processors + 1)
    assert left_out == "1 file is left out"
    assert re.findall(r"\d+", shared)[:2] == [f"{processors + 1}", f"{processors}"]
    golden(re.sub(r"\d+", "N", shared))
    assert told("scout", processors) == told("claude", processors + 1) == [left_out]


def test_what_runs_where_nobody_says_how_many_is_no_trouble(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for design in (COMPARE, CALIBRATE):
        usual = resolve_sizes(load({}), design, tasks=50).concurrency
        assert told("scout", usual) == ["1 file is left out"]

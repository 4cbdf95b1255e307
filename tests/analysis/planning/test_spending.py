"""What setting up a mode takes, and how large blocks must be for it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from swarm_bench.analysis.planning.spending import SetUp, describe_set_up, measure_set_up
from swarm_bench.benchmarks.swarm.run_plan import deal_blocks
from swarm_bench.core.session.records import SwarmRecord
from swarm_bench.core.treatment.mode_parts import Preparation
from tests.builders.experiments import experiment
from tests.builders.golden import Sentences
from tests.builders.sessions import make_swarm

STARTED = datetime(2026, 1, 2, tzinfo=UTC)
MODES = ["baseline", "canopy-service"]


def swarm(mode: str, seconds: float, **parts: Any) -> SwarmRecord:
    ended = STARTED + timedelta(seconds=seconds)
    values = {"agents": range(1, 5), "workspace_seconds": 1.0, "index_seconds": None, **parts}
    return make_swarm(mode, started_at=STARTED, ended_at=ended, **values)


def test_it_is_what_passes_before_the_agents_start() -> None:
    swarms = [
        swarm("baseline", 21.0),
        swarm("canopy-service", 30.0, service_seconds=2.0, index_seconds=7.0),
        swarm("canopy-service", 32.0, service_seconds=3.0, index_seconds=8.0),
        swarm("canopy-service", 99.0, service_seconds=3.0, index_seconds=8.0, failure="it broke"),
        swarm("canopy-service", 99.0, workspace_seconds=None),
    ]
    seen = measure_set_up("results/a", experiment(modes=MODES, concurrency=2), swarms)
    assert seen.preparation == {"baseline": 1.0, "canopy-service": 11.0}
    assert seen.trial == {"baseline": 10.0, "canopy-service": 10.0}, "two at a time"


def test_an_index_in_the_agents_time_or_copied_is_no_set_up() -> None:
    one = experiment()
    tool = {"servers": {"s": {"command": "s"}}, "prepare": Preparation(tool="build")}
    cold = one.model_copy(update={"modes": (one.modes[1].model_copy(update=tool),)})
    warm = cold.model_copy(update={"index": "warm"})
    copyable = {**tool, "prepare": Preparation(tool="build", copyable=True)}
    copied = warm.model_copy(update={"modes": (one.modes[1].model_copy(update=copyable),)})
    swarms = [swarm("canopy", 30.0, index_seconds=5.0)]
    seconds = [measure_set_up("a", it, swarms).preparation["canopy"] for it in (cold, warm, copied)]
    assert seconds == [1.0, 6.0, 1.0]


def test_a_block_is_so_large_that_setting_up_takes_a_tenth_of_it() -> None:
    seen = SetUp(
        folder="a",
        preparation={"baseline": 1.0, "canopy": 20.0},
        trial={"baseline": 30, "canopy": 60},
    )
    assert seen.find_least(["baseline", "canopy"], at_once=4) == pytest.approx(12)
    assert seen.find_least(["baseline", "other"], at_once=4) == pytest.approx(1.2), (
        "of the modes asked"
    )
    assert seen.compute_share("canopy", tasks=12, at_once=4) == pytest.approx(0.1)
    assert SetUp(folder="a", preparation={}, trial={}).find_least(["baseline"], at_once=4) == 0


def test_a_plan_says_what_is_known_of_it_and_what_is_not(golden: Sentences) -> None:
    tasks = [f"t{number}" for number in range(8)]
    one = deal_blocks(experiment(modes=MODES, all_tasks=True, tasks=tasks), None)
    seen = SetUp(folder="results/a", preparation={"baseline": 1.0}, trial={"baseline": 9.0})
    _, known, other = describe_set_up(one, seen, ["baseline"] * 3 + ["canopy-service"]).texts
    assert known.startswith("baseline: 3 × 1.0 s, 10 %")
    golden(other)
    (text,) = describe_set_up(one, None, []).texts
    assert "not known" in text

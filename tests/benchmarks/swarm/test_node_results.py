"""What another machine says of a swarm is taken only as it was sent."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.agents.scripted import Scripted
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.benchmarks.swarm.overhead_lines import OverheadLines
from swarm_bench.benchmarks.swarm.running.trial import Execution, SwarmResult
from swarm_bench.benchmarks.swarm.store import OneSwarmStore
from swarm_bench.core.errors import HarnessError
from swarm_bench.core.outcome import Outcome
from swarm_bench.core.session.records import Measurements, SwarmRecord
from swarm_bench.core.status import Cause
from swarm_bench.core.treatment.overhead import Overhead
from tests.builders.kits import kit_for, store_for

pytestmark = pytest.mark.anyio


@pytest.fixture
def store(tmp_path: Path) -> OneSwarmStore:
    return store_for(kit_for(Scripted(), tmp_path), node="node-1")


def make_result(store: OneSwarmStore, **changed: Any) -> SwarmResult:
    swarm = store.job.swarm
    fields = {
        "session": "s", "swarm": swarm.id, "mode": swarm.arm, "run": swarm.run,
        "attempt": 1, "agents": tuple(trial.number for trial in swarm.trials),
    }  # fmt: skip
    return SwarmResult(record=SwarmRecord.model_validate({**fields, **changed}))


@pytest.mark.parametrize(
    "forged",
    [{"attempt": 2}, {"agents": (1, 99)}, {"swarm": "other"}, {"session": "other"}, {"run": 2}],
    ids=str,
)
async def test_a_result_of_another_swarm_is_refused(
    store: OneSwarmStore, forged: dict[str, Any]
) -> None:
    with pytest.raises(HarnessError, match="something of another swarm"):
        await store.keep(make_result(store, **forged))
    await store.keep(make_result(store))
    with pytest.raises(HarnessError, match="delivered a trial twice"):
        await store.keep(make_result(store))


async def test_a_trial_of_another_attempt_is_refused(store: OneSwarmStore) -> None:
    trial = store.job.swarm.trials[0]
    execution = Execution(
        trial=trial,
        outcome=Outcome(cause=Cause.FINISHED, text="x"),
        measured=Measurements(attempt=2),
        prompt="",
        workspace="",
        program_version=None,
    )
    with pytest.raises(HarnessError, match="delivered a trial twice"):
        await store.keep(execution)
    await store.keep(replace(execution, measured=Measurements(attempt=1)))
    assert [record.node for record in store.records] == ["node-1"]


FORGED = Overhead(session="evil", mode="other", tools=99, prompt_tokens=5)


async def test_an_overhead_is_taken_of_nobody_who_was_not_asked_for_it(
    store: OneSwarmStore,
) -> None:
    with pytest.raises(HarnessError, match="something of another swarm"):
        await store.keep(replace(make_result(store), overhead=FORGED))


async def test_of_an_overhead_only_the_empty_prompt_is_taken(tmp_path: Path) -> None:
    kit = kit_for(Scripted(), tmp_path)
    folder = SessionFolder(kit.artefacts.root)
    folder.make()
    known = Overhead(session="s", mode="baseline", tools=1)
    folder.write_overhead([known])
    store = store_for(kit, node="node-1")
    assert store.job.overhead == known
    await store.keep(replace(make_result(store), overhead=FORGED))
    (line,) = folder.read_overhead()
    assert line == known.model_copy(update={"prompt_tokens": 5})


def test_an_empty_prompt_is_asked_by_one_swarm_at_a_time(tmp_path: Path) -> None:
    folder = SessionFolder(tmp_path / "session")
    folder.make()
    folder.write_overhead([Overhead(session="s", mode="baseline")])
    lines = OverheadLines(folder)
    assert lines.take_due("baseline") is not None
    assert lines.take_due("baseline") is None
    lines.give_back("baseline")
    assert lines.take_due("baseline") is not None

"""What reads and scores the output of agents keeps neither the loop nor the machine waiting."""

import json
import sys
import threading
import time
from asyncio import CancelledError
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from swarm_bench.agents.scripted import Scripted
from swarm_bench.benchmarks.swarm.run_plan import plan
from swarm_bench.benchmarks.swarm.running.kit import Kit
from swarm_bench.benchmarks.swarm.running.trial import (
    Delivery,
    SwarmResult,
    TrialRun,
)
from swarm_bench.core.errors import HarnessError
from swarm_bench.core.events import TrialActive
from swarm_bench.core.outcome import Activity, AgentExit, AgentRequest, Launch, Outcome
from swarm_bench.core.ports import Agent, Score, ScoreContext
from swarm_bench.core.session.experiment import NOT_STORED
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.status import Cause
from tests.agents.command.command_files import agent as command_agent
from tests.builders.golden import Sentences
from tests.builders.kits import KEY, kit_for, store_for, surroundings_for
from tests.builders.sessions import make_swarm


class Slow(Scripted):
    """Takes its time to read what its program printed, and to score it, and notes where that is
    done and how often at once."""

    version = 1
    keys = ("nothing",)

    def __init__(self) -> None:
        self.threads = list[threading.Thread]()
        self.most = 0
        self._now = 0
        self._turn = threading.Lock()

    def launch(self, request: AgentRequest) -> Launch:
        return Launch(argv=("true",))

    def outcome(self, exit: AgentExit) -> Outcome:
        with self._noted():
            return Outcome(cause=Cause.FINISHED, text="It is in shop/auth.py.")

    def score(self, context: ScoreContext) -> dict[str, Score]:
        with self._noted():
            return {}

    @contextmanager
    def _noted(self) -> Iterator[None]:
        self.threads.append(threading.current_thread())
        with self._turn:
            self._now += 1
            self.most = max(self.most, self._now)
        time.sleep(0.2)
        yield
        with self._turn:
            self._now -= 1


async def nothing_lost() -> None:
    pass


@pytest.mark.anyio
async def test_two_answers_at_a_time_are_read_and_scored_beside_the_loop(tmp_path: Path) -> None:
    slow = Slow()
    kit = kit_for(slow, tmp_path)
    store = store_for(kit, slow)
    around = surroundings_for(kit)
    async with anyio.create_task_group() as group:
        for trial in plan(kit.experiment)[0].groups[0].trials:
            group.start_soon(TrialRun(kit, around, trial, nothing_lost).run, store.keep)
    assert [record.cause for record in store.records] == [Cause.FINISHED] * 4
    assert len(slow.threads) == 8
    assert threading.main_thread() not in slow.threads
    assert slow.most == 2


class Spelling(Scripted):
    """Prints a key in a way that only a reader of JSON sees."""

    def launch(self, request: AgentRequest) -> Launch:
        key = "".join(f"\\u{ord(one):04x}" if at % 2 else one for at, one in enumerate(KEY))
        call = {"type": "tool_use", "id": "c", "name": KEY, "input": {"command": KEY}}
        events = [
            {"type": "assistant", "message": {"id": "m", "model": KEY, "content": [call]}},
            {"type": "result", "subtype": "success", "is_error": False, "result": KEY},
        ]
        lines = [json.dumps(event).replace(KEY, key) for event in events]
        return Launch(argv=("printf", "%s\\n", *lines))


async def first_record(kit: Kit) -> TrialRecord:
    """Run the first trial of the plan."""
    around = surroundings_for(kit)
    store = store_for(kit)
    trial = plan(kit.experiment)[0].groups[0].trials[0]
    await TrialRun(kit, around, trial, nothing_lost).run(store.keep)
    (record,) = store.records
    return record


@pytest.mark.anyio
async def test_a_key_that_json_spells_in_its_own_way_is_in_no_file_and_no_event(
    tmp_path: Path,
) -> None:
    events: list[object] = []
    kit = kit_for(Spelling(), tmp_path, emit=events.append)
    record = await first_record(kit)
    assert record.tool_calls == {NOT_STORED: 1}
    assert record.model == NOT_STORED
    assert any(isinstance(event, TrialActive) for event in events)
    assert KEY not in repr(events)
    written = [path.read_text() for path in kit.artefacts.root.rglob("*") if path.is_file()]
    assert NOT_STORED in written
    assert KEY not in "".join(written)


@pytest.mark.anyio
async def test_a_trial_of_another_swarm_is_not_stored_and_none_twice(tmp_path: Path) -> None:
    kit = kit_for(Spelling(), tmp_path)
    around = surroundings_for(kit)
    store = store_for(kit)
    trial = plan(kit.experiment)[0].groups[0].trials[0]
    outcome = Outcome(cause=Cause.TIMEOUT, detail="it hung")
    execution = TrialRun(kit, around, trial, nothing_lost).make_execution(outcome, None)
    others: list[Delivery] = [
        replace(execution, trial=replace(trial, id="other")),
        replace(execution, trial=replace(trial, arm="canopy")),
        SwarmResult(record=make_swarm("canopy", run=1)),
        SwarmResult(record=make_swarm("baseline", run=2)),
    ]
    await store.keep(execution)
    for delivery in [execution, *others]:
        with pytest.raises(HarnessError, match="twice, or something of another swarm"):
            await store.keep(delivery)
    assert [record.trial for record in store.records] == [trial.id]


@pytest.mark.anyio
@pytest.mark.parametrize("error", [SystemExit(0), CancelledError()])
@pytest.mark.parametrize("call", ["launch", "activity", "outcome"])
async def test_an_adapter_that_leaves_is_a_failure_of_its_trial(
    tmp_path: Path, call: str, error: BaseException, golden: Sentences
) -> None:
    def leave(_: object) -> None:
        raise error

    adapter = Spelling()
    setattr(adapter, call, leave)
    kit = kit_for(adapter, tmp_path)
    record = await first_record(kit)
    assert record.cause is Cause.ADAPTER_FAILED
    golden(record.detail or "")


class Staying(Scripted):
    """Prints what it is told to and stays, with a child that holds its output open."""

    def __init__(self, *steps: str, agent: Agent | None = None) -> None:
        self.agent = agent or Scripted()
        self.code = "\n".join(
            [
                "import subprocess as s, sys, time",
                "s.Popen(['sleep', '600'])",
                *steps,
                "time.sleep(600)",
            ]
        )

    def launch(self, request: AgentRequest) -> Launch:
        return Launch(argv=(sys.executable, "-uc", self.code))

    def activity(self, line: bytes) -> Activity | None:
        return self.agent.activity(line)

    def outcome(self, exit: AgentExit) -> Outcome:
        return self.agent.outcome(exit)


RESULT = {"type": "result", "subtype": "success", "is_error": False, "result": "In shop/auth.py."}
PRINTED = f"print({json.dumps(RESULT)!r})"
FAILED = f"print({json.dumps({**RESULT, 'is_error': True})!r})"
SAYS = {"type": "assistant", "message": {"id": "m", "model": "m", "content": []}}
GOES_ON = f"print({json.dumps(SAYS)!r})"
LATE = 20.0


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("steps", "cause"),
    [
        ([PRINTED], Cause.FINISHED),
        ([FAILED], Cause.PROVIDER_FAILED),
        ([f"sys.stdout.write({json.dumps(RESULT)!r}); sys.stdout.flush()"], Cause.FINISHED),
        ([PRINTED, "time.sleep(2)", GOES_ON, PRINTED], Cause.FINISHED),
    ],
)
async def test_what_has_answered_and_stays_is_ended_and_its_answer_counts(
    tmp_path: Path, steps: list[str], cause: Cause, golden: Sentences
) -> None:
    record = await first_record(kit_for(Staying(*steps), tmp_path, timeout=LATE))
    assert record.cause is cause
    assert record.exit_code is None
    assert record.wall_seconds is not None
    assert record.wall_seconds < 5 + 2 * (len(steps) > 1)
    assert record.started_at
    assert record.ended_at
    assert (record.ended_at - record.started_at).total_seconds() < record.wall_seconds + 1
    if cause is Cause.FINISHED:
        golden(record.detail or "")


@pytest.mark.anyio
@pytest.mark.parametrize(
    "steps",
    [
        [f"sys.stderr.write({json.dumps(RESULT)!r} + '\\n')"],
        [PRINTED, GOES_ON],
        [f"print('a tool shows ' + {json.dumps(RESULT)!r})"],
        ["print('{'); print('}')"],
    ],
)
async def test_what_has_not_answered_runs_until_its_time_is_over(
    tmp_path: Path, steps: list[str]
) -> None:
    record = await first_record(kit_for(Staying(*steps), tmp_path, timeout=8.0))
    assert record.cause is Cause.TIMEOUT


@pytest.mark.anyio
async def test_an_answer_before_the_time_is_over_counts_although_it_is_then_over(
    tmp_path: Path,
) -> None:
    staying = Staying("time.sleep(1)", PRINTED)
    record = await first_record(kit_for(staying, tmp_path, timeout=4.0))
    assert record.cause is Cause.FINISHED


DOCUMENT = 'print("[log] on"); print(\'{\\n  "answer": "In shop/auth.py."\\n}\')'


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("step", "cause"),
    [(DOCUMENT, Cause.FINISHED), ('print(\'{"level": "info"}\')', Cause.TIMEOUT)],
)
async def test_a_document_with_an_answer_is_the_end_of_a_run(
    tmp_path: Path, step: str, cause: Cause
) -> None:
    staying = Staying(step, agent=command_agent(tmp_path))
    record = await first_record(kit_for(staying, tmp_path / "kit", timeout=9.0))
    assert record.cause is cause

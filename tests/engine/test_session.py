"""The session's loop, with groups that are neither swarms nor agents."""

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import anyio
import pytest

from swarm_bench.benchmarks.cases.folder import CaseFolder
from swarm_bench.core.errors import CostLimitReached, NotAuthorized, StoreError
from swarm_bench.core.events import (
    BlockEnded,
    BlockStarted,
    Event,
    RerunStarted,
    SessionStarted,
    WarningRaised,
)
from swarm_bench.core.interruption import restoring_handlers
from swarm_bench.core.roles.executor import Deliver, Executor, run_here
from swarm_bench.core.session.base import Group, Trial
from swarm_bench.core.session.cases import Case, CaseExperiment, CaseRecord
from swarm_bench.core.status import Cause, Status
from swarm_bench.engine.group_store import GroupStore, Store
from swarm_bench.engine.lines import Records
from swarm_bench.engine.plan import Block, draw_order
from swarm_bench.engine.session import run_session

pytestmark = pytest.mark.anyio


SLOW_SECONDS = 1.0
Questions = Group[Case]
ARMS = ("short", "long")
CASES = (Case(id="a", title="a"), Case(id="b", title="b"))


def blocks(runs: int) -> list[Block[Case]]:
    orders = draw_order(ARMS, runs, seed=7)
    return [Block(run=run, order=order, groups=tuple(questions(run, arm) for arm in order))
            for run, order in enumerate(orders, start=1)]  # fmt: skip


def questions(run: int, arm: str) -> Questions:
    trials = tuple(
        Trial(id=f"{run}-{arm}-{case.id}", run=run, arm=arm, case=case, number=number)
        for number, case in enumerate(CASES, 1)
    )
    return Questions(id=f"{run}-{arm}", run=run, arm=arm, trials=trials)


def record(trial: str) -> CaseRecord:
    run, arm, case = trial.split("-")
    return CaseRecord(
        arm=arm, case=case, number=1, run=int(run), session="toy", trial=trial, attempt=1,
        status=Status.COMPLETED, cause=Cause.FINISHED,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Answers(Store[Case, Questions, str]):
    """Stores what is delivered."""

    kept: list[str]
    ends_before: list[int]
    """The run whose block must not begin."""

    def turns(self, block: Block[Case]) -> Iterator[Block[Case]]:
        if block.run in self.ends_before:
            raise CostLimitReached("that is enough")
        yield block

    def make_group_store(
        self, group: Questions, node: str | None = None
    ) -> GroupStore[Questions, str]:
        return GroupStore(job=group, keep=self.keep, check=self.check)

    async def keep(self, delivery: str) -> None:
        self.kept.append(delivery)

    def check(self) -> None:
        if "answer to refused" in self.kept:
            raise NotAuthorized("refused")


class Asker:
    """Runs groups by noting what it was given."""

    def __init__(self, folder: Path, *finished: str, runs: int = 2) -> None:
        self.asked: list[str] = []
        self.kept: list[str] = []
        self.events: list[Event] = []
        folder_of_it = CaseFolder(folder, CaseExperiment, CaseRecord)
        for id in finished:
            folder_of_it.records.append(record(id))
        experiment = CaseExperiment(
            session="toy", created_at=datetime.now(UTC), benchmark="toy", arms=ARMS, runs=runs,
            seed=7, order=draw_order(ARMS, runs, seed=7), concurrency=1, cases=CASES,
        )  # fmt: skip
        self.ends_before: list[int] = []
        self.store = Answers(
            experiment=experiment,
            folder=folder_of_it,
            to_continue="swarm-bench run toy --continue out",
            emit=self.events.append,
            kept=self.kept,
            ends_before=self.ends_before,
        )
        self.blocks = blocks(runs)

    async def run(
        self, execute: Executor[Questions, str] | None = None, groups_at_once: int = 1
    ) -> bool:
        executor = run_here(execute or self.ask, groups_at_once)
        return await run_session(self.store, self.blocks, executor)

    async def ask(self, job: Questions, deliver: Deliver[str]) -> None:
        self.asked += [question.id for question in job.trials]
        for question in job.trials:
            await deliver(f"answer to {question.id}")

    def started(self) -> SessionStarted:
        [event] = (event for event in self.events if isinstance(event, SessionStarted))
        return event


async def test_every_trial_runs_once_arm_by_arm_in_the_drawn_order(tmp_path: Path) -> None:
    asker = Asker(tmp_path)
    assert await asker.run() is False
    orders = draw_order(ARMS, 2, seed=7)
    expected = [f"{run}-{arm}-{case}" for run in (1, 2) for arm in orders[run - 1] for case in "ab"]
    assert asker.asked == expected
    assert asker.kept == [f"answer to {id}" for id in expected]
    blocks = [event for event in asker.events if isinstance(event, BlockStarted)]
    assert [(str(one), one.order) for one in blocks] == [
        ("run 1 of 2", orders[0]),
        ("run 2 of 2", orders[1]),
    ]
    assert asker.started().planned == {"short": 4, "long": 4}


async def test_what_is_finished_does_not_run_again(tmp_path: Path) -> None:
    asker = Asker(tmp_path, "1-short-a", "1-short-b", "1-long-a", "1-long-b", "2-long-b")
    await asker.run()
    assert sorted(asker.asked) == ["2-long-a", "2-short-a", "2-short-b"]
    started = asker.started()
    assert (started.trials, started.done) == (8, {"short": 2, "long": 3})
    assert (started.planned, started.groups) == ({"short": 2, "long": 1}, {"short": 1, "long": 1})
    assert started.failed == {"short": 0, "long": 0}
    assert not started.may_end_earlier
    assert [one.run for one in asker.events if isinstance(one, BlockStarted)] == [2]


async def test_a_session_ends_after_the_block_with_which_it_is_clear(tmp_path: Path) -> None:
    asker = Asker(tmp_path, runs=4)
    clear = iter([False, True])
    assert not await run_session(
        asker.store, asker.blocks, run_here(asker.ask), is_clear=lambda: next(clear)
    )
    assert [one.run for one in asker.events if isinstance(one, BlockStarted)] == [1, 2]
    assert len(asker.kept) == 8


async def test_a_block_that_must_not_begin_ends_the_session_before_it(tmp_path: Path) -> None:
    asker = Asker(tmp_path)
    asker.ends_before.append(2)
    with pytest.raises(CostLimitReached, match="that is enough"):
        await asker.run()
    assert {id[0] for id in asker.asked} == {"1"}
    assert [one.run for one in asker.events if isinstance(one, BlockStarted)] == [1]


async def test_more_runs_do_not_change_the_order_of_those_before() -> None:
    assert draw_order(ARMS, 9, seed=7)[:2] == draw_order(ARMS, 2, seed=7)


async def test_an_error_of_ours_leaves_alone(tmp_path: Path) -> None:
    asker = Asker(tmp_path)

    async def ask(_job: Questions, _deliver: Deliver[str]) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(fail)

    async def fail() -> None:
        raise StoreError("the disk is full")

    with pytest.raises(StoreError, match="the disk is full"):
        await asker.run(ask)


async def test_a_signal_stops_the_group_and_ends_the_session_in_order(tmp_path: Path) -> None:
    asker = Asker(tmp_path)
    stopped = []

    async def ask(job: Questions, deliver: Deliver[str]) -> None:
        await asker.ask(job, deliver)
        os.kill(os.getpid(), signal.SIGTERM)
        try:
            await anyio.sleep_forever()
        finally:
            stopped.append(job.arm)

    with restoring_handlers():
        assert await asker.run(ask) is True
    assert (len(asker.asked), len(stopped)) == (2, 1)
    assert any(isinstance(event, WarningRaised) for event in asker.events)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


class SlowRecords(Records[CaseRecord]):
    def fold(self) -> None:
        time.sleep(SLOW_SECONDS)
        super().fold()


async def test_signs_of_life_go_on_while_records_are_read(tmp_path: Path) -> None:
    asker, beats = Asker(tmp_path), [time.monotonic()]
    asker.store.folder.records = SlowRecords(tmp_path, CaseRecord)

    async def beat() -> None:
        while True:
            await anyio.sleep(0.01)
            beats.append(time.monotonic())

    def is_clear() -> bool:
        time.sleep(SLOW_SECONDS)
        return False

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(beat)
        await run_session(asker.store, asker.blocks, run_here(asker.ask), is_clear)
        tasks.cancel_scope.cancel()
    pauses = [later - earlier for earlier, later in pairwise([*beats, time.monotonic()])]
    assert max(pauses) < SLOW_SECONDS / 2
    assert beats[-1] - beats[0] > 3 * SLOW_SECONDS


async def test_a_store_ends_the_session_before_the_next_group(tmp_path: Path) -> None:
    asker = Asker(tmp_path)

    async def ask(job: Questions, deliver: Deliver[str]) -> None:
        asker.asked.append(job.arm)
        await deliver("answer to refused")

    with pytest.raises(NotAuthorized):
        await asker.run(ask)
    assert len(asker.asked) == 1


@pytest.mark.parametrize("at_once", [1, 2])
async def test_groups_of_a_block_run_as_many_at_once_as_the_benchmark_says(
    tmp_path: Path, at_once: int
) -> None:
    asker = Asker(tmp_path)
    running: list[Questions] = []
    most = 0

    async def ask(job: Questions, deliver: Deliver[str]) -> None:
        nonlocal most
        running.append(job)
        most = max(most, len(running))
        assert len({group.run for group in running}) == 1
        await anyio.sleep(0.01)
        running.remove(job)

    await asker.run(ask, at_once)
    assert most == at_once


async def test_what_was_lost_with_a_node_runs_once_more_and_is_said_to(tmp_path: Path) -> None:
    asker = Asker(tmp_path)
    records, is_first = asker.store.folder.records, [True]

    async def lose_the_first(job: Questions, deliver: Deliver[str]) -> None:
        gone = {"cause": Cause.NODE_LOST, "status": Status.HARNESS_FAILED} if is_first else {}
        is_first.clear()
        await asker.ask(job, deliver)
        asker.store.lost_trials.update(it.id for it in job.trials if gone)
        for question in job.trials:
            records.append(record(question.id).model_copy(update=gone))

    await asker.run(lose_the_first)
    first = draw_order(ARMS, 2, seed=7)[0][0]
    again = [f"1-{first}-a", f"1-{first}-b"]
    assert asker.asked[-2:] == again
    assert len(asker.asked) == 10
    [event] = (event for event in asker.events if isinstance(event, RerunStarted))
    counts = dict.fromkeys(ARMS, 0)
    assert (event.trials, event.groups) == ({**counts, first: 2}, {**counts, first: 1})
    assert {head.cause for head in records.set_aside_reruns()} == {Cause.FINISHED}
    ended = [event.run for event in asker.events if isinstance(event, BlockEnded)]
    assert ended == [1, 2, 1]

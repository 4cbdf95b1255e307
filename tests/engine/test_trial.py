"""What reads and scores the output of agents keeps neither the loop nor the machine waiting."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from swarm_bench.agents.scripted import Scripted
from swarm_bench.core.outcome import AgentExit, AgentRequest, Launch, Outcome
from swarm_bench.core.ports import Score, ScoreContext
from swarm_bench.core.status import Cause
from swarm_bench.engine.folder import SessionFolder
from swarm_bench.engine.kit import Kit
from swarm_bench.engine.plan import plan
from swarm_bench.engine.surroundings import Surroundings
from swarm_bench.engine.trial import TrialRun
from swarm_bench.runtime.monitor import TreeMonitor
from swarm_bench.runtime.workspace import Snapshot
from tests.engine.test_plan import experiment


class Slow(Scripted):
    """Takes its time to read what its program printed, and to score it, and notes where that is
    done and how often at once."""

    version = 1

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
    slow, made = Slow(), experiment(modes=["baseline"], runs=1)
    kit = Kit(
        experiment=made,
        agent=slow,
        snapshot=Snapshot(path=tmp_path, repository=made.repository, files=frozenset()),
        folder=SessionFolder(tmp_path / "session"),
        work=tmp_path / "work",
        programs={},
        user_environment={"PATH": "/usr/bin:/bin"},
        scorers=(slow,),
        prompt=lambda *_: "",
        page=lambda *_: "",
        emit=lambda _: None,
    )
    kit.folder.make()
    kit.workspace.mkdir(parents=True)
    around = Surroundings(
        workspace=kit.workspace, placeholders={}, monitor=TreeMonitor(), attempts={}, home={}
    )
    runs = [TrialRun(kit, around, trial) for trial in plan(made)[0].swarms[0].trials]
    async with anyio.create_task_group() as group:
        for run in runs:
            group.start_soon(run.run, nothing_lost)
    assert [run.written and run.written.cause for run in runs] == [Cause.FINISHED] * 4
    assert len(slow.threads) == 8
    assert threading.main_thread() not in slow.threads
    assert slow.most == 2

"""What it costs to have a mode's tool at all: what its servers say of themselves, and the one
request of an agent that is given nothing to do.

The empty prompt goes to every mode alike, once, right after the agents of its first swarm: whatever
it does to a service that they share, they have been measured. It has a clone at a path of its own,
which a service may go on using when the clone is gone.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import anyio

from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.benchmarks.swarm.plan.swarms import Trial
from swarm_bench.benchmarks.swarm.running.kit import Kit
from swarm_bench.benchmarks.swarm.running.surroundings import Surroundings
from swarm_bench.benchmarks.swarm.running.trial import TrialRun
from swarm_bench.core.errors import HarnessError
from swarm_bench.core.events import Event
from swarm_bench.core.session.experiment import Experiment, Limits, Mode, Task, stable_id
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.status import Cause
from swarm_bench.core.treatment.overhead import Overhead
from swarm_bench.models import tokens
from swarm_bench.retrieval.greeting import Greeting
from swarm_bench.runtime.monitor import TreeMonitor
from swarm_bench.runtime.ownership import temporary
from swarm_bench.runtime.workspaces.inventory import copy_below
from swarm_bench.runtime.workspaces.workspace import clone

NOTHING_TO_DO = Task(id="overhead", title="nothing to do", prompt="Reply with the single word OK.")
REQUEST_SECONDS = 30.0
"""For one short request, beside the start of the slowest server; an agent that hangs must not hold
up the session for the time of a task."""


class EmptyPrompts:
    """The overhead of the modes of a session, one line each in its `overhead.jsonl`."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit
        self._lines = {line.mode: line for line in kit.folder.read_overhead()}
        says_usage = kit.agent.capabilities.reports_usage
        self._left = {
            mode.name for mode in kit.experiment.modes if says_usage and not self._is_known(mode)
        }

    def begin(self) -> None:
        """Write what the servers said of themselves; lines that are complete stay as they are."""
        for mode in self._kit.experiment.modes:
            greetings = self._kit.greetings.get(mode.name, {})
            if not self._is_known(mode) and set(greetings) == set(mode.servers):
                self._write(_greeted(self._kit.experiment, mode, list(greetings.values())))

    def is_due(self, mode: Mode) -> bool:
        """Whether the mode is still to be asked: once in a call, if there are no figures yet."""
        return mode.name in self._left and mode.name in self._lines

    async def ask(
        self, mode: Mode, around: Surroundings, lost: Callable[[], Awaitable[str | None]]
    ) -> None:
        """Give an agent nothing to do, and write down what its request took. What goes wrong is a
        sentence in the line, and nothing else. Raises `StoreError` when that cannot be written."""
        self._left.discard(mode.name)
        line = self._lines[mode.name]
        longest = longest_seconds(line, self._kit.experiment.limits)
        try:
            record = await self._request(mode, around, lost, longest)
        except HarnessError as error:
            self._write(_without_figures(line, str(error)))
        else:
            self._write(_asked(line, record, longest))

    async def _request(
        self,
        mode: Mode,
        around: Surroundings,
        lost: Callable[[], Awaitable[str | None]],
        longest: float,
    ) -> TrialRecord | None:
        kit = self._kit
        # Numbers, so that the paths in the prompts of all modes are equally long.
        number = [one.name for one in kit.experiment.modes].index(mode.name) + 1
        place = kit.work / "overhead" / str(number) / kit.workspace.name
        with temporary(kit.work) as folder:
            async with (
                clone(kit.snapshot, place, keep=None) as workspace,
                kit.homes.opened("home-overhead") as home,
            ):
                # A server may not start without its index, and building it again takes its time.
                await anyio.to_thread.run_sync(copy_below, around.workspace, workspace, around.made)
                values = {**around.placeholders, "workspace": str(workspace)}
                own = Surroundings(
                    workspace=workspace,
                    placeholders=values,
                    monitor=TreeMonitor(),
                    attempts={},
                    home=home,
                    service=around.service,
                )
                run = TrialRun(_quiet(kit, folder, longest), own, _trial(mode))
                await run.run(lost)
        return run.written

    def _is_known(self, mode: Mode) -> bool:
        line = self._lines.get(mode.name)
        return line is not None and line.prompt_tokens is not None

    def _write(self, line: Overhead) -> None:
        self._lines[line.mode] = line
        self._kit.folder.write_overhead(list(self._lines.values()))
        if self._kit.recorder is not None:
            self._kit.recorder.keep_overhead(line)


def _greeted(experiment: Experiment, mode: Mode, greetings: list[Greeting]) -> Overhead:
    return Overhead(
        session=experiment.session,
        mode=mode.name,
        server_seconds={one.server: one.seconds for one in greetings if one.seconds is not None},
        tools=sum(len(one.tools) for one in greetings),
        tool_tokens=sum(one.tool_tokens for one in greetings),
        server_instruction_tokens=sum(one.instruction_tokens for one in greetings),
        mode_instruction_tokens=tokens.count(mode.instructions),
        unexpected=next((one.unexpected for one in greetings), ()),
    )


def longest_seconds(line: Overhead, limits: Limits) -> float:
    """How long the empty prompt of a mode may take."""
    slowest = max(line.server_seconds.values(), default=0.0)
    return min(limits.timeout, REQUEST_SECONDS + slowest)


def _quiet(kit: Kit, folder: Path, longest: float) -> Kit:
    """The kit for an agent of which nothing is kept, and of which nobody hears."""
    limits = kit.experiment.limits.model_copy(update={"max_turns": 1, "timeout": longest})
    experiment = kit.experiment.model_copy(
        # The form of an answer is part of the task, and the same in every mode.
        update={"limits": limits, "answer_format": ""}
    )
    folder_of_its_own = SessionFolder(folder)
    return replace(
        kit, experiment=experiment, folder=folder_of_its_own, emit=_unheard, recorder=None
    )


def _unheard(_event: Event) -> None:
    pass


def _trial(mode: Mode) -> Trial:
    id = stable_id(NOTHING_TO_DO.id, mode.name)
    return Trial(id=id, run=1, mode=mode.name, agent=1, task=NOTHING_TO_DO)


def _asked(line: Overhead, record: TrialRecord | None, longest: float) -> Overhead:
    if record is None:
        return _without_figures(line, "it was not asked")
    tokens = _first_request(record)
    if tokens is None:
        return _without_figures(line, _why_not(record, longest))
    figures = {"prompt_tokens": tokens, "prompt_cost": record.cost, "problem": None}
    return line.model_copy(update=figures)


def _without_figures(line: Overhead, why: str) -> Overhead:
    return line.model_copy(update={"problem": f"the empty prompt gave no figures: {why}"})


def _why_not(record: TrialRecord, longest: float) -> str:
    if record.cause is Cause.TIMEOUT:
        return f"the agent had not ended after {longest:.0f} s"
    if record.cause in (None, Cause.FINISHED):
        return "it does not say the tokens of one request"
    return record.detail or record.cause


def _first_request(record: TrialRecord) -> int | None:
    """All its input tokens; `None` when one of the figures is missing."""
    if record.turn_usage:
        first = record.turn_usage[0]
        parts = [first["input"], first["cache_read"], first["cache_create"]]
    elif record.requests == 1:
        parts = [record.input_tokens, record.cache_read, record.cache_create]
    else:
        return None
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None

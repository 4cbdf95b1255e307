"""What becomes known of a swarm while it runs, and its line in `retrieval.jsonl`; what is done to
its clone before its agents start, and what its tool changes there; and what it costs to have a
mode's tool at all: the one request of an agent that is given nothing to do.

The empty prompt goes to every mode alike, once, right after the agents of its first swarm: whatever
it does to a service that they share, they have been measured. It has a clone at a path of its own,
which a service may go on using when the clone is gone.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio

from swarm_bench.benchmarks.swarm.artefacts import Artefacts
from swarm_bench.benchmarks.swarm.run_plan import Swarm, SwarmTrial
from swarm_bench.benchmarks.swarm.running.kit import Kit, SwarmContext
from swarm_bench.benchmarks.swarm.running.trial import Delivery, Execution, FindLoss, TrialRun
from swarm_bench.benchmarks.swarm.trial_records import add_price, drop_zeros
from swarm_bench.core.errors import HarnessError
from swarm_bench.core.events import Event
from swarm_bench.core.figures import total
from swarm_bench.core.outcome import Outcome
from swarm_bench.core.session.experiment import Limits, Task, stable_id
from swarm_bench.core.status import Cause
from swarm_bench.core.treatment.overhead import Overhead
from swarm_bench.retrieval.opened_mode import MOST_PATHS, OpenedMode
from swarm_bench.retrieval.preparing import call, prepare
from swarm_bench.retrieval.probes.registered import Reading
from swarm_bench.runtime.files import write_whole
from swarm_bench.runtime.monitor import TreeMonitor
from swarm_bench.runtime.ownership import temporary
from swarm_bench.runtime.sink import clean_value
from swarm_bench.runtime.untrusted import read
from swarm_bench.runtime.workspaces.inventory import (
    Changes,
    Inventory,
    compare_inventories,
    copy_paths,
    find_folders,
    instructions,
    take_inventory,
)
from swarm_bench.runtime.workspaces.workspace import clone


@dataclass(kw_only=True)
class SwarmState:
    """What becomes known of one attempt at a swarm, under the keys that it has in its record."""

    attempt: int
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    workspace_seconds: float | None = None
    service_seconds: float | None = None
    index_seconds: float | None = None
    index_bytes: int | None = None
    index_copied: bool | None = None
    warm_up_seconds: float | None = None
    brought: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()
    unexpected_count: int | None = None
    instructions_changed: tuple[str, ...] = ()
    teardown_failure: str | None = None
    backend: str | None = None
    before: dict[str, Reading] = field(default_factory=dict)
    after: dict[str, Reading] = field(default_factory=dict)
    difference: dict[str, Reading] = field(default_factory=dict)
    failure: str | None = None


class WorkspacePreparation:
    """Preparation of one swarm's workspaces, added to the state of the swarm. Modes without a tool
    need none."""

    def __init__(self, kit: Kit, swarm: Swarm, tool: OpenedMode, state: SwarmState) -> None:
        self._kit = kit
        self._mode = kit.experiment.mode(swarm.arm)
        self._commit = swarm.commit
        self._tool = tool
        self._state = state
        self._changes: Changes | None = None
        self._instructions: Inventory | None = None
        self.seconds: float | None = None
        """Seconds that the preparation took; for a copied one, those of the original."""

    @property
    def has_preparation(self) -> bool:
        """Whether its preparation runs before the agents start."""
        return self._kit.experiment.prepares(self._mode)

    @property
    def created_files(self) -> tuple[str, ...]:
        """What appeared or changed in the clone before its agents."""
        change = self._changes
        return (*change.appeared, *change.changed) if change and self.has_preparation else ()

    async def begin(self) -> None:
        """Look at the clone before anything is done to it."""
        await self._tool.record_files()
        brought = find_folders(self._tool.files_before or (), self._mode.may_create)[:MOST_PATHS]
        self._state.brought = clean_value(brought, self._kit.secrets)

    async def prepare(self) -> None:
        """Prepare the clone, or copy what was made in an earlier one, and warm the tool up. Raises
        `HarnessError`."""
        step, site = self._mode.prepare, self._tool.site
        if step is not None and self.has_preparation:
            if step.copyable and (earlier := self._read_earlier()) is not None:
                await anyio.to_thread.run_sync(self._copy, earlier)
            else:
                self.seconds = await prepare(site)
                self._state.index_copied = False
                if step.copyable:
                    await anyio.to_thread.run_sync(self._save)
        if self._mode.warm_up is not None:
            self._state.warm_up_seconds = await call(site, self._mode.warm_up)

    async def record_changes(self) -> None:
        """Compare the clone with what it was before."""
        if self._tool.files_before is None:
            return
        self._changes = change = await self._tool.find_changes()
        self._instructions = instructions(self._kit.workspace)
        home_bytes = await self._tool.measure_home_growth()
        if self.has_preparation or self._mode.services:
            self._state.index_bytes = change.bytes + home_bytes
        unexpected = change.list_unexpected(self._mode.may_create)
        self._state.unexpected = clean_value(unexpected[:MOST_PATHS], self._kit.secrets)
        self._state.unexpected_count = len(unexpected)

    def record_instruction_changes(self) -> None:
        """Note which instructions for agents have changed since the agents started."""
        if self._instructions is not None:
            change = compare_inventories(self._instructions, instructions(self._kit.workspace))
            paths = (*change.appeared, *change.changed, *change.removed)[:MOST_PATHS]
            self._state.instructions_changed = clean_value(paths, self._kit.secrets)

    @property
    def _store(self) -> Path:
        # Agents can read the name: it does not say which commit it is.
        content = (
            "own" if self._commit is None else stable_id(self._kit.tools.service_key, self._commit)
        )
        return self._kit.work / "prepared" / self._mode.name / content

    def _read_earlier(self) -> dict[str, Any] | None:
        file = self._store / "made.json"
        if not file.exists():
            return None
        earlier: dict[str, Any] = json.loads(read(file))
        return earlier

    def _save(self) -> None:
        workspace = self._kit.workspace
        change = compare_inventories(self._tool.files_before or {}, take_inventory(workspace))
        paths = (*change.appeared, *change.changed)
        copy_paths(workspace, self._store / "files", paths)
        content = {"seconds": self.seconds, "paths": paths}
        write_whole(self._store / "made.json", json.dumps(content))

    def _copy(self, earlier: Mapping[str, Any]) -> None:
        copy_paths(self._store / "files", self._kit.workspace, earlier["paths"])
        self.seconds, self._state.index_copied = earlier["seconds"], True


NOTHING_TO_DO = Task(id="overhead", title="nothing to do", prompt="Reply with the single word OK.")
REQUEST_SECONDS = 30.0
"""Seconds for one short request, beside the start of the slowest server; an agent that hangs must
not hold up the session for the time of a task."""


async def measure_empty_prompt(
    kit: Kit, line: Overhead, swarm_context: SwarmContext, find_loss: FindLoss
) -> Overhead:
    """Give an agent of the mode of the line nothing to do, and return the line with what its
    request took. What goes wrong is a sentence in it, and nothing else."""
    longest = compute_timeout(line, kit.experiment.limits)
    try:
        execution = await _execute(kit, line.mode, swarm_context, find_loss, longest)
    except HarnessError as error:
        return _add_problem(line, str(error))
    return _add_figures(line, execution, longest)


def compute_timeout(line: Overhead, limits: Limits) -> float:
    """Return how long the empty prompt of a mode may take."""
    slowest = max(line.server_seconds.values(), default=0.0)
    return min(limits.timeout, REQUEST_SECONDS + slowest)


async def _execute(
    kit: Kit, mode: str, swarm_context: SwarmContext, find_loss: FindLoss, longest: float
) -> Execution | None:
    # Numbers, so that the paths in the prompts of all modes are equally long.
    number = [candidate.name for candidate in kit.experiment.modes].index(mode) + 1
    target = kit.work / "overhead" / str(number) / kit.workspace.name
    delivered: list[Execution] = []

    async def keep(delivery: Delivery) -> None:
        if isinstance(delivery, Execution):
            priced = add_price(kit.experiment, delivery.outcome)
            delivered.append(replace(delivery, outcome=drop_zeros(priced)))

    with temporary(kit.work) as folder:
        async with (
            clone(kit.snapshot, target, keep=None) as workspace,
            kit.tools.homes.open_home("home-overhead") as home,
        ):
            # A server may not start without its index, and building it again takes its time.
            await anyio.to_thread.run_sync(
                copy_paths, swarm_context.site.workspace, workspace, swarm_context.prepared_files
            )
            site = replace(swarm_context.site, workspace=workspace, home=home)
            context = SwarmContext(site=site, monitor=TreeMonitor(), attempts={})
            quiet_kit = _make_quiet_kit(kit, folder, longest)
            await TrialRun(quiet_kit, context, _make_trial(mode), find_loss).run(keep)
    return delivered[0] if delivered else None


def _make_quiet_kit(kit: Kit, folder: Path, longest: float) -> Kit:
    """Return the kit for an agent of which nothing is kept or reported."""
    limits = kit.experiment.limits.model_copy(update={"max_turns": 1, "timeout": longest})
    experiment = kit.experiment.model_copy(
        # The form of an answer is part of the task, and the same in every mode.
        update={"limits": limits, "answer_format": ""}
    )
    artefacts = Artefacts(folder, runs=1)
    return replace(kit, experiment=experiment, artefacts=artefacts, emit=_ignore, record=False)


def _ignore(_event: Event) -> None:
    pass


def _make_trial(mode: str) -> SwarmTrial:
    id = stable_id(NOTHING_TO_DO.id, mode)
    return SwarmTrial(id=id, run=1, arm=mode, case=NOTHING_TO_DO, number=1)


def _add_figures(line: Overhead, execution: Execution | None, longest: float) -> Overhead:
    if execution is None:
        return _add_problem(line, "it was not asked")
    outcome = execution.outcome
    tokens = _count_first_request(outcome)
    if tokens is None:
        return _add_problem(line, _explain_failure(execution, longest))
    figures_of_prompt = {"prompt_tokens": tokens, "prompt_cost": outcome.cost, "problem": None}
    return line.model_copy(update=figures_of_prompt)


def _add_problem(line: Overhead, reason: str) -> Overhead:
    return line.model_copy(update={"problem": f"the empty prompt gave no figures: {reason}"})


def _explain_failure(execution: Execution, longest: float) -> str:
    cause = execution.outcome.cause
    if cause is Cause.TIMEOUT:
        return f"the agent had not ended after {longest:.0f} s"
    if cause is Cause.FINISHED:
        return "the agent does not report the tokens of one request"
    return execution.outcome.detail or cause


def _count_first_request(outcome: Outcome) -> int | None:
    """Return all its input tokens; `None` when one of the figures is missing."""
    requests = outcome.turn_usage or ((outcome.usage,) if outcome.requests == 1 else ())
    if not requests:
        return None
    return total([requests[0].input, requests[0].cache_read, requests[0].cache_create])

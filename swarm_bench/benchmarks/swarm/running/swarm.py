"""One swarm: a workspace, its services, N agents at once, the counters before and after. While its
trials run, each of them counts with what it may cost."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

import anyio
from anyio.abc import TaskGroup

from swarm_bench.benchmarks.swarm.artefacts import name_service_log
from swarm_bench.benchmarks.swarm.run_plan import SwarmTrial
from swarm_bench.benchmarks.swarm.running.kit import Kit, SwarmContext
from swarm_bench.benchmarks.swarm.running.trial import (
    Deliver,
    Delivery,
    Execution,
    SwarmJob,
    SwarmResult,
    TrialRun,
)
from swarm_bench.benchmarks.swarm.running.workspace_preparation import (
    SwarmState,
    WorkspacePreparation,
    measure_empty_prompt,
)
from swarm_bench.benchmarks.swarm.trial_records import settle_outcome
from swarm_bench.core.errors import HarnessError, IndexFailed, ServiceFailed, StoreError
from swarm_bench.core.events import WORKSPACE, StepStarted, WarningRaised
from swarm_bench.core.outcome import Outcome
from swarm_bench.core.ports import ProbeContext
from swarm_bench.core.session.experiment import Experiment, Mode
from swarm_bench.core.session.records import SwarmRecord
from swarm_bench.core.status import Cause
from swarm_bench.core.treatment.overhead import Overhead
from swarm_bench.engine.budget import Budget
from swarm_bench.retrieval.canopy.service import IndexWatch, Service
from swarm_bench.retrieval.opened_mode import OpenedMode
from swarm_bench.retrieval.probes.registered import FAILED, Reading, compute_figures, read_probe
from swarm_bench.retrieval.reach.outside import ForeignTools
from swarm_bench.retrieval.reach.reach import collect_foreign_tools
from swarm_bench.retrieval.witnesses.agreement import gives_no_tool
from swarm_bench.runtime.monitor import TreeMonitor
from swarm_bench.runtime.ownership import KEPT_FOLDER
from swarm_bench.runtime.sink import clean_text, clean_value
from swarm_bench.runtime.workspaces.snapshots import open_snapshot
from swarm_bench.runtime.workspaces.workspace import clone


async def run_swarm(kit: Kit, job: SwarmJob, deliver: Deliver) -> None:
    """Run the trials of a swarm. Delivers an execution of each that began, as soon as it ends: of
    all, unless interrupted or turned away; and in the end what happened around them. Raises
    `StoreError`, alone or in a group."""
    await _Swarm(kit, job, deliver).run()


class _Swarm:
    def __init__(self, kit: Kit, job: SwarmJob, deliver: Deliver) -> None:
        swarm = job.swarm
        self._kit = kit
        self._job = job
        self._swarm = swarm
        self._deliver = deliver
        self._mode = kit.experiment.mode(swarm.arm)
        backend = kit.experiment.retrieval.get(swarm.arm)
        tried = [job.attempts.get(trial.id, 0) for trial in swarm.trials]
        self._state = SwarmState(
            attempt=max(tried, default=0) + 1, backend=backend.label if backend else None
        )
        self._loss: str | None = None
        """Sentence on what the agents have lost of their surroundings."""
        self._started_numbers = set[int]()
        """Numbers of the agents that were started."""
        self._delivered = set[int]()
        self._monitor = TreeMonitor()
        self._swarm_budget = SwarmBudget(kit.experiment, swarm.arm, job.budget)
        self._closed = False
        """Whether no other agent is to start: the provider refused one, or it could cost too much.
        """
        self._measured = False
        """Whether its agents came to their end; what follows cannot spoil their results."""
        self._overhead: Overhead | None = None
        self._tool = OpenedMode(
            kit.tools,
            self._mode,
            kit.workspace,
            tag=f"{kit.experiment.session}/index/{swarm.id}",
            secrets=kit.secrets,
        )
        self._preparation = WorkspacePreparation(kit, swarm, self._tool, self._state)

    @property
    def _service(self) -> Service | None:
        return self._tool.site.service

    @cached_property
    def _reach(self) -> ForeignTools:
        kit, site = self._kit, self._tool.site
        values = {**site.values, "service_url": ""}
        files, variables = kit.snapshot.files, kit.tools.variables
        return collect_foreign_tools(kit.experiment, self._swarm.arm, files, values, variables)

    async def run(self) -> None:
        try:
            await self._run()
        except StoreError:
            raise
        except HarnessError as error:
            await self._fail(_find_cause(error), str(error))
        except anyio.get_cancelled_exc_class():
            if not self._measured:
                self._state.failure = "interrupted"
            raise
        finally:
            with anyio.CancelScope(shield=True):
                result = SwarmResult(record=self._make_record(), overhead=self._overhead)
                await self._deliver(result)

    async def _run(self) -> None:
        async with AsyncExitStack() as stack:
            self._emit_step(WORKSPACE)
            started = anyio.current_time()
            kit, commit = self._kit, self._swarm.commit
            snapshot = open_snapshot(kit.snapshot, commit, kit.work, kit.commits)
            self._kit = self._kit.replace_snapshot(await stack.enter_async_context(snapshot))
            await stack.enter_async_context(self._open_workspace())
            stack.callback(self._report_teardown)
            await stack.enter_async_context(self._tool)
            self._state.workspace_seconds = anyio.current_time() - started
            await self._preparation.begin()
            if self._mode.services:
                await self._start_service()
            await self._prepare_workspace()
            self._state.before = await self._read_counters()
            async with self._open_counting():
                await self._run_agents()
            self._preparation.record_instruction_changes()
            self._measured = self._state.failure is None and not self._closed
            if self._measured and (line := self._job.overhead) is not None:
                self._emit_step("overhead")
                swarm_context = self._make_context()
                self._overhead = await measure_empty_prompt(
                    self._kit, line, swarm_context, self._find_loss
                )

    def _open_workspace(self) -> AbstractAsyncContextManager[Path]:
        kit, swarm = self._kit, self._swarm
        # Later agents can read the names: where commits differ, these say nothing of their order.
        label = f"run-{swarm.run}-{swarm.arm}-" if swarm.commit is None else ""
        keep = kit.work / KEPT_FOLDER / f"{label}{swarm.id}-{self._state.attempt}"
        return clone(kit.snapshot, kit.workspace, keep=keep if kit.keep_workspaces else None)

    def _report_teardown(self) -> None:
        if (failure := self._tool.teardown_failure) is not None:
            self._state.teardown_failure = clean_text(failure, self._kit.secrets)
            message = f"{self._mode.name}: its teardown failed: {failure}"
            self._kit.emit(WarningRaised(message=message))

    async def _start_service(self) -> None:
        kit = self._kit
        self._emit_step("service")
        started = anyio.current_time()
        is_local = kit.experiment.service_url is None
        is_alone = len(kit.experiment.agents_of_blocks) == 1
        make = kit.artefacts.make_mode_folder if is_local else kit.artefacts.mode_folder
        name = name_service_log(self._swarm, is_alone=is_alone)
        service = await self._tool.start_service(
            log=make(self._swarm.run, self._mode.name) / name,
            secrets=kit.secrets,
            tag=f"{kit.experiment.session}/service/{self._swarm.id}",
        )
        self._state.service_seconds = anyio.current_time() - started
        implementation = clean_value(await service.read_implementation(), kit.secrets)
        self._state.backend = implementation or self._state.backend
        self._emit_step("index")
        timeout = kit.experiment.limits.index_timeout
        self._state.index_seconds = await service.index(kit.workspace, timeout)

    async def _prepare_workspace(self) -> None:
        preparation = self._preparation
        if preparation.has_preparation or self._mode.warm_up:
            self._emit_step("index")
            await preparation.prepare()
        await preparation.record_changes()
        self._state.index_seconds = _add_seconds(self._state.index_seconds, preparation.seconds)

    async def _run_agents(self) -> None:
        swarm_context = self._make_context()
        watch = IndexWatch(self._kit.workspace)
        watches = (
            bool(self._mode.servers)
            and self._service is None
            and not self._preparation.has_preparation
        )
        async with anyio.create_task_group() as watchers:
            watchers.start_soon(self._monitor.watch)
            if watches:
                watchers.start_soon(watch.watch)
            async with anyio.create_task_group() as agents:
                if self._service is not None:
                    watchers.start_soon(self._watch_service, self._service, agents)
                limiter = anyio.CapacityLimiter(self._kit.experiment.concurrency)
                for trial in self._swarm.trials:
                    agents.start_soon(self._run_trial, trial, swarm_context, limiter)
            watchers.cancel_scope.cancel()
        if watches:
            self._state.index_seconds = watch.seconds
        if self._loss is not None:
            await self._fail(Cause.SERVICE_FAILED, self._loss)

    async def _run_trial(
        self, trial: SwarmTrial, swarm_context: SwarmContext, limiter: anyio.CapacityLimiter
    ) -> None:
        async with limiter:
            self._closed = self._closed or not self._swarm_budget.reserve(trial.id)
            if not self._closed:
                self._started_numbers.add(trial.number)
                await TrialRun(self._kit, swarm_context, trial, self._check_loss).run(self._keep)

    async def _keep(self, delivery: Delivery) -> None:
        """Deliver it, and see what it means for the other agents."""
        if isinstance(delivery, Execution):
            self._delivered.add(delivery.trial.number)
            self._swarm_budget.settle(delivery)
            refused = delivery.outcome.cause in (Cause.NOT_AUTHORIZED, Cause.NO_CREDIT)
            self._closed |= refused and not self._kit.experiment.rehearsal
        await self._deliver(delivery)

    async def _check_loss(self) -> str | None:
        """Tell what the agents have lost of their surroundings. The watch looks only now and then;
        an agent that ended in between may have been alone."""
        if self._loss is None:
            self._loss = await self._find_loss()
        return self._loss

    async def _find_loss(self) -> str | None:
        loss = await self._service.describe_loss() if self._service is not None else None
        if loss is None and self._kit.rehearsal is not None:
            loss = await self._kit.rehearsal.lost()
        return loss

    async def _watch_service(self, service: Service, agents: TaskGroup) -> None:
        """Stop the agents when their service is lost: without it they measure nothing."""
        self._loss = await service.watch()
        agents.cancel_scope.cancel()

    async def _fail(self, cause: Cause, detail: str) -> None:
        """Record the failure for every trial that has no record yet."""
        detail = clean_text(detail, self._kit.secrets)
        self._state.failure = detail
        self._kit.emit(WarningRaised(message=f"run {self._swarm.run}, {self._mode.name}: {detail}"))
        swarm_context = self._make_context()
        for trial in self._swarm.trials:
            if trial.number not in self._delivered:
                unstarted = TrialRun(self._kit, swarm_context, trial, self._find_loss)
                outcome = Outcome(cause=cause, detail=detail)
                await self._keep(unstarted.make_execution(outcome, None))

    @asynccontextmanager
    async def _open_counting(self) -> AsyncIterator[None]:
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True):
                self._state.after = await self._read_counters()
                self._state.difference = {
                    name: compute_figures(
                        self._kit.probes[name], self._state.before.get(name), reading
                    )
                    for name, reading in self._state.after.items()
                }

    async def _read_counters(self) -> dict[str, Reading]:
        url = self._service.url if self._service else self._kit.experiment.service_url
        key = self._service.key if self._service else None
        context = ProbeContext(workspace=self._kit.workspace, service_url=url, key=key)
        return await read_counters(self._kit, self._mode, context)

    def _make_context(self) -> SwarmContext:
        return SwarmContext(
            site=self._tool.site,
            monitor=self._monitor,
            attempts=self._job.attempts,
            prepared_files=self._preparation.created_files,
            reach=self._reach,
            answers=self._kit.reachable,
        )

    def _emit_step(self, step: str) -> None:
        self._kit.emit(StepStarted(run=self._swarm.run, arm=self._mode.name, step=step))

    def _make_record(self) -> SwarmRecord:
        return SwarmRecord(
            session=self._kit.experiment.session,
            swarm=self._swarm.id,
            mode=self._swarm.arm,
            run=self._swarm.run,
            agents=tuple(
                trial.number
                for trial in self._swarm.trials
                if trial.number in self._started_numbers | self._delivered
            ),
            ended_at=datetime.now(UTC),
            service_healthy=(self._loss is None) if self._service is not None else None,
            **vars(self._state),
        )


def _add_seconds(of_service: float | None, of_preparation: float | None) -> float | None:
    """Add up what took its time before the agents started; `None` when nothing did."""
    seconds = [step for step in (of_service, of_preparation) if step is not None]
    return sum(seconds) if seconds else None


def _find_cause(error: HarnessError) -> Cause:
    causes = {IndexFailed: Cause.INDEX_FAILED, ServiceFailed: Cause.SERVICE_FAILED}
    return causes.get(type(error), Cause.WORKSPACE_FAILED)


async def read_counters(kit: Kit, mode: Mode, context: ProbeContext) -> dict[str, Reading]:
    """Read the probes of a mode. Of a mode without a tool, read those of all modes, to see that
    nothing is counted. A probe that fails reads `FAILED`. A service may repeat what it was
    asked, also a key."""
    readings = dict[str, Reading]()
    for name, probe in kit.probes.items():
        if gives_no_tool(mode) or name in mode.probes:
            answer = await read_probe(probe, context)
            if answer.problem:
                message = f"the probe {name}: {clean_text(answer.problem, kit.secrets)}"
                kit.emit(WarningRaised(message=message))
            if answer.is_there:
                reading = FAILED if answer.problem else answer.reading
                readings[name] = clean_value(reading, kit.secrets)
    return readings


class SwarmBudget:
    """Sets aside what the trials of a swarm may cost, and pays what they did cost. Without a
    budget, all of them may start."""

    def __init__(self, experiment: Experiment, mode: str, budget: Budget | None) -> None:
        self._experiment = experiment
        self._mode = mode
        self._budget = budget and budget.copy()
        self._running = set[str]()
        """Ids of trials."""
        self._blind = False
        """Whether a trial gave an answer and no cost, before any other gave one."""

    def reserve(self, trial: str) -> bool:
        """Set aside what the trial may cost; false when it could exceed the budget, so that it must
        not start."""
        if self._budget is None:
            return True
        if self._blind or not self._budget.covers(self._mode, len(self._running)):
            return False
        self._running.add(trial)
        return True

    def settle(self, execution: Execution) -> None:
        """Pay for a trial that has ended. One without a cost is taken for the dearest so far."""
        if self._budget is None or execution.trial.id not in self._running:
            return
        self._running.remove(execution.trial.id)
        cost = settle_outcome(self._experiment, execution.outcome).cost
        dearest = self._budget.dearest.get(self._mode)
        if cost is None and dearest is None:
            self._blind |= execution.outcome.cause is Cause.FINISHED
        self._budget.add_trial(self._mode, cost, dearest or 0.0)

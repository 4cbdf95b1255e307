"""Runs an experiment to its summary, or shows what would run."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import anyio

from swarm_bench.analysis.planning.launches import Launches
from swarm_bench.analysis.planning.session_plan import (
    PlannedSession,
    Workspaces,
    compute_median_indexing,
    describe_plan,
)
from swarm_bench.app import session
from swarm_bench.app.notices import explain_waiting
from swarm_bench.app.replaying import check_recordable
from swarm_bench.app.result import ComparisonResult, SessionResult, format_continue_command
from swarm_bench.app.session import STOPS, Call, Ready
from swarm_bench.app.setup.agents import build_trial_launch, describe_credential_warning, is_paid
from swarm_bench.app.setup.earlier import build_outlook
from swarm_bench.app.setup.folders import list_answer_places
from swarm_bench.app.setup.own_tasks import render_task_file
from swarm_bench.app.setup.preparation import open_prepared_session
from swarm_bench.app.setup.prepared import PreparedSession
from swarm_bench.app.stored.agents import render_trial_page, write_summary
from swarm_bench.app.trust.approval import list_unapproved, remember_session
from swarm_bench.benchmarks.swarm.benchmark import SwarmBenchmark
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.benchmarks.swarm.ledger import Ledger, make_ledger
from swarm_bench.benchmarks.swarm.overhead_lines import OverheadLines
from swarm_bench.benchmarks.swarm.recordings import Recorder, replay_swarm
from swarm_bench.benchmarks.swarm.run_plan import estimate_seconds, list_commits
from swarm_bench.benchmarks.swarm.running.kit import Kit
from swarm_bench.benchmarks.swarm.running.packing import pack_kit
from swarm_bench.benchmarks.swarm.running.rehearsing import REHEARSAL_LOG, open_rehearsal
from swarm_bench.benchmarks.swarm.running.swarm import run_swarm
from swarm_bench.benchmarks.swarm.running.trial import Delivery, SwarmJob
from swarm_bench.benchmarks.swarm.scorers import Trees, require_known
from swarm_bench.benchmarks.swarm.store import SwarmStore
from swarm_bench.config.compare_options import REPOSITORY
from swarm_bench.config.layers import Resolved
from swarm_bench.core.events import Emit, WarningRaised
from swarm_bench.core.interruption import cancelling
from swarm_bench.core.outcome import Launch
from swarm_bench.core.ports import Scorer
from swarm_bench.core.report.document import RenderedDocument
from swarm_bench.core.report.plan import Plan
from swarm_bench.core.report.report import Report
from swarm_bench.core.roles.executor import (
    OpenedExecutor,
    OpenPacked,
    PackedSession,
    run_here,
)
from swarm_bench.core.session.designs import Design
from swarm_bench.core.session.experiment import Experiment, Task
from swarm_bench.core.session.recording import FOLDER
from swarm_bench.engine.continuing import check_unchanged
from swarm_bench.engine.folder import EXPERIMENT
from swarm_bench.engine.plan import Block, drop_finished, iterate_groups
from swarm_bench.engine.session import run_session
from swarm_bench.retrieval.canopy.backends import SERVICE
from swarm_bench.retrieval.modes.mode import has_placeholder
from swarm_bench.retrieval.modes.secret_parts import redact_secret_parts
from swarm_bench.retrieval.modes.secrets import make_storable
from swarm_bench.runtime.environment import small_environment
from swarm_bench.runtime.files import read_state, remove_parts
from swarm_bench.runtime.ownership import KEPT_FOLDER
from swarm_bench.runtime.processes.launching import require_descriptors

SWARM = SwarmBenchmark()


SwarmExecution = OpenedExecutor[SwarmJob, Delivery]
OpenExecutor = Callable[[Kit], AbstractAsyncContextManager[SwarmExecution]]
"""Opens it, and closes it when they have ended."""


@asynccontextmanager
async def open_local_executor(kit: Kit) -> AsyncIterator[SwarmExecution]:
    """Open what runs swarms in this process."""
    async with open_rehearsal(kit, kit.artefacts.root / REHEARSAL_LOG) as kit:
        yield run_here(partial(run_swarm, kit))


@asynccontextmanager
async def _open_elsewhere(kit: Kit, open_packed: OpenPacked) -> AsyncIterator[SwarmExecution]:
    """Open what runs swarms on other machines."""
    packed = PackedSession(
        benchmark=SWARM.name,
        portable=SWARM,
        context=await pack_kit(kit),
        out=kit.artefacts.root,
        emit=kit.emit,
    )
    async with open_packed(packed) as executor:
        yield executor


@dataclass(frozen=True, kw_only=True)
class AgentCall(Call[SessionFolder, ComparisonResult]):
    """A call of `compare`, `ab` or `calibrate`."""

    resolved: Resolved
    design: Design
    open_executor: OpenExecutor = open_local_executor
    """A recording is always played in this process."""

    @property
    def stem(self) -> str:
        return self.design.stem

    @property
    def on(self) -> str:
        return self.resolved.settings.on

    @property
    def output(self) -> Path | None:
        return self.resolved.settings.output

    @property
    def resume(self) -> Path | None:
        return Path(word) if (word := self.resolved.settings.resume) else None

    def open_folder(self, path: Path) -> SessionFolder:
        return SessionFolder(path)

    def check_unchanged(self, continued: SessionFolder) -> None:
        for stored in self.resolved.continued:
            check_unchanged(stored.folder, stored.state, read_state(stored.folder / EXPERIMENT))

    @asynccontextmanager
    async def prepare(
        self, continued: SessionFolder | None, emit: Emit | None
    ) -> AsyncIterator["AgentReady"]:
        async with open_prepared_session(self.resolved, self.design, continued, emit) as parts:
            check_recordable(self.resolved.settings, parts.experiment)
            require_descriptors(0 if parts.recorded_session else parts.experiment.at_once)
            names = parts.experiment.scorers
            if emit is None:
                require_known(*names or ())
            yield AgentReady(call=self, parts=parts, scorers=SWARM.scorers(names) if emit else ())


@dataclass(kw_only=True)
class AgentReady(Ready[SessionFolder, ComparisonResult]):
    """A session of agents that can run."""

    call: AgentCall
    parts: PreparedSession
    scorers: tuple[Scorer, ...]
    experiment: Experiment = field(init=False)
    """Experiment in its final state: it may say since when its verdict stands."""
    reported: Report | None = None

    def __post_init__(self) -> None:
        self.experiment = self.parts.experiment

    def plan(self, continued: SessionFolder | None) -> Plan:
        return describe_plan(self.planned(continued))

    def planned(self, continued: SessionFolder | None) -> PlannedSession:
        """Return what a plan is made of."""
        parts, resolved = self.parts, self.call.resolved
        finished = continued.records.find_finished() if continued else set()
        rows = tuple(
            (swarm.run, swarm.arm, trial.number, trial.case.title, trial.id in finished)
            for block in self.blocks()
            for swarm in block.groups
            for trial in swarm.trials
        )
        pending = iterate_groups(drop_finished(self.blocks(), set(filter(None, finished))))
        workspaces = Workspaces(
            swarms=tuple((swarm.arm, swarm.commit) for swarm in pending),
            indexing=compute_median_indexing(continued.read_swarms()) if continued else {},
        )
        launches = _list_launches(parts, resolved)
        warning = (
            None if parts.recorded_session else describe_credential_warning(parts.agent, resolved)
        )
        crowded = () if parts.recorded_session else explain_waiting(parts.experiment)
        return PlannedSession(
            experiment=make_storable(parts.experiment),
            rows=rows,
            longest=estimate_seconds(parts.experiment, finished),
            launches=launches,
            warnings=(
                *((warning,) if warning else ()),
                *crowded,
                *parts.experiment.explain_share(resolved.settings.max_cost),
            ),
            workspaces=workspaces,
            outlook=build_outlook(parts, rows, launches, resolved),
        )

    def to_continue(self, folder: SessionFolder) -> str:
        call, service_url = self.call, self.parts.service_url
        on = call.resolved.settings.on
        return format_continue_command(call.design, folder.path, service_url, on)

    def remember(self, emit: Emit) -> None:
        resolved = self.call.resolved
        continued = resolved.settings.resume is not None
        remember_session(self.parts.experiment, resolved, emit, continued=continued)

    async def execute(self, folder: SessionFolder, emit: Emit) -> bool:
        kit = _build_kit(self.parts, folder, emit, self.call.resolved)
        for note in self.experiment.explain_share(self.call.resolved.settings.max_cost):
            emit(WarningRaised(message=note))
        with _open_trees(self.parts) as trees:
            async with self._open_executor(kit) as executor:
                self._note_nodes(executor)
                store = self._store(kit, folder, trees)
                try:
                    return await self._run(store, executor)
                except STOPS as error:  # what holds the rehearsal server would wrap it
                    stopped = error
            raise stopped

    def report(self, folder: SessionFolder) -> RenderedDocument:
        self.reported, summary = write_summary(folder, folder.read())
        return summary

    def blocks(self) -> Sequence[Block[Task]]:
        return SWARM.plan(self.experiment)

    def complete(self, result: SessionResult, folder: SessionFolder) -> ComparisonResult:
        assert self.reported is not None
        kept = self.parts.tools.work / KEPT_FOLDER
        if kept.exists():
            result = replace(result, kept_workspaces=(kept,))
        return ComparisonResult(**vars(result), report=self.reported)

    def _open_executor(self, kit: Kit) -> AbstractAsyncContextManager[SwarmExecution]:
        if self.parts.recorded_session is not None:
            replay = partial(replay_swarm, kit, self.parts.recorded_session)
            return nullcontext(run_here(replay))
        if self.parts.open_packed is not None:
            return _open_elsewhere(kit, self.parts.open_packed)
        return self.call.open_executor(kit)

    def _note_nodes(self, executor: SwarmExecution) -> None:
        """Note in the experiment which machines the trials run on."""
        self.experiment = self.parts.experiment.note_nodes(executor.nodes)
        self.parts = replace(self.parts, experiment=self.experiment)

    async def _run(self, store: SwarmStore, executor: SwarmExecution) -> bool:
        folder, experiment = store.folder, store.experiment
        remove_parts(folder.path)
        if self.parts.previous is not None:
            folder.rearrange(self.parts.previous, experiment)
        folder.write_experiment(make_storable(experiment))
        if experiment.suite == REPOSITORY:
            folder.write_tasks(render_task_file(experiment))
        if store.recorder is not None:
            at = {commit: store.trees.files(commit) for commit in list_commits(experiment)}
            store.recorder.begin(experiment, store.trees.files(None), at)
        _begin_overhead(self.parts, store.overhead)
        is_clear = store.interim_looks.begin()
        try:
            interrupted = await run_session(store, self.blocks(), executor, is_clear)
        finally:
            self.experiment = store.interim_looks.experiment
        folder.make_room()
        folder.write_experiment(make_storable(self.experiment))
        return interrupted

    def _store(self, kit: Kit, folder: SessionFolder, trees: Trees) -> SwarmStore:
        parts, resolved = self.parts, self.call.resolved
        recorder = Recorder(folder.path / FOLDER, resolved.settings.agent) if kit.record else None
        asks = parts.agent.capabilities.reports_usage
        return SwarmStore(
            experiment=parts.experiment,
            folder=folder,
            to_continue=self.to_continue(folder),
            overhead=OverheadLines(folder, recorder, asks=asks),
            trees=trees,
            scorers=self.scorers,
            page=partial(render_trial_page, SWARM.metrics()),
            probes=parts.probes,
            secrets=kit.secrets,
            emit=kit.emit,
            recorder=recorder,
            ledger=_open_ledger(parts, folder, resolved),
            scoring=kit.reader_limiter,
        )


def run(
    resolved: Resolved,
    design: Design,
    emit: Emit,
    open_executor: OpenExecutor = open_local_executor,
) -> ComparisonResult:
    """Run the experiment, or what remains of the one that is continued."""
    call = AgentCall(resolved=resolved, design=design, open_executor=open_executor)
    return session.run(call, emit)


def show_plan(resolved: Resolved, design: Design, width: int | None = None) -> str:
    """Show what `run` would do, at a terminal of that `width`. No agent gets a task."""
    return session.show_plan(AgentCall(resolved=resolved, design=design), width)


def plan_session(resolved: Resolved, design: Design) -> PlannedSession:
    """Prepare what `show_plan` shows."""
    with cancelling():
        return anyio.run(_make_plan, AgentCall(resolved=resolved, design=design))


async def _make_plan(call: AgentCall) -> PlannedSession:
    with session.hold(call, writes=False) as continued:
        async with call.prepare(continued, None) as ready:
            return ready.planned(continued)


def _begin_overhead(ready: PreparedSession, lines: OverheadLines) -> None:
    if ready.recorded_session is None:
        lines.greet(ready.experiment, ready.handshakes)
    else:
        lines.copy(ready.experiment, ready.recorded_session)


def _build_kit(
    ready: PreparedSession, folder: SessionFolder, emit: Emit, resolved: Resolved
) -> Kit:
    settings = resolved.settings
    return Kit(
        experiment=ready.experiment,
        agent=ready.agent,
        agent_spec=settings.agent,
        snapshot=ready.snapshot,
        artefacts=folder.artefacts(ready.experiment),
        tools=ready.tools,
        emit=emit,
        keep_workspaces=settings.keep_workspaces,
        record=settings.record,
        probes=ready.probes,
        answers=list_answer_places(resolved.settings, ready.snapshot.repository, folder.path),
    )


def _open_trees(ready: PreparedSession) -> Trees:
    snapshot, recorded_files = ready.snapshot, None
    if ready.recorded_session is not None:
        at = ready.recorded_session.recording.files_at
        recorded_files = {commit: frozenset(files) for commit, files in at.items()}
    return Trees(repository=snapshot.repository, copy=snapshot, recorded_files=recorded_files)


def _open_ledger(
    ready: PreparedSession, folder: SessionFolder, resolved: Resolved
) -> Ledger | None:
    limit = ready.experiment.share(resolved.settings.max_cost)
    other_sessions = resolved.member.other_sessions if resolved.member else ()
    if limit is None or ready.recorded_session or is_paid(ready.agent, resolved.settings) is False:
        return None  # nobody is billed
    sessions = (folder, *(SessionFolder(session.folder) for session in other_sessions))
    return make_ledger(limit, ready.experiment.prices or {}, sessions)


def _list_launches(ready: PreparedSession, resolved: Resolved) -> Launches:
    """List what is started: agents as in the first mode with a tool, and canopy."""
    launch = _build_launch(ready, resolved)
    return Launches(
        agent=redact_secret_parts(launch.argv) if launch else (),
        variables=sorted(_list_variables(ready, resolved, launch)) if launch else (),
        programs=_list_programs(ready),
        dotenv=sorted(resolved.from_dotenv),
        unapproved=[demand.full_sentence for demand in list_unapproved(resolved)],
        paid=ready.recorded_session is None and is_paid(ready.agent, resolved.settings),
    )


def _build_launch(ready: PreparedSession, resolved: Resolved) -> Launch | None:
    if ready.recorded_session is not None:
        return None
    modes = ready.experiment.modes
    mode = next((mode for mode in modes if mode.servers), modes[0])
    return build_trial_launch(ready.agent, mode, resolved.settings, ready.tools.variables)


def _list_variables(ready: PreparedSession, resolved: Resolved, launch: Launch) -> set[str]:
    environment = small_environment(resolved.environment, launch.inherit)
    return {*environment, *launch.env, *ready.experiment.agent_env}


def _list_programs(ready: PreparedSession) -> Mapping[str, str]:
    used = {name for mode in ready.experiment.modes for name in mode.services}
    if any(has_placeholder(mode, "canopy_mcp") for mode in ready.experiment.modes):
        used.add("canopy-mcp")
    if ready.experiment.service_url:
        used.discard(SERVICE)
    return {name: str(path) for name, path in ready.tools.programs.items() if name in used}

"""A call of `retrieve`, from what was typed to its summary."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any

from swarm_bench.analysis.planning.case_plan import describe_questions
from swarm_bench.app.result import SessionResult, format_on
from swarm_bench.app.session import Call, Ready
from swarm_bench.app.setup.movable import check_movable
from swarm_bench.app.setup.own_tasks import render_task_file
from swarm_bench.app.setup.retrieve import (
    SearchFolder,
    greet_servers,
    open_folder,
    open_kit,
    read_experiment,
)
from swarm_bench.app.stored.past import find_continued_folder, find_newest
from swarm_bench.app.trust.approval import list_unapproved, remember_session
from swarm_bench.benchmarks.retrieve.running import QuestionContext, run_questions
from swarm_bench.benchmarks.swarm.folder import TASKS
from swarm_bench.config.command_line import defaults_of, names_of
from swarm_bench.config.compare_options import REPOSITORY, SCOPES
from swarm_bench.config.layers import Resolved, Settings, Source, read_sources
from swarm_bench.core import entry_points
from swarm_bench.core.events import Emit
from swarm_bench.core.report.plan import Plan
from swarm_bench.core.roles.executor import (
    ExecutorKind,
    OpenedExecutor,
    OpenPacked,
    find_executor,
    run_here,
)
from swarm_bench.core.session.base import Machine
from swarm_bench.core.session.cases import Case, CaseDelivery, CaseJob
from swarm_bench.core.session.designs import RETRIEVE
from swarm_bench.engine.case_running import run_cases
from swarm_bench.engine.continuing import check_unchanged
from swarm_bench.engine.group_store import CaseStore
from swarm_bench.engine.plan import Block, iterate_groups, plan_cases
from swarm_bench.engine.session import run_in_batches
from swarm_bench.retrieval.modes.secrets import drop_keys
from swarm_bench.runtime.files import write_whole


def resolve(typed_options: Mapping[str, Any], config: Path | None = None) -> Resolved:
    """Resolve the options of a call. One that continues a session takes over that session's."""
    option_sources, defaults = read_sources(config), defaults_of(RETRIEVE)
    resolved = _reset_foreign_options(option_sources.resolve(typed_options, defaults=defaults))
    check_movable(resolved.settings)
    resume = resolved.settings.resume
    if resume is None:
        return resolved
    newest, output = partial(find_newest, RETRIEVE.name), resolved.sources["output"]
    folder = open_folder(find_continued_folder(resume, newest, output=output))
    experiment = read_experiment(folder)
    options = {**typed_options, "resume": str(folder.path)}
    taken_over = option_sources.resolve(options, session=experiment.settings, defaults=defaults)
    merged = _reset_foreign_options(taken_over)
    sources = {**merged.sources, "resume": resolved.sources["resume"]}
    return replace(merged, sources=sources, retrieve_session=experiment)


def _reset_foreign_options(resolved: Resolved) -> Resolved:
    """Reset the options that are none of its own, which files may set for other commands; the
    quality of those is one of answers."""
    foreign_names = [*(SCOPES.keys() - names_of(RETRIEVE.name))]
    if resolved.sources["quality"] not in ("command line", "session"):
        foreign_names.append("quality")
    unset = Settings(quality=defaults_of(RETRIEVE)["quality"])
    settings = replace(resolved.settings, **{name: getattr(unset, name) for name in foreign_names})
    sources: dict[str, Source] = {**resolved.sources, **dict.fromkeys(foreign_names, "default")}
    return replace(resolved, settings=settings, sources=sources)


PORTABLE = "swarm_bench.app.running.portable.questions:PortableQuestions"
"""What runs its groups elsewhere; nothing of it is imported otherwise."""
_BATCHES = 1
"""Batches of questions for each place: each is indexed anew."""


@dataclass(frozen=True, kw_only=True)
class RetrieveCall(Call[SearchFolder, SessionResult]):
    """A call of `retrieve`."""

    resolved: Resolved
    executor: ExecutorKind | None = None
    """`None`: the one that the options name."""

    @property
    def stem(self) -> str:
        return RETRIEVE.stem

    @property
    def on(self) -> str:
        return self.resolved.settings.on

    @property
    def output(self) -> Path | None:
        return self.resolved.settings.output

    @property
    def resume(self) -> Path | None:
        return Path(word) if (word := self.resolved.settings.resume) else None

    def open_folder(self, path: Path) -> SearchFolder:
        return open_folder(path)

    def check_unchanged(self, continued: SearchFolder) -> None:
        check_unchanged(continued.path, self.resolved.retrieve_session, read_experiment(continued))

    @asynccontextmanager
    async def prepare(
        self, continued: SearchFolder | None, emit: Emit | None
    ) -> AsyncIterator["RetrieveReady"]:
        finished = frozenset(continued.records.find_finished() if continued else ())
        async with AsyncExitStack() as stack:
            opening = open_kit(self.resolved, any_recorded=bool(finished), emit=emit)
            ready = RetrieveReady(
                resolved=self.resolved, kit=await stack.enter_async_context(opening)
            )
            if emit is not None:
                open_packed = await stack.enter_async_context(self._connect(ready.kit))
                kit = await greet_servers(ready.kit, finished, emit)
                ready = replace(ready, kit=kit, open_packed=open_packed)
            yield ready

    @asynccontextmanager
    async def _connect(self, kit: QuestionContext) -> AsyncIterator[OpenPacked | None]:
        """Reach the nodes, before a server is started; `None` for this process."""
        settings = self.resolved.settings
        if (executor := self.executor or find_executor(settings.on)) is None:
            yield None
            return
        needs = entry_points.load("benchmarks", PORTABLE)().find_needs(kit, settings)
        async with executor.connect(needs, kit.emit) as open_packed:
            yield open_packed


@dataclass(frozen=True, kw_only=True)
class RetrieveReady(Ready[SearchFolder, SessionResult]):
    """Questions that can be put."""

    resolved: Resolved
    kit: QuestionContext
    open_packed: OpenPacked | None = None
    """`None`: its groups run in this process."""

    def plan(self, continued: SearchFolder | None) -> Plan:
        finished = continued.records.find_finished() if continued else set()
        unapproved = [demand.full_sentence for demand in list_unapproved(self.resolved)]
        trials = [trial for group in iterate_groups(self.blocks()) for trial in group.trials]
        return describe_questions(drop_keys(self.kit.experiment), trials, finished, unapproved)

    def to_continue(self, folder: SearchFolder) -> str:
        on = format_on(self.resolved.settings.on)
        return f"swarm-bench {RETRIEVE.name} --continue {quote(str(folder.path))}{on}"

    def remember(self, emit: Emit) -> None:
        continued = self.resolved.settings.resume is not None
        remember_session(self.kit.experiment, self.resolved, emit, continued=continued)

    async def execute(self, folder: SearchFolder, emit: Emit) -> bool:
        experiment = drop_keys(self.kit.experiment)
        folder.write_experiment(experiment)
        if experiment.suite == REPOSITORY:
            write_whole(folder.path / TASKS, render_task_file(self.kit.experiment))
        store = CaseStore(
            experiment=experiment,
            properties={},
            folder=folder,
            to_continue=self.to_continue(folder),
            emit=emit,
            secrets=self.kit.secrets,
        )
        opening = await self._choose_executor(folder)

        def note(nodes: Mapping[str, Machine]) -> None:
            folder.write_experiment(experiment.note_nodes(nodes))

        return await run_in_batches(store, self.blocks(), opening, _BATCHES, note)

    async def _choose_executor(
        self, folder: SearchFolder
    ) -> AbstractAsyncContextManager[OpenedExecutor[CaseJob, CaseDelivery]]:
        """Open what runs the groups. Raises `UsageError` for what cannot be run elsewhere."""
        if self.open_packed is None:
            return nullcontext(run_here(partial(run_cases, partial(run_questions, self.kit))))
        portable = entry_points.load("benchmarks", PORTABLE)()
        settings = self.resolved.settings
        return self.open_packed(await portable.pack(self.kit, settings, folder.path))

    def blocks(self) -> Sequence[Block[Case]]:
        return plan_cases(self.kit.experiment)

    def complete(self, result: SessionResult, folder: SearchFolder) -> SessionResult:
        return result

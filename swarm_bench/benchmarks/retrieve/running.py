"""Runs the questions to one mode: a workspace for each commit, the tool's index, one call after the
other."""

from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from uuid import uuid4

from swarm_bench.benchmarks.retrieve.answers import AnswerSpace, ToolReply, compute_figures
from swarm_bench.benchmarks.retrieve.calls import Caller, QuestionRefused
from swarm_bench.core.errors import HarnessError, IndexFailed, ServiceFailed, StoreError
from swarm_bench.core.events import WORKSPACE, Emit, StepStarted, WarningRaised
from swarm_bench.core.session.cases import (
    CaseEnded,
    CaseGroup,
    CaseJob,
    CaseStarted,
    CaseTrial,
    Deliver,
)
from swarm_bench.core.session.retrieving import RetrieveExperiment
from swarm_bench.core.session.tasks import relevant_files
from swarm_bench.core.status import Cause
from swarm_bench.retrieval.opened_mode import OpenedMode
from swarm_bench.retrieval.preparing import prepare
from swarm_bench.retrieval.tools import Site, Tools
from swarm_bench.runtime.sink import clean_text
from swarm_bench.runtime.workspaces.snapshots import open_snapshot
from swarm_bench.runtime.workspaces.workspace import Snapshot, clone

TAG_BEGIN = "retrieve"
"""How the tag of a server begins that is asked."""
_LONGEST = 300
"""Characters of an error that are shown."""
_MOST_REFUSED = 3
"""Questions after each other that a server does not take, after which the others are not put."""
CAUSES = {IndexFailed: Cause.INDEX_FAILED, ServiceFailed: Cause.SERVICE_FAILED}


@dataclass(frozen=True, kw_only=True)
class QuestionContext:
    """What the questions of a session are put with."""

    experiment: RetrieveExperiment
    """With the keys of its modes."""
    tools: Tools
    snapshot: Snapshot
    emit: Emit
    secrets: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, kw_only=True)
class _Ready:
    """A tool that can be asked."""

    site: Site
    files: Collection[str]
    index_seconds: float | None
    index_bytes: int | None


async def run_questions(context: QuestionContext, job: CaseJob, deliver: Deliver) -> None:
    """Put the questions of a group to its mode. Those of one commit share a workspace and a server.
    Raises `StoreError`."""
    tasks = {case.id: task for case, task, _ in context.experiment.questions()}
    by_commit: defaultdict[str | None, list[CaseTrial]] = defaultdict(list)
    for trial in job.group.trials:
        by_commit[tasks[trial.case.id].commit].append(trial)
    for number, (commit, trials) in enumerate(by_commit.items(), 1):
        step = partial(_emit_step, context, job.group, number, len(by_commit))
        pending = {trial.id: trial for trial in trials}
        try:
            async with _open_ready(context, job, commit, step) as ready:
                await _ask(context, job.group, ready, pending, deliver)
        except StoreError:
            raise
        except HarnessError as error:
            await _fail(context, job.group, error, pending.values(), deliver)


async def _fail(
    context: QuestionContext,
    group: CaseGroup,
    error: HarnessError,
    trials: Collection[CaseTrial],
    deliver: Deliver,
) -> None:
    """Deliver why the other questions could not be put."""
    detail = clean_text(str(error), context.secrets)
    causes = (cause for kind, cause in CAUSES.items() if isinstance(error, kind))
    cause = next(causes, Cause.WORKSPACE_FAILED)
    context.emit(WarningRaised(message=f"run {group.run}, {group.arm}: {detail}"))
    for trial in trials:
        await deliver(CaseEnded(trial=trial, cause=cause, detail=detail))


@asynccontextmanager
async def _open_ready(
    context: QuestionContext, job: CaseJob, commit: str | None, step: Callable[[str], None]
) -> AsyncIterator[_Ready]:
    """Make a workspace for the block, and the tool of the mode ready in it. Raises
    `HarnessError`."""
    mode, work = context.experiment.mode(job.group.arm), context.tools.work
    folder = work / "clone" / (Path(context.experiment.repository.path).name or "repository")
    step(WORKSPACE)
    async with (
        open_snapshot(context.snapshot, commit, work) as snapshot,
        clone(snapshot, folder, keep=None) as workspace,
        OpenedMode(context.tools, mode, workspace, tag=f"{TAG_BEGIN}-{uuid4().hex}") as open_mode,
    ):
        await open_mode.record_files()
        seconds = index_bytes = None
        if mode.services:
            step("service")
            service = await open_mode.start_service(
                log=work / "service.log", secrets=context.secrets
            )
            step("index")
            seconds = await service.index(workspace, context.experiment.index_timeout)
        if mode.can_be_prepared:
            step("index")
            seconds = (seconds or 0.0) + await prepare(open_mode.site)
        if seconds is not None:
            index_bytes = (
                await open_mode.find_changes()
            ).bytes + await open_mode.measure_home_growth()
        yield _Ready(
            site=open_mode.site,
            files=snapshot.files,
            index_seconds=seconds,
            index_bytes=index_bytes,
        )


def _emit_step(
    context: QuestionContext, group: CaseGroup, number: int, total: int, name: str
) -> None:
    context.emit(StepStarted(run=group.run, arm=group.arm, step=name, number=number, total=total))


async def _ask(
    context: QuestionContext,
    group: CaseGroup,
    ready: _Ready,
    pending: dict[str, CaseTrial],
    deliver: Deliver,
) -> None:
    """Put the questions, and take each out of `pending` whose answer, or the want of one, is
    delivered. Raises `HarnessError`."""
    experiment, site = context.experiment, ready.site
    questions = {case.id: (task, form) for case, task, form in experiment.questions()}
    answer_space = AnswerSpace(workspace=str(site.workspace), files=ready.files)
    caller = Caller(site, experiment.searching[site.mode.name], experiment.timeout)
    index = {"index_seconds": ready.index_seconds, "index_bytes": ready.index_bytes}
    async with caller:
        warned, refused = False, 0
        for trial in list(pending.values()):
            task, form = questions[trial.case.id]
            await deliver(CaseStarted(trial=trial))
            started_at = datetime.now(UTC)
            question = task.prompt if form == "sentence" else task.keywords
            try:
                reply = await caller.ask(" ".join(question.split()))  # in one line, as it is typed
            except QuestionRefused as error:
                if (refused := refused + 1) == _MOST_REFUSED:
                    raise
                await _fail(context, group, error, [pending.pop(trial.id)], deliver)
                continue
            refused = 0
            timed = "first_seconds" if reply.first else "later_seconds"
            relevant = relevant_files(task)
            measurements = compute_figures(reply, site.mode.search, answer_space, relevant)
            del pending[trial.id]
            if measurements["failed"] and not warned:
                warned = True
                detail = clean_text(" ".join(reply.text.split()), context.secrets)
                message = f"{trial.arm}: a call failed: {detail[:_LONGEST]}"
                context.emit(WarningRaised(message=message))
            measurements |= {timed: reply.seconds, **index}
            await deliver(_make_end(trial, started_at, reply, measurements))


def _make_end(
    trial: CaseTrial, started_at: datetime, reply: ToolReply, measurements: dict[str, float | None]
) -> CaseEnded:
    return CaseEnded(
        trial=trial,
        cause=Cause.FINISHED,
        started_at=started_at,
        ended_at=datetime.now(UTC),
        wall_seconds=reply.seconds,
        answer=reply.text,
        figures=measurements,
    )

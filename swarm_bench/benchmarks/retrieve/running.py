"""Runs the questions to one mode: a workspace for each commit, the tool's index, one call after the
other."""

from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from uuid import uuid4

import anyio

from swarm_bench.benchmarks.retrieve.answers import Reply, Repository, figures
from swarm_bench.benchmarks.retrieve.calls import Caller, QuestionRefused
from swarm_bench.core.errors import HarnessError, IndexFailed, ServiceFailed, StoreError
from swarm_bench.core.events import WORKSPACE, Emit, StepStarted, Trouble
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
from swarm_bench.retrieval.asking import Asking
from swarm_bench.retrieval.canopy.service import running_service, started_service
from swarm_bench.retrieval.preparing import Site, prepare, tear_down
from swarm_bench.runtime.sink import clean_text
from swarm_bench.runtime.workspaces.inventory import changes, inventory
from swarm_bench.runtime.workspaces.snapshots import snapshot_at
from swarm_bench.runtime.workspaces.workspace import Snapshot, clone

TAG_BEGIN = "retrieve"
"""How the tag of a server begins that is asked."""
_LONGEST = 300
"""Characters of an error that are shown."""
_MOST_REFUSED = 3
"""Questions after each other that a server does not take, after which the others are not put."""
CAUSES = {IndexFailed: Cause.INDEX_FAILED, ServiceFailed: Cause.SERVICE_FAILED}


@dataclass(frozen=True, kw_only=True)
class Kit:
    """What the questions of a session are put with."""

    experiment: RetrieveExperiment
    """With the keys of its modes."""
    asking: Asking
    snapshot: Snapshot
    emit: Emit
    secrets: tuple[str, ...] = field(default=(), repr=False)

    @property
    def work(self) -> Path:
        """Our own folder for clones and homes."""
        return self.asking.homes.work


@dataclass(frozen=True, kw_only=True)
class _Ready:
    """A tool that can be asked."""

    site: Site
    files: Collection[str]
    index_seconds: float | None
    index_bytes: int | None


async def run_questions(kit: Kit, job: CaseJob, deliver: Deliver) -> None:
    """Put the questions of a group to its mode. Those of one commit share a workspace and a server.
    Raises `StoreError`."""
    tasks = {case.id: task for case, task, _ in kit.experiment.questions()}
    by_commit: defaultdict[str | None, list[CaseTrial]] = defaultdict(list)
    for trial in job.group.trials:
        by_commit[tasks[trial.case.id].commit].append(trial)
    for number, (commit, trials) in enumerate(by_commit.items(), 1):
        step = partial(_step, kit, job.group, number, len(by_commit))
        pending = {trial.id: trial for trial in trials}
        try:
            async with _ready(kit, job, commit, step) as ready:
                await _ask(kit, job.group, ready, pending, deliver)
        except StoreError:
            raise
        except HarnessError as error:
            await _fail(kit, job.group, error, pending.values(), deliver)


async def _fail(
    kit: Kit,
    group: CaseGroup,
    error: HarnessError,
    trials: Collection[CaseTrial],
    deliver: Deliver,
) -> None:
    """Deliver why the other questions could not be put."""
    detail = clean_text(str(error), kit.secrets)
    causes = (cause for kind, cause in CAUSES.items() if isinstance(error, kind))
    cause = next(causes, Cause.WORKSPACE_FAILED)
    kit.emit(Trouble(message=f"run {group.run}, {group.arm}: {detail}"))
    for trial in trials:
        await deliver(CaseEnded(trial=trial, cause=cause, detail=detail))


@asynccontextmanager
async def _ready(
    kit: Kit, job: CaseJob, commit: str | None, step: Callable[[str], None]
) -> AsyncIterator[_Ready]:
    """Make a workspace for the block, and the tool of the mode ready in it. Raises
    `HarnessError`."""
    mode, asking = kit.experiment.mode(job.group.arm), kit.asking
    async with AsyncExitStack() as stack:
        step(WORKSPACE)
        snapshot = await stack.enter_async_context(snapshot_at(kit.snapshot, commit, kit.work))
        name = Path(kit.experiment.repository.path).name or "repository"
        workspace = await stack.enter_async_context(
            clone(snapshot, kit.work / "clone" / name, keep=None)
        )
        opened = asking.homes.opened("home", keep=mode.keep, of=mode.name)
        home = await stack.enter_async_context(opened)
        site = replace(asking.site(mode, workspace, home), tag=f"{TAG_BEGIN}-{uuid4().hex}")
        before = await anyio.to_thread.run_sync(inventory, workspace)
        home_before = await anyio.to_thread.run_sync(_size_of_home, kit, home)

        async def end() -> None:
            await tear_down(site)  # by then it has the address of the service

        stack.push_async_callback(end)
        site, seconds = await _served(kit, stack, site, step)
        if mode.can_be_prepared:
            step("index")
            seconds = (seconds or 0.0) + await prepare(site)
        made = None
        if seconds is not None:
            change = changes(before, await anyio.to_thread.run_sync(inventory, workspace))
            more = await anyio.to_thread.run_sync(_size_of_home, kit, home) - home_before
            made = change.bytes + max(0, more)
        yield _Ready(site=site, files=snapshot.files, index_seconds=seconds, index_bytes=made)


def _step(kit: Kit, group: CaseGroup, number: int, total: int, name: str) -> None:
    kit.emit(StepStarted(run=group.run, arm=group.arm, step=name, number=number, total=total))


def _size_of_home(kit: Kit, home: Mapping[str, str]) -> int:
    """Measure the home of the servers; 0 for the user's own, which has other things in it."""
    folder = Path(home.get("HOME", "/")).resolve()
    if not folder.is_relative_to(kit.work.resolve()):
        return 0
    return sum(entry.size for entry in inventory(folder).values())


async def _served(
    kit: Kit, stack: AsyncExitStack, site: Site, step: Callable[[str], None]
) -> tuple[Site, float | None]:
    """Start the service of the mode, if it has one, and have it index. Returns the site with the
    way to it, and the seconds that indexing took."""
    mode, asking = site.mode, kit.asking
    if not mode.services:
        return site, None
    step("service")
    url = asking.service_url
    service = await stack.enter_async_context(
        running_service(url)
        if url
        else started_service(
            asking.service_command(site.home, mode),
            log=kit.work / "service.log",
            secrets=kit.secrets,
        )
    )
    step("index")
    seconds = await service.index(site.workspace, kit.experiment.index_timeout)
    values = {**site.values, "service_url": service.url}
    return replace(site, values=values, env={**site.env, **service.variables}), seconds


async def _ask(
    kit: Kit, group: CaseGroup, ready: _Ready, pending: dict[str, CaseTrial], deliver: Deliver
) -> None:
    """Put the questions, and take each out of `pending` whose answer, or the want of one, is
    delivered. Raises `HarnessError`."""
    experiment, site = kit.experiment, ready.site
    asked = {case.id: (task, form) for case, task, form in experiment.questions()}
    here = Repository(workspace=str(site.workspace), files=ready.files)
    caller = Caller(site, experiment.searching[site.mode.name], experiment.timeout)
    index = {"index_seconds": ready.index_seconds, "index_bytes": ready.index_bytes}
    async with caller:
        warned, refused = False, 0
        for trial in list(pending.values()):
            task, form = asked[trial.case.id]
            await deliver(CaseStarted(trial=trial))
            began = datetime.now(UTC)
            question = task.prompt if form == "sentence" else task.keywords
            try:
                reply = await caller.ask(" ".join(question.split()))  # in one line, as it is typed
            except QuestionRefused as error:
                if (refused := refused + 1) == _MOST_REFUSED:
                    raise
                await _fail(kit, group, error, [pending.pop(trial.id)], deliver)
                continue
            refused = 0
            timed = "first_seconds" if reply.first else "later_seconds"
            measured = figures(reply, site.mode.search, here, relevant_files(task))
            del pending[trial.id]
            if measured["failed"] and not warned:
                warned = True
                detail = clean_text(" ".join(reply.text.split()), kit.secrets)
                kit.emit(Trouble(message=f"{trial.arm}: a call failed: {detail[:_LONGEST]}"))
            measured |= {timed: reply.seconds, **index}
            await deliver(_ended(trial, began, reply, measured))


def _ended(
    trial: CaseTrial, began: datetime, reply: Reply, measured: dict[str, float | None]
) -> CaseEnded:
    return CaseEnded(
        trial=trial,
        cause=Cause.FINISHED,
        started_at=began,
        ended_at=datetime.now(UTC),
        wall_seconds=reply.seconds,
        answer=reply.text,
        figures=measured,
    )

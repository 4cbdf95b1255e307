"""Runs the questions to one mode: a workspace for each commit, the tool's index, one call of its
search after the other. A server that ended is started again."""

import re
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

import anyio

from swarm_bench.benchmarks.retrieve.answers import (
    AnswerSpace,
    ToolReply,
    compute_figures,
    join_replies,
)
from swarm_bench.core.errors import HarnessError, IndexFailed, ServiceFailed, StoreError
from swarm_bench.core.events import WORKSPACE, Emit, StepStarted, WarningRaised
from swarm_bench.core.ports import ToolSpec
from swarm_bench.core.session.cases import (
    CaseEnded,
    CaseGroup,
    CaseJob,
    CaseStarted,
    CaseTrial,
    Deliver,
)
from swarm_bench.core.session.retrieving import RetrieveExperiment, Searching
from swarm_bench.core.session.tasks import relevant_files
from swarm_bench.core.status import Cause
from swarm_bench.models.servers.explanations import refusal_in_text
from swarm_bench.retrieval.modes.mode import fill_search_calls
from swarm_bench.retrieval.opened_mode import OpenedMode
from swarm_bench.retrieval.preparing import prepare
from swarm_bench.retrieval.tools import Site, Tools
from swarm_bench.runtime.sink import clean_text
from swarm_bench.runtime.workspaces.snapshots import PackedSnapshot, open_snapshot
from swarm_bench.runtime.workspaces.workspace import Snapshot, clone
from swarm_bench.text import tool_roles
from swarm_bench.text.answer_kinds import kind_of
from swarm_bench.text.terms import terms_of

TAG_BEGIN = "retrieve"
"""Beginning of the tag of a server that is asked."""
_LONGEST = 300
"""Characters of an error that are shown."""
_MOST_REFUSED = 3
"""Questions after each other that a server does not take, after which the others are not put."""
CAUSES = {IndexFailed: Cause.INDEX_FAILED, ServiceFailed: Cause.SERVICE_FAILED}


@dataclass(frozen=True, kw_only=True)
class QuestionContext:
    """What the questions of a session are put with."""

    experiment: RetrieveExperiment
    """Experiment with the keys of its modes."""
    tools: Tools
    snapshot: Snapshot
    emit: Emit
    secrets: tuple[str, ...] = field(default=(), repr=False)
    commits: Mapping[str, PackedSnapshot] = field(default_factory=dict, repr=False)
    """Copies of the repository at the commits of tasks, where the repository itself is not."""


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
        open_snapshot(context.snapshot, commit, work, context.commits) as snapshot,
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


if TYPE_CHECKING:
    from swarm_bench.runtime.mcp.client import Answer, Connection


_OF_NO_CALL = frozenset({Cause.NO_CREDIT, Cause.NOT_AUTHORIZED, Cause.RATE_LIMITED})
"""Causes that lie with the caller: servers that ask a service elsewhere pass them on as errors."""
_ERROR_PREFIX = re.compile(
    r"(?:\W|(?:error (?:executing|calling) tool|tool) \S+(?: failed)?:|mcp error -?\d+:"
    r"|[\w ]{0,30}\b(?:error|failed|exception):)*",
    re.IGNORECASE,
)
"""Beginning of a tool's report of its trouble, as libraries write it."""
_QUOTED = re.compile(
    r"(?<!\w)([\"'`])(?!\d{3} )[^\n]{0,300}?\1(?!\w)|(?!https?:)\S*(?:\w[/\\]|\w\.[a-zA-Z])\S*"
    r"|\w*[a-z][A-Z]\w*"
)
"""Texts that an error quotes, and the files and the parts of a program that it names."""
_PLAIN_REFUSAL = re.compile(
    r"(?:unauthori[sz]ed|forbidden|payment required|authentication (?:is )?(?:required|failed)|"
    r"not (?:authenticated|authori[sz]ed|logged in))\b",
    re.IGNORECASE,
)
"""How those begin that have no state of HTTP beside them."""
_MAX_REASON = 500
"""Characters of an error that have its reason."""
_LEAST = 0.1
"""Seconds that a call has, where those before it have used up the time of their question."""


class QuestionRefused(ServiceFailed):
    """A server took no question, whatever it asks: it answers no client at present, or not us."""


class Caller:
    """Asks one question after the other, for the block."""

    def __init__(self, site: Site, searching: Searching, timeout: float) -> None:
        self._site = site
        self._searching = searching
        self._timeout = timeout
        """Seconds for each call."""
        self._stack = AsyncExitStack()
        self._connection: Connection | None = None
        self._fresh = False
        """Whether the server has had no call yet."""

    async def __aenter__(self) -> Self:
        """Start the server. Raises `ServiceFailed`."""
        await self._connect()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._disconnect()

    async def ask(self, question: str) -> ToolReply:
        """Put a question. A call that ends with an error, or too late, is a reply that says so.
        Where the server ended or is late, the next one has a new server; where its session ended,
        so has the same one. Raises `ServiceFailed` when that does not start, and
        `QuestionRefused`."""
        if (reply := await self._ask(question, may_restart=True)) is None:
            reply = await self._ask(question, may_restart=False)
        assert reply is not None
        return reply

    async def _ask(self, question: str, *, may_restart: bool) -> ToolReply | None:
        """Put a question; `None` where the server was ended with its session. Raises
        `ServiceFailed`."""
        from swarm_bench.runtime.mcp.client import (  # half a second of imports
            CallRefused,
            ServerFailed,
            SessionEnded,
        )

        connection = self._connection or await self._connect()
        first, self._fresh = self._fresh, False
        answers, deadline = list[ToolReply](), anyio.current_time() + self._timeout
        for arguments in self._list_calls(connection, question):
            started, waited, failed = anyio.current_time(), 0.0, True
            try:
                answer = await self._call(connection, arguments, deadline - started)
                text, waited, failed = answer.text, answer.waited, answer.is_error
            except CallRefused as error:
                text = str(error)
                if may_restart and isinstance(error, SessionEnded):
                    await self._disconnect(error)
                    return None
            except ServerFailed as error:
                elapsed = anyio.current_time() - started + sum(reply.seconds for reply in answers)
                text = await self._disconnect(error)
                return ToolReply(text=text, seconds=elapsed, failed=True, first=first)
            if turns_away(text, question, failed=failed):
                raise self._make_refusal(
                    clean_text(" ".join(text.split()), self._site.secrets)[:_MAX_REASON]
                )
            seconds = anyio.current_time() - started - waited
            answers.append(ToolReply(text=text, seconds=seconds, failed=failed))
            deadline += waited
        return join_replies(answers, first=first)

    async def _call(
        self, connection: "Connection", arguments: dict[str, Any], seconds: float
    ) -> "Answer":
        """Make one call. Raises `QuestionRefused` and `ServerFailed`."""
        from swarm_bench.runtime.mcp.client import TurnedAway

        try:
            return await connection.call(
                self._searching.tool, arguments, seconds=max(_LEAST, seconds), may_repeat=True
            )
        except TurnedAway as error:
            raise self._make_refusal(str(error)) from error

    def _make_refusal(self, clause: str) -> QuestionRefused:
        name = self._searching.server
        return QuestionRefused(
            f"The MCP server {name!r} took no question: {clause}; see what it needs, and use "
            "--continue"
        )

    async def _connect(self) -> "Connection":
        from swarm_bench.runtime.mcp.client import ServerFailed

        name = self._searching.server
        try:
            server = self._site.start_server(name)
            self._connection = await self._stack.enter_async_context(server)
        except ServerFailed as error:
            raise ServiceFailed(
                f"The MCP server {name!r} does not start: {error}; fix it, and use --continue"
            ) from error
        self._fresh = True
        return self._connection

    async def _disconnect(self, error: Exception | None = None) -> str:
        """End the server. Returns the error for which that is done, with its last words."""
        from swarm_bench.runtime.mcp.client import ServerFailed

        self._connection = None
        kind, traceback = (type(error), error.__traceback__) if error else (None, None)
        try:
            await self._stack.__aexit__(kind, error, traceback)
        except ServerFailed as told:
            return str(told)
        return str(error or "")

    def _list_calls(self, connection: "Connection", question: str) -> list[dict[str, Any]]:
        """List the arguments of the calls that a question takes."""
        site = self._site
        if not self._searching.recognised:
            return fill_search_calls(site.mode, question, site.values, site.tools.variables)
        tool = next(tool for tool in connection.tools if tool.name == self._searching.tool)
        return [recognise_arguments(tool, question, str(site.workspace))]


def turns_away(text: str, question: str, *, failed: bool) -> bool:
    """Tell whether an error, of a call that failed or in words, says in the server's own words that
    it lacks money or a key, or is asked too often."""
    if not failed and kind_of(text) != "error":
        return False
    text = re.sub(re.escape(question), "", text[:_MAX_REASON].strip(), flags=re.IGNORECASE)
    if not text.startswith("{"):
        begin = _ERROR_PREFIX.match(text)
        text = _QUOTED.sub("", text[begin.end() if begin else 0 :].split("\n")[0])
    return bool(_PLAIN_REFUSAL.match(text)) or refusal_in_text(text).cause in _OF_NO_CALL


def recognise_arguments(tool: ToolSpec, question: str, workspace: str) -> dict[str, Any]:
    """Fill in the search of a tool that no mode file describes: the question as it is, or its terms
    where the tool takes a pattern or a name."""
    terms = terms_of(question)
    if terms and tool_roles.takes_expression(tool):
        return tool_roles.search_arguments(tool, terms, workspace)
    name = tool_roles.query(tool) or "query"
    value = [question] if tool_roles.kind(tool, name) == "array" else question
    return tool_roles.complete_arguments(tool, {name: value}, workspace)

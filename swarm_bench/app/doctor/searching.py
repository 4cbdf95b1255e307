"""Asks the tool of a mode one real question, in a clone of the user's repository, and looks whether
what it answers is there."""

from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import anyio

from swarm_bench.analysis.wording import amount
from swarm_bench.app.doctor.naming import frequent_name
from swarm_bench.app.preflight.handshake import needs_preparation
from swarm_bench.config.settings import Settings
from swarm_bench.core.checks import Check, State
from swarm_bench.core.errors import HarnessError, SwarmBenchError, UsageError
from swarm_bench.core.ports import ToolSpec
from swarm_bench.core.session.experiment import Mode
from swarm_bench.models import tool_roles
from swarm_bench.models.answer_kinds import kind_of
from swarm_bench.models.lexical.terms import Term
from swarm_bench.retrieval.asking import Asking
from swarm_bench.retrieval.canopy.service import Service, started_service
from swarm_bench.retrieval.locations import Unreadable, files_of, read_locations
from swarm_bench.retrieval.modes.mode import search_calls
from swarm_bench.retrieval.preparing import Site, call, prepare, tear_down
from swarm_bench.runtime.sink import clean_text
from swarm_bench.runtime.workspaces.git import try_git
from swarm_bench.runtime.workspaces.workspace import Snapshot, clone, take_snapshot

SHOWN_LETTERS = 120
"""What of an answer is shown when nothing can be made of it."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked, and where."""

    snapshot: Snapshot
    query: str
    prepare_seconds: float = 60.0
    """A tool that takes longer to index, or to warm up, is not asked."""
    answer_seconds: float = 60.0


class _Skipped(Exception):
    """Why a tool was not asked: a clause."""


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """A tool's answer."""

    workspace: str
    tool: str
    text: str
    is_error: bool
    seconds: float


async def make_question(settings: Settings, work: Path) -> Question:
    """Choose a frequent name of the repository. Raises `SwarmBenchError` where none can be had."""
    repo = settings.repo
    if repo == Path() and (await try_git("rev-parse", "--git-dir", cwd=repo)).returncode != 0:
        # Whoever did not name it may stand in a home.
        raise UsageError("the working folder is not a git checkout; name a repository with --repo")
    snapshot = await take_snapshot(repo, work / "snapshot.git", dirty=False, named=repo != Path())
    async with clone(snapshot, work / "reading", keep=None) as workspace:
        query = await anyio.to_thread.run_sync(frequent_name, workspace, snapshot.files)
    return Question(snapshot=snapshot, query=query or repo.resolve().name)


async def check_search(asking: Asking, mode: Mode, question: Question) -> Check:
    """Check that the search of a mode that was greeted answers with places that exist."""
    about = f"search {mode.name}"
    name = Path(question.snapshot.repository.path).name or "repository"
    folder = asking.homes.work / "search" / name
    try:
        async with clone(question.snapshot, folder, keep=None) as workspace:
            asked = await _ask(asking, mode, workspace, question)
    except _Skipped as reason:
        return Check(about=about, state=State.WARNING, finding=f"not asked: {reason}")
    except SwarmBenchError as error:
        return Check(about=about, state=State.PROBLEM, finding=str(error))
    shown = " ".join(clean_text(asked.text, asking.secrets(mode)).split())[:SHOWN_LETTERS]
    return _judge(mode, question, asked, shown)


async def _ask(asking: Asking, mode: Mode, workspace: Path, question: Question) -> _Asked:
    """Ask it, and tear it down as a session does: however it went, and after its service."""
    if mode.services and asking.service_url is not None:
        raise _Skipped("the service is one that others may use, and would keep the repository")
    async with asking.homes.opened("home-search", keep=mode.keep, of=mode.name) as home:
        site = asking.site(mode, workspace, home)
        site = replace(site, tag=f"doctor-{uuid4().hex}")
        try:
            async with _service(asking, mode, workspace, home, question.prepare_seconds) as service:
                if service is not None:
                    values = {**site.values, "service_url": service.url}
                    site = replace(site, home={**home, **service.variables}, values=values)
                if needs_preparation(mode):
                    await _in_time("its preparation", prepare(site), question.prepare_seconds)
                if mode.warm_up is not None:
                    warmed = call(site, mode.warm_up)
                    await _in_time("its warm-up", warmed, question.prepare_seconds)
                return await _answer(site, question)
        finally:
            await tear_down(site)


@asynccontextmanager
async def _service(
    asking: Asking, mode: Mode, workspace: Path, home: Mapping[str, str], seconds: float
) -> AsyncIterator[Service | None]:
    """Start a service that indexes the workspace; `None` for a mode that needs none."""
    if not mode.services:
        yield None
        return
    command = asking.service_command(home, mode)
    log = asking.homes.work / "search.log"
    async with started_service(command, log=log, secrets=asking.secrets(mode)) as service:
        await _in_time("indexing", service.index(workspace, 2 * seconds), seconds)
        yield service


async def _in_time(what: str, work: Awaitable[float], seconds: float) -> None:
    """Wait so long at most. Raises `_Skipped` for what is not done then."""
    with anyio.move_on_after(seconds) as limit:
        await work
    if limit.cancelled_caught:
        raise _Skipped(f"{what} takes more than {seconds:g} s here")


async def _answer(site: Site, question: Question) -> _Asked:
    """Ask the first server that has the mode's search, or one that searches by its schema."""
    from swarm_bench.runtime.mcp.client import LateAnswer, ServerFailed, own_server

    for name, config in site.servers.items():
        try:
            async with own_server(
                config, env=site.env, cwd=site.workspace, tag=site.tag, secrets=site.secrets,
                seconds=site.mode.start_seconds,
            ) as server:  # fmt: skip
                search = _search_of(site, server.tools, question.query)
                if search is None:
                    continue
                tool, arguments = search
                shown = clean_text(tool, site.secrets)
                started = anyio.current_time()
                answer = await server.call(
                    tool, arguments, seconds=question.answer_seconds, may_repeat=True
                )
                return _Asked(
                    workspace=str(site.workspace),
                    tool=shown,
                    text=answer.text,
                    is_error=answer.is_error,
                    seconds=anyio.current_time() - started - answer.waited,
                )
        except LateAnswer as error:
            raise _Skipped(f"{shown} gave {error}") from error
        except ServerFailed as error:
            raise HarnessError(f"the server {name!r} could not be asked: {error}") from error
    raise _Skipped("no tool of it is known to search; name one in its file, as swarmBench.search")


def _search_of(
    site: Site, tools: tuple[ToolSpec, ...], query: str
) -> tuple[str, dict[str, Any]] | None:
    """Choose the tool that searches, and its arguments."""
    mode, by_name = site.mode, {tool.name: tool for tool in tools}
    if mode.search is not None:
        if mode.search.tool not in by_name:
            return None
        return mode.search.tool, search_calls(mode, query, site.values, site.variables)[0]
    searching = [tool for tool in tools if tool_roles.role(tool.name, tool) == "search"]
    if not searching:
        return None
    best = max(searching, key=lambda tool: tool_roles.worth(tool.name, tool))
    term = Term(word=query, roots=(query,), weight=1)
    return best.name, tool_roles.search_arguments(best, [term], str(site.workspace))


def _judge(mode: Mode, question: Question, asked: _Asked, shown: str) -> Check:
    """Judge an answer; `shown` is its beginning, without secrets."""
    about = f"search {mode.name}"
    what = f"{asked.tool}, asked for {question.query!r},"
    if asked.is_error or kind_of(asked.text) == "error":
        advice = f"correct {mode.source}, or see what the tool needs"
        finding = f"{what} failed: {shown or 'it gave no reason'}"
        return Check(about=about, state=State.PROBLEM, finding=finding, advice=advice)
    took = f"{what} answered in {asked.seconds:.1f} s"
    advice = f"look how places are read from it: swarmBench.search in {mode.source}"
    try:
        places = read_locations(asked.text, mode.search, asked.workspace, question.snapshot.files)
    except Unreadable as error:
        finding = f"{took}, and {error}: {shown}"
        return Check(about=about, state=State.WARNING, finding=finding, advice=advice)
    existing = sum(location.exists for location in places)
    if not existing:
        finding = f"{took}, and names no file of the repository: {shown or 'the answer is empty'}"
        return Check(about=about, state=State.WARNING, finding=finding, advice=advice)
    some = f"{existing} of {amount(len(places), 'place')} in the answer"
    exist = "exists" if existing == 1 else "exist"
    finding = f"{took}; {some} {exist}, in {amount(len(files_of(places)), 'file')}"
    return Check(about=about, state=State.OK, finding=finding)

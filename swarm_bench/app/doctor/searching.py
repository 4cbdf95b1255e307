"""Asks the tool of a mode one real question, in a clone of the user's repository, and looks whether
what it answers is there."""

import re
from collections import Counter
from collections.abc import Awaitable, Collection
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from uuid import uuid4

import anyio

from swarm_bench.analysis.wording import quantify
from swarm_bench.app.preflight import needs_preparation
from swarm_bench.config.layers import Settings
from swarm_bench.core.errors import HarnessError, SwarmBenchError, UsageError
from swarm_bench.core.listing import Check, State
from swarm_bench.core.ports import ToolSpec
from swarm_bench.core.session.experiment import Mode
from swarm_bench.retrieval.locations import Unreadable, list_files, read_locations
from swarm_bench.retrieval.modes.mode import fill_search_calls
from swarm_bench.retrieval.opened_mode import OpenedMode
from swarm_bench.retrieval.preparing import call, prepare
from swarm_bench.retrieval.tools import Site, Tools
from swarm_bench.runtime.sink import clean_text
from swarm_bench.runtime.untrusted import read
from swarm_bench.runtime.workspaces.git import try_git
from swarm_bench.runtime.workspaces.workspace import Snapshot, clone, take_snapshot
from swarm_bench.text import tool_roles
from swarm_bench.text.answer_kinds import kind_of
from swarm_bench.text.terms import Term

SHOWN_LETTERS = 120
"""Length of the excerpt of an answer that cannot be read."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """Query for a search tool, and the repository that it is about."""

    snapshot: Snapshot
    query: str
    prepare_seconds: float = 60.0
    """A tool that takes longer to index, or to warm up, is not asked."""
    answer_seconds: float = 60.0


class _Skipped(Exception):
    """Reason why a tool was not asked: a clause."""


@dataclass(frozen=True, kw_only=True)
class _SearchReply:
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
    snapshot = await take_snapshot(
        repo, work / "snapshot.git", dirty=False, is_named=repo != Path()
    )
    async with clone(snapshot, work / "reading", keep=None) as workspace:
        query = await anyio.to_thread.run_sync(find_frequent_name, workspace, snapshot.files)
    return Question(snapshot=snapshot, query=query or repo.resolve().name)


async def check_search(tools: Tools, mode: Mode, question: Question) -> Check:
    """Check that the search of a mode that was greeted answers with places that exist."""
    subject = f"search {mode.name}"
    name = Path(question.snapshot.repository.path).name or "repository"
    folder = tools.work / "search" / name
    try:
        async with clone(question.snapshot, folder, keep=None) as workspace:
            reply = await _ask(tools, mode, workspace, question)
    except _Skipped as reason:
        return Check(about=subject, state=State.WARNING, finding=f"not asked: {reason}")
    except SwarmBenchError as error:
        return Check(about=subject, state=State.PROBLEM, finding=str(error))
    excerpt = " ".join(clean_text(reply.text, tools.collect_secrets(mode)).split())[:SHOWN_LETTERS]
    return _judge(mode, question, reply, excerpt)


async def _ask(tools: Tools, mode: Mode, workspace: Path, question: Question) -> _SearchReply:
    if mode.services and tools.service_url is not None:
        raise _Skipped("the service is one that others may use, and would keep the repository")
    seconds, tag = question.prepare_seconds, f"doctor-{uuid4().hex}"
    async with OpenedMode(tools, mode, workspace, home="home-search", tag=tag) as opened_mode:
        if mode.services:
            log = tools.work / "search.log"
            service = await opened_mode.start_service(log=log, secrets=opened_mode.site.secrets)
            await _wait("indexing", service.index(workspace, 2 * seconds), seconds)
        if needs_preparation(mode):
            await _wait("its preparation", prepare(opened_mode.site), seconds)
        if mode.warm_up is not None:
            await _wait("its warm-up", call(opened_mode.site, mode.warm_up), seconds)
        return await _ask_server(opened_mode.site, question)


async def _wait(step: str, work: Awaitable[float], seconds: float) -> None:
    """Wait so long at most. Raises `_Skipped` for what is not done then."""
    with anyio.move_on_after(seconds) as limit:
        await work
    if limit.cancelled_caught:
        raise _Skipped(f"{step} takes more than {seconds:g} s here")


async def _ask_server(site: Site, question: Question) -> _SearchReply:
    """Ask the first server that has the mode's search, or one that searches by its schema."""
    from swarm_bench.runtime.mcp.client import LateAnswer, ServerFailed

    for name in site.mode.servers:
        try:
            async with site.start_server(name) as server:
                search = _choose_search(site, server.tools, question.query)
                if search is None:
                    continue
                tool, arguments = search
                tool_label = clean_text(tool, site.secrets)
                started = anyio.current_time()
                answer = await server.call(
                    tool, arguments, seconds=question.answer_seconds, may_repeat=True
                )
                return _SearchReply(
                    workspace=str(site.workspace),
                    tool=tool_label,
                    text=answer.text,
                    is_error=answer.is_error,
                    seconds=anyio.current_time() - started - answer.waited,
                )
        except LateAnswer as error:
            raise _Skipped(f"{tool_label} gave {error}") from error
        except ServerFailed as error:
            raise HarnessError(f"the server {name!r} could not be asked: {error}") from error
    raise _Skipped("no tool of it is known to search; name one in its file, as swarmBench.search")


def _choose_search(
    site: Site, tools: tuple[ToolSpec, ...], query: str
) -> tuple[str, dict[str, Any]] | None:
    """Choose the tool that searches, and its arguments."""
    mode, by_name = site.mode, {tool.name: tool for tool in tools}
    if mode.search is not None:
        if mode.search.tool not in by_name:
            return None
        return mode.search.tool, fill_search_calls(mode, query, site.values, site.tools.variables)[
            0
        ]
    searching = [tool for tool in tools if tool_roles.role(tool.name, tool) == "search"]
    if not searching:
        return None
    best = max(searching, key=lambda tool: tool_roles.rate_tool(tool.name, tool))
    term = Term(word=query, roots=(query,), weight=1)
    return best.name, tool_roles.search_arguments(best, [term], str(site.workspace))


def _judge(mode: Mode, question: Question, reply: _SearchReply, excerpt: str) -> Check:
    """Judge an answer; `excerpt` is its beginning, without secrets."""
    subject = f"search {mode.name}"
    request = f"{reply.tool}, asked for {question.query!r},"
    if reply.is_error or kind_of(reply.text) == "error":
        advice = f"correct {mode.source}, or see what the tool needs"
        finding = f"{request} failed: {excerpt or 'it gave no reason'}"
        return Check(about=subject, state=State.PROBLEM, finding=finding, advice=advice)
    took = f"{request} answered in {reply.seconds:.1f} s"
    advice = f"look how places are read from it: swarmBench.search in {mode.source}"
    try:
        places = read_locations(reply.text, mode.search, reply.workspace, question.snapshot.files)
    except Unreadable as error:
        finding = f"{took}, and {error}: {excerpt}"
        return Check(about=subject, state=State.WARNING, finding=finding, advice=advice)
    existing = sum(location.exists for location in places)
    if not existing:
        finding = f"{took}, and names no file of the repository: {excerpt or 'the answer is empty'}"
        return Check(about=subject, state=State.WARNING, finding=finding, advice=advice)
    share = f"{existing} of {quantify(len(places), 'place')} in the answer"
    exist = "exists" if existing == 1 else "exist"
    finding = f"{took}; {share} {exist}, in {quantify(len(list_files(places)), 'file')}"
    return Check(about=subject, state=State.OK, finding=finding)


MOST_FILES = 3000
LARGEST_FILE = 200_000
"""Bytes; what is larger is seldom written by hand."""
SHORTEST = 6
"""Letters of a name that says something."""
_DEFINED = re.compile(
    r"\b(?:class|def|fn|func|function|struct|interface|trait|type|enum|module)\s+([A-Za-z_]\w*)"
)
_PARTS = re.compile(r"[a-z0-9][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]")
"""Between two words of a name, which no sentence has."""
_NAME = re.compile(r"[A-Za-z_]\w*")


def find_frequent_name(root: Path, files: Collection[str]) -> str | None:
    """Find the name that is defined once and used in the most files, of several words if there is
    such a name; else the stem of a file. `None` for a repository without any name."""
    texts = [text for path in sorted(files)[:MOST_FILES] if (text := _read_text(root / path))]
    defined: Counter[str] = Counter(name for text in texts for name in _DEFINED.findall(text))
    once = {name for name, times in defined.items() if times == 1 and _is_meaningful(name)}
    once = set(filter(_PARTS.search, once)) or once
    used: Counter[str] = Counter(name for text in texts for name in once & set(_NAME.findall(text)))
    if used:
        return min(used, key=lambda name: (-used[name], name))
    stems = sorted(stem for path in files if _is_meaningful(stem := PurePosixPath(path).stem))
    return stems[0] if stems else None


def _is_meaningful(name: str) -> bool:
    return len(name) >= SHORTEST and not name.startswith("_")


def _read_text(path: Path) -> str:
    """Read the text of a file; empty for what is no file, too large, or no text."""
    try:
        content = read(path, LARGEST_FILE)
    except OSError:
        return ""
    return "" if b"\0" in content else content.decode("utf-8", "replace")

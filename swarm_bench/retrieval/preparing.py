"""Makes a clone ready for a mode's tool outside of its agents' time: its preparation, such as an
index, its warm-up, and afterwards its teardown."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

from swarm_bench.core.errors import ConfigError, IndexFailed, ProcessLost, UsageError
from swarm_bench.core.session.experiment import Mode, ToolCall
from swarm_bench.retrieval.modes.mode import render
from swarm_bench.retrieval.modes.variables import PLACEHOLDERS
from swarm_bench.retrieval.tools import Site
from swarm_bench.runtime.last_words import ending
from swarm_bench.runtime.ownership import temporary
from swarm_bench.runtime.process import run
from swarm_bench.runtime.sink import Output, clean_text
from swarm_bench.runtime.untrusted import read

if TYPE_CHECKING:
    from swarm_bench.runtime.mcp.client import Connection

LAST_LETTERS = 300
"""Characters of a server's error that are repeated."""
OUTPUT_BYTES = 64 * 1024 * 1024
"""Most bytes that a command may print."""
VERSION_SECONDS = 30.0
LONGEST_VERSION = 100
"""Characters."""
_VERSION = re.compile(r"\d+(\.\d+)+[\w.+-]*")
TEARDOWN_SECONDS = 30.0
"""A session goes on after that, whatever a teardown does."""


def check_warm(modes: Sequence[Mode], variables: Mapping[str, str]) -> None:
    """Check early what can be made ready. Raises `UsageError`."""
    ready = [mode for mode in modes if mode.prepare is not None and mode.can_be_prepared]
    if not ready:
        raise UsageError(
            "--index warm builds the index of standalone servers before their agents start, and "
            "no mode says how; say it in the mode file, as "
            '"swarmBench": {"prepare": {"tool": "…", "arguments": {}}}, or omit --index'
        )
    for mode in ready:
        if mode.prepare is not None:
            values = dict.fromkeys(PLACEHOLDERS, "")
            render(mode, [*mode.prepare.command, mode.prepare.arguments], values, variables)


async def prepare(site: Site) -> float:
    """Run the mode's preparation. Returns the seconds that it took. Raises `IndexFailed`."""
    step = site.mode.prepare
    if step is None:
        raise ValueError(f"{site.mode.name} has nothing to prepare")
    if step.command:
        return await _run_preparation(site, step.command)
    return await call(site, ToolCall(tool=step.tool, arguments=step.arguments))


async def call(site: Site, tool_call: ToolCall) -> float:
    """Start the mode's servers in turn until one has the tool, have it called, and end it. Returns
    the seconds that the tool took. Raises `IndexFailed`."""
    arguments = render(site.mode, tool_call.arguments, site.values, site.tools.variables)
    filled_call = tool_call.model_copy(update={"arguments": arguments})
    with anyio.move_on_after(site.tools.index_timeout):
        return await _call_any_server(site, filled_call)
    raise _make_late_error(tool_call.tool, site.tools.index_timeout)


async def tear_down(site: Site) -> str | None:
    """Run the mode's teardown if it has one, whatever happens around it. Returns what went wrong,
    as a clause."""
    problem = None
    if not site.mode.teardown:
        return None
    with anyio.CancelScope(shield=True):
        try:
            problem = (await _run(site, site.mode.teardown, TEARDOWN_SECONDS)).problem
        except ProcessLost as error:
            problem = str(error)
    return problem


async def read_version(site: Site) -> str | None:
    """Return what the mode's command for its version prints. Raises `ConfigError`."""
    try:
        ran = await _run(site, site.mode.version, VERSION_SECONDS)
    except ProcessLost as error:
        raise ConfigError(f"The mode {site.mode.name} says no version: {error}") from error
    if ran.problem is not None:
        raise ConfigError(
            f"The mode {site.mode.name} asks for its version with {site.mode.version[0]}, which "
            f"failed: {ran.problem}; correct {site.mode.source}"
        )
    match = _VERSION.search(ran.printed)
    return match[0] if match else ran.printed[:LONGEST_VERSION].strip() or None


@dataclass(frozen=True, kw_only=True)
class _Ran:
    """How a command ended."""

    seconds: float
    late: bool
    problem: str | None
    """A clause with its last words; `None` when there was none."""
    printed: str
    """The end of its output."""


async def _run_preparation(site: Site, command: Sequence[str]) -> float:
    try:
        ran = await _run(site, command, site.tools.index_timeout)
    except ProcessLost as error:
        raise IndexFailed(f"The workspace could not be prepared: {error}") from error
    if ran.late:
        raise _make_late_error(command[0], site.tools.index_timeout)
    if ran.problem is not None:
        raise IndexFailed(
            f"{command[0]} could not prepare the workspace: {ran.problem}; fix it, and use "
            "--continue, or start a new session if the mode file was wrong"
        )
    return ran.seconds


async def _run(site: Site, template: Sequence[str], timeout: float) -> _Ran:
    """Run a command of the mode's file. Raises `ProcessLost`."""
    with temporary() as folder:
        out, err = folder / "stdout", folder / "stderr"
        output = Output(stdout=out, stderr=err, limit=OUTPUT_BYTES, secrets=site.secrets)
        started = anyio.current_time()
        result = await run(site.build_command(template), output=output, timeout=timeout)
        seconds = anyio.current_time() - started
        printed, error = ending(read(out)), ending(read(err))
    reason = error or printed or "it gave no reason"
    problem = None
    if result.stopped is not None:
        problem = f"it was stopped after {seconds:.0f} s ({result.stopped}): {reason}"
    elif result.returncode != 0:
        problem = f"it ended with exit code {result.returncode}: {reason}"
    return _Ran(
        seconds=seconds, late=result.stopped == "timeout", problem=problem, printed=printed or error
    )


async def _call_any_server(site: Site, tool_call: ToolCall) -> float:
    from swarm_bench.runtime.mcp.client import ServerFailed  # half a second of imports

    without: list[str] = []
    for name in site.mode.servers:
        try:
            async with site.start_server(name) as server:
                if any(tool.name == tool_call.tool for tool in server.tools):
                    return await _call_tool(server, tool_call, site.secrets)
        except ServerFailed as error:
            raise IndexFailed(
                f"The MCP server {name} could not prepare the workspace: {error}; fix it, and "
                "use --continue, or start a new session if the mode file was wrong"
            ) from error
        without.append(name)
    raise IndexFailed(
        f"The mode file calls {tool_call.tool} before the agents start, and no server has that "
        f"tool ({', '.join(without)}), although one had it before the session"
    )


async def _call_tool(server: "Connection", tool_call: ToolCall, secrets: tuple[str, ...]) -> float:
    started = anyio.current_time()
    answer = await server.call(tool_call.tool, tool_call.arguments)
    if answer.is_error:
        # Cleaned before it is cut: part of a secret would not be recognised.
        reason = " ".join(clean_text(answer.text, secrets).split())[:LAST_LETTERS]
        raise IndexFailed(
            f"{tool_call.tool} could not prepare the workspace: {reason or 'it gave no reason'}"
        )
    return anyio.current_time() - started


def _make_late_error(subject: str, timeout: float) -> IndexFailed:
    return IndexFailed(
        f"{subject} had not prepared the workspace after {timeout:g} s; give it more with "
        "--index-timeout"
    )

"""Whether the tools of the modes work: in a repository of ten files servers are greeted and a
service does once what it is for; in a clone of the user's own, each tool is asked one question, and
servers are greeted that are files of it."""

import os
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path

from swarm_bench.analysis.wording import quantify
from swarm_bench.app.doctor.searching import Question, check_search, make_question
from swarm_bench.app.preflight import greet_alone, greet_modes
from swarm_bench.app.setup.choosing import build_tools
from swarm_bench.app.setup.folders import open_work_folder
from swarm_bench.config.layers import Resolved, Settings
from swarm_bench.core.errors import HarnessError, SwarmBenchError
from swarm_bench.core.listing import Check, State
from swarm_bench.core.session.experiment import Mode
from swarm_bench.retrieval.canopy.backends import SERVICE
from swarm_bench.retrieval.canopy.exercise import FILES, exercise
from swarm_bench.retrieval.canopy.service import hide_log
from swarm_bench.retrieval.handshake import Handshake
from swarm_bench.retrieval.opened_mode import open_service
from swarm_bench.retrieval.tools import Tools
from swarm_bench.runtime.ownership import temporary
from swarm_bench.runtime.workspaces.workspace import clone
from swarm_bench.text import tokens

_BELOW_WORKSPACE = re.compile(r"\{\{\s*workspace\s*\}\}/")
SLOW_SECONDS = 5.0
"""A server that takes longer is a good part of a short trial's time."""


async def check_tools(
    resolved: Resolved,
    settings: Settings,
    find: Callable[[str], Sequence[Mode]],
    tell_step: Callable[[str], None],
) -> AsyncIterator[Check]:
    """Check each mode of `settings`, which `find` reads, and the service if one of them needs it;
    what is not trusted is not among them. Says each step to `tell_step`."""
    modes: list[Mode] = []
    for name in settings.modes:
        try:
            modes += find(name)
        except SwarmBenchError as error:
            yield Check(about=f"mode {name}", state=State.PROBLEM, finding=str(error))
    leftovers, name = list[str](), f"doctor-{os.urandom(4).hex()}"
    with open_work_folder(settings.workspace_root, name, leftovers.append) as work:
        while leftovers:
            yield Check(about="leftovers", state=State.WARNING, finding=leftovers.pop())
        try:
            tools = build_tools(resolved, settings, work)
        except SwarmBenchError as error:
            yield Check(about="modes", state=State.PROBLEM, finding=str(error))
            return
        async for check in _check_modes(tools, settings, modes, tell_step):
            yield check
        if any(mode.services for mode in modes):
            tell_step("starting the service, and asking it")
            yield await _check_service(tools)


async def _try_question(settings: Settings, work: Path) -> Question | SwarmBenchError:
    """Make what all tools are asked, or say why nothing can be asked; once for all of them."""
    try:
        return await make_question(settings, work)
    except SwarmBenchError as error:
        return error


async def _check_modes(
    tools: Tools, settings: Settings, modes: Sequence[Mode], tell_step: Callable[[str], None]
) -> AsyncIterator[Check]:
    """Check each mode, and its search. The repository is copied once it is needed."""
    question: Question | SwarmBenchError | None = None
    for mode in modes:
        if _runs_file_of_repository(mode):
            question = question or await _try_question(settings, tools.work)
        tell_step(f"starting the servers of {mode.name}")
        check = await _check_mode(tools, mode, question)
        yield check
        if not mode.servers or check.state is State.PROBLEM:
            continue
        tell_step(f"asking the search of {mode.name}, once it is prepared")
        question = question or await _try_question(settings, tools.work)
        if isinstance(question, SwarmBenchError):
            finding = f"not asked: {question}"
            yield Check(about=f"search {mode.name}", state=State.WARNING, finding=finding)
        else:
            yield await check_search(tools, mode, question)


def _runs_file_of_repository(mode: Mode) -> bool:
    """Tell whether a server is started with a path such as {{ workspace }}/server.py."""
    return any(
        _BELOW_WORKSPACE.search(word)
        for config in mode.servers.values()
        for word in (str(config.get("command", "")), *map(str, config.get("args", ())))
    )


async def _check_mode(
    tools: Tools, mode: Mode, question: Question | SwarmBenchError | None
) -> Check:
    subject = f"mode {mode.name}"
    if not mode.servers:
        return Check(about=subject, state=State.OK, finding="gives no tool")
    clones = _runs_file_of_repository(mode)
    if clones and isinstance(question, SwarmBenchError):
        finding = f"not started, as it runs a file of the repository: {question}"
        return Check(about=subject, state=State.WARNING, finding=finding)
    with temporary(tools.work) as folder:
        try:
            if clones and isinstance(question, Question):
                async with clone(question.snapshot, folder / "clone", keep=None) as workspace:
                    handshakes = (await greet_modes(tools, [mode], workspace))[mode.name]
            else:
                handshakes = await greet_alone(tools, mode, folder / "small")
        except SwarmBenchError as error:
            return Check(about=subject, state=State.PROBLEM, finding=str(error))
    return _check_handshakes(tools, mode, handshakes, subject)


def _check_handshakes(
    tools: Tools, mode: Mode, handshakes: Mapping[str, Handshake], subject: str
) -> Check:
    broken = [handshake for handshake in handshakes.values() if handshake.problem is not None]
    if broken:
        finding = "; ".join(
            f"the server {handshake.server!r} does not start: {handshake.problem}"
            for handshake in broken
        )
        advice = f"fix {tools.name_fix(mode)}"
        return Check(about=subject, state=State.PROBLEM, finding=finding, advice=advice)
    slow = any((handshake.seconds or 0) > SLOW_SECONDS for handshake in handshakes.values())
    overhead = tokens.count(mode.instructions) + sum(
        handshake.tool_tokens + handshake.instruction_tokens for handshake in handshakes.values()
    )
    servers = ", ".join(map(_describe_server, handshakes.values()))
    finding = f"{servers}; about {overhead} tokens in every request"
    if not any(handshake.tools for handshake in handshakes.values()):
        advice = f"look at its servers in {mode.source}: there is nothing for an agent to call"
        return Check(about=subject, state=State.PROBLEM, finding=finding, advice=advice)
    changes = (handshake.unexpected for handshake in handshakes.values())
    if changed := next(filter(None, changes), ()):
        finding += f"; changed in the clone: {', '.join(changed)}"
        advice = f"name in {mode.source} what it may create (may_create), or keep it from that"
        return Check(about=subject, state=State.WARNING, finding=finding, advice=advice)
    if warning := next(
        filter(None, (handshake.warning for handshake in handshakes.values())), None
    ):
        advice = "other clients may count its tools several times, or wait for ever: correct it"
        finding += f"; {warning}"
        return Check(about=subject, state=State.WARNING, finding=finding, advice=advice)
    if slow:
        advice = "its agents wait for it in every trial: have it installed, and not fetched"
        return Check(about=subject, state=State.WARNING, finding=finding, advice=advice)
    return Check(about=subject, state=State.OK, finding=finding)


def _describe_server(handshake: Handshake) -> str:
    return (
        f"{handshake.server} ({handshake.program.label}) answered in {handshake.seconds:.1f} s "
        f"with {quantify(len(handshake.tools), 'tool')}"
    )


async def _check_service(tools: Tools) -> Check:
    log = tools.work / "service.log"
    try:
        async with open_service(tools, log) as service:
            name = await service.read_implementation() or SERVICE
            took = await exercise(service, tools.work)
    except HarnessError as error:
        finding = hide_log(error, log)
        return Check(about="service", state=State.PROBLEM, finding=finding)
    address = tools.service_url or f"{tools.programs[SERVICE]}, on a free port"
    finding = (
        f"{name} ({address}) indexed {FILES} files in {took.index:.1f} s, answered a query in "
        f"{took.query * 1000:.0f} ms and an expand in {took.expand * 1000:.0f} ms; counters moved"
    )
    return Check(about="service", state=State.OK, finding=finding)

"""What MCP servers say when they are greeted: who they are, what they offer, and how long it took.

Tokens by our counter, of what a program sends to its model with every request: for each tool the
compact JSON of `name` (as `mcp__<server>__<tool>`), `description` and `input_schema`.
"""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import anyio
from anyio import to_thread

from swarm_bench.core.outcome import START_SECONDS
from swarm_bench.core.ports import ToolSpec
from swarm_bench.core.session.experiment import Program
from swarm_bench.retrieval.reach.packages import find_package_version, may_be_of_sdk
from swarm_bench.runtime.sink import clean_text, clean_value
from swarm_bench.text import tokens

if TYPE_CHECKING:
    from swarm_bench.runtime.mcp.client import Connection

TAG_BEGIN = "greeting"
"""How the tag of a greeted server begins, unlike those of agents."""
LONGEST_NAME = 100
"""Characters of what a server says of itself."""
_VERSION_AT_END = re.compile(r"\d+(\.\d+)+\S*$")

Servers = Mapping[str, Mapping[str, Any]]
"""Servers by name, as an `mcpServers` file has them, filled in."""
Handshakes = Mapping[str, Mapping[str, "Handshake"]]
"""By mode and server."""


@dataclass(frozen=True, kw_only=True)
class Handshake:
    """What became of the handshake with one server."""

    server: str
    """Its name in the mode."""
    program: Program
    """By its own name; by that of its configuration when it gave none."""
    name: str = ""
    """As it gave it, like the two that follow."""
    title: str | None = None
    version: str | None = None
    instructions: str = ""
    """What it tells a model about itself."""
    tools: tuple[ToolSpec, ...] = ()
    """Under the names that the server gives them."""
    seconds: float | None = None
    """From its start until it had answered `initialize` and `tools/list`."""
    unexpected: tuple[str, ...] = ()
    """Paths that the mode's servers changed where they were greeted, beyond its `may_create`."""
    warning: str | None = None
    """What is wrong with its list of tools, as a clause."""
    problem: str | None = None
    """Why it did not, as a clause with its last words; `None` when it did."""

    @property
    def tool_tokens(self) -> int:
        """Tokens of all its tools."""
        return sum(tokens.count_tool(tool.of_server(self.server)) for tool in self.tools)

    @property
    def instruction_tokens(self) -> int:
        """Tokens of what it tells a model about itself."""
        return tokens.count(self.instructions)


async def greet(
    modes: Mapping[str, Servers],
    *,
    templates: Mapping[str, Servers],
    cwd: Path,
    env: Mapping[str, str],
    secrets: Collection[str] = (),
    seconds: float = START_SECONDS,
) -> dict[str, dict[str, Handshake]]:
    """Start and greet all servers of all modes at the same time; equal ones once. They run in
    `cwd`, with the environment `env` under their own variables, and are gone afterwards.

    `written` are the same servers with the user's variables as they are written. Returns the
    handshakes by mode and server; a server that takes longer than `seconds` has a problem.
    `secrets` are in nothing that a server says.
    """
    configs = {
        _make_key(config): config for servers in modes.values() for config in servers.values()
    }
    answers: dict[str, Handshake] = {}

    async def ask(key: str) -> None:
        answers[key] = await _greet(configs[key], cwd, env, secrets, seconds)

    async with anyio.create_task_group() as group:
        for key in configs:
            group.start_soon(ask, key)
    return {
        mode: {
            name: _make_answer(templates[mode][name], name, answers[_make_key(config)])
            for name, config in servers.items()
        }
        for mode, servers in modes.items()
    }


def _make_answer(template: Mapping[str, Any], name: str, answer: Handshake) -> Handshake:
    """Make it the answer of one server of one mode. What is stored of its configuration is what
    the mode file says: what is filled in may be a key."""
    update = {
        "path": template.get("command"),
        "name": answer.program.name or _describe_address(template),
    }
    return replace(answer, server=name, program=answer.program.model_copy(update=update))


async def _greet(
    config: Mapping[str, Any],
    cwd: Path,
    env: Mapping[str, str],
    secrets: Collection[str],
    seconds: float,
) -> Handshake:
    # Half a second of imports, which a call that greets nobody does not pay.
    from swarm_bench.runtime.mcp.client import ServerFailed, own_server

    tag = f"{TAG_BEGIN}-{uuid4().hex}"
    try:
        async with own_server(
            config, env=env, cwd=cwd, tag=tag, secrets=secrets, seconds=seconds
        ) as connection:
            name, title, version = _read_identity(connection, secrets)
            program_version = await to_thread.run_sync(_find_version, version, config, env)
            return Handshake(
                server="",
                program=_make_program(name, title, program_version),
                name=name or "",
                title=title,
                version=version,
                instructions=clean_text(connection.instructions, secrets),
                tools=clean_value(connection.tools, secrets),
                seconds=connection.seconds,
                warning=connection.warning,
            )
    except ServerFailed as error:
        return Handshake(server="", program=Program(name=""), problem=str(error))


def _find_version(
    reported: str | None, config: Mapping[str, Any], env: Mapping[str, str]
) -> str | None:
    """Return the version of the package that is started, or the one that the server reports, where
    that is not that of the SDK it is built with."""
    command, args = config.get("command"), config.get("args", [])
    if command is None:
        return reported
    path = {**env, **config.get("env", {})}.get("PATH")
    if package := find_package_version(command, args, path):
        return package
    if reported is not None and may_be_of_sdk(reported, command, args, path):
        return None
    return reported


def _read_identity(server: "Connection", secrets: Collection[str]) -> tuple[str | None, ...]:
    """Return name, title and version."""
    return tuple(_clean(text, secrets) for text in (server.name, server.title, server.version))


def _make_program(name: str | None, title: str | None, version: str | None) -> Program:
    """Return who it says that it is; without a name if it says none."""
    if title and _VERSION_AT_END.search(title):
        # Ours has its own version there, to be told from the real one.
        return Program(name=title)
    return Program(name=name or title or "", version=version)


def _clean(text: str | None, secrets: Collection[str]) -> str | None:
    plain = " ".join(clean_text(text or "", secrets).split())
    return plain[:LONGEST_NAME] or None


def _describe_address(template: Mapping[str, Any]) -> str:
    """Say where a server is, instead of a name: without its login and what follows the path."""
    if (command := template.get("command")) is not None:
        return command if "${" in command else Path(command).name
    return re.split(r"[?#]", re.sub(r"//[^/]*@", "//", str(template.get("url"))))[0]


def _make_key(config: Mapping[str, Any]) -> str:
    return json.dumps(config, sort_keys=True)

"""What MCP servers say when they are greeted: who they are, what they offer, and how long it took.
Many report the version of the SDK they are built with as their own: the metadata of the package
says which is installed, and nothing is started for it.

Tokens by our counter, of what a program sends to its model with every request: for each tool the
compact JSON of `name` (as `mcp__<server>__<tool>`), `description` and `input_schema`.
"""

import json
import re
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import anyio
from anyio import to_thread

from swarm_bench.core.outcome import START_SECONDS
from swarm_bench.core.ports import ToolSpec
from swarm_bench.core.session.experiment import Program
from swarm_bench.retrieval.reach.program_names import is_launcher, list_launched_packages
from swarm_bench.runtime.sink import clean_text, clean_value
from swarm_bench.text import tokens

if TYPE_CHECKING:
    from swarm_bench.runtime.mcp.client import Connection

TAG_BEGIN = "greeting"
"""Beginning of the tag of a greeted server, unlike those of agents."""
LONGEST_NAME = 100
"""Characters of what a server says of itself."""
_VERSION_AT_END = re.compile(r"\d+(\.\d+)+\S*$")

Servers = Mapping[str, Mapping[str, Any]]
"""Servers by name, as an `mcpServers` file has them, filled in."""
Handshakes = Mapping[str, Mapping[str, "Handshake"]]
"""Handshakes by mode and server."""


@dataclass(frozen=True, kw_only=True)
class Handshake:
    """What became of the handshake with one server."""

    server: str
    """Name of the server in the mode."""
    program: Program
    """Program under its own name, or that of its configuration when it gave none."""
    name: str = ""
    """Name as the server gave it, like the two that follow."""
    title: str | None = None
    version: str | None = None
    instructions: str = ""
    """Instructions with which the server describes itself to a model."""
    tools: tuple[ToolSpec, ...] = ()
    """Under the names that the server gives them."""
    seconds: float | None = None
    """Seconds from its start until it had answered `initialize` and `tools/list`."""
    unexpected: tuple[str, ...] = ()
    """Paths that the mode's servers changed where they were greeted, beyond its `may_create`."""
    warning: str | None = None
    """Problem with its list of tools, as a clause."""
    problem: str | None = None
    """Reason why the handshake failed, as a clause with the server's last words; `None` when it
    succeeded."""

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


_PYTHON = re.compile(r"python(\d+(\.\d+)?)?")
_LAUNCHERS_OF_PYTHON = ("uv", "uvx", "pipx")
_SDKS = ("mcp", "fastmcp")
"""SDKs of Python, whose version a server reports unless it gives one of its own."""
_INTERPRETERS = ("node", "bun", "deno")
_PINNED = re.compile(r"(?:(?:@[^/@]+/)?[^/@=]+@(\d+\.\d+\.\d+[\w.+-]*)|[^/@=<>~!]+==(\d[\w.+!-]*))")
"""One version of a package, as npm or pip write it; `name@1.2` of npm is any 1.2."""
_FIRST_LINE = 256
"""Bytes of a script in which its interpreter stands."""


def find_package_version(command: str, args: Sequence[str], path: str | None) -> str | None:
    """Find the version of the package that a command line starts, looked up in `path`; `None` when
    it is unknown. Of a launcher such as npx it is the version that it is to run."""
    program = shutil.which(command, path=path)
    if program is None:
        return None
    file = Path(program)
    if _PYTHON.fullmatch(file.name):
        return _find_by_module(file, args)
    if file.name in _INTERPRETERS and (scripts := list(_find_files(args))):
        return _read_npm(scripts[0])
    if file.name in _INTERPRETERS or is_launcher(file.name):
        return _find_pinned(list_launched_packages(file.name, args))
    return _read_npm(file) or _find_by_script(file)


def may_be_of_sdk(version: str, command: str, args: Sequence[str], path: str | None) -> bool:
    """Tell whether the version that a server says of itself may be that of the SDK it is built
    with: where it runs there is one of that version, or that cannot be checked."""
    program = shutil.which(command, path=path)
    if program is None:
        return False
    file = Path(program)
    if file.name in _LAUNCHERS_OF_PYTHON:
        return True
    is_python = _PYTHON.fullmatch(file.name)
    homes = [file.absolute().parent.parent] if is_python else _list_homes(file.resolve())
    return any(
        distribution.name in _SDKS and distribution.version == version
        for distribution in _find_distributions(homes)
    )


def _find_files(args: Sequence[str]) -> Iterator[Path]:
    """Yield the arguments that are files."""
    yield from (Path(word) for word in args if not word.startswith("-") and Path(word).is_file())


def _find_pinned(packages: Sequence[str]) -> str | None:
    """Return the version that a package is pinned to, if there is only one package."""
    match = _PINNED.fullmatch(packages[0]) if len(packages) == 1 else None
    return match and (match[1] or match[2])


def _read_npm(file: Path) -> str | None:
    """Read the `package.json` above the file that a link in `.bin` leads to."""
    script = file.resolve()
    if "node_modules" not in script.parts:
        return None
    for folder in script.parents:
        if folder.name == "node_modules":
            return None
        content = _read_json(folder / "package.json")
        if isinstance(content.get("name"), str) and isinstance(content.get("version"), str):
            return str(content["version"])
    return None


def _read_json(file: Path) -> dict[str, object]:
    with suppress(OSError, ValueError, RecursionError):
        content = json.loads(file.read_text(encoding="utf-8"))
        return content if isinstance(content, dict) else {}
    return {}


def _find_by_script(file: Path) -> str | None:
    """Find the distribution that has a script of that name, where the script's Python looks."""
    script = file.resolve()
    for dist in _find_distributions(_list_homes(script)):
        names = (entry.name for entry in dist.entry_points if entry.group == "console_scripts")
        if script.name in names:
            return dist.version
    return None


def _list_homes(script: Path) -> list[Path]:
    """List folders with a `lib` of Python: of the script's interpreter, and around the script."""
    homes = [script.parent.parent]
    with suppress(OSError), script.open("rb") as file:
        first = file.read(_FIRST_LINE).split(b"\n")[0].decode(errors="replace")
        if first.startswith("#!/") and _PYTHON.fullmatch(Path(first[2:].split()[0]).name):
            homes.insert(0, Path(first[2:].split()[0]).parent.parent)
    return homes


def _find_by_module(python: Path, args: Sequence[str]) -> str | None:
    """Find the distribution that has the module of `python -m module`."""
    arguments = list(args)
    if "-m" not in arguments[:-1]:
        return None
    module = arguments[arguments.index("-m") + 1].split(".")[0]
    for dist in _find_distributions([python.absolute().parent.parent]):
        top = (dist.read_text("top_level.txt") or "").split()
        files = dist.files or ()
        if module in top or any(file.parts[:1] in ((module,), (f"{module}.py",)) for file in files):
            return dist.version
    return None


def _find_distributions(homes: Iterable[Path]) -> Iterable[Distribution]:
    folders = [
        str(folder) for home in homes for folder in sorted(home.glob("lib/python3*/site-packages"))
    ]
    return distributions(path=folders) if folders else ()

"""The command line: Claude Code's options, as far as they make sense for scout."""

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn

from swarm_bench.core.ports import Model
from swarm_bench.programs.rules.model import Rules

Format = Literal["text", "json", "stream-json"]


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of one call of the program."""

    prompt: str
    output: Format
    verbose: bool
    max_turns: int | None
    """Model requests; `None` is no limit."""
    model: str
    seed: int
    servers: dict[str, dict[str, Any]]
    """MCP servers by name, as an `mcpServers` file has them."""
    tools: frozenset[str] | None
    """Built-in tools to offer; `None` offers all."""
    disallowed: frozenset[str]
    """Tools, or whole servers as `mcp__name`, that are not offered."""
    session: str | None
    instructions: str
    """Words at the beginning of the prompt that are not the task."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Exit with code 1, as Claude Code does for a wrong command line."""
        self.exit(1, f"error: {message}\n")


def parse(argv: list[str]) -> Options:
    """Parse a command line. Raises `SystemExit` with code 1 and one line on standard error for a
    wrong one."""
    parser = _parser()
    parsed = parser.parse_args(argv)
    if parsed.output_format == "stream-json" and not parsed.verbose:
        parser.error("--output-format stream-json requires --verbose")
    prompt = parsed.prompt if parsed.prompt is not None else sys.stdin.read()
    if not prompt.strip():
        parser.error("there is no prompt; give it as an argument or on standard input")
    servers: dict[str, dict[str, Any]] = {}
    for value in parsed.mcp_config:
        try:
            servers.update(_servers(value))
        except (OSError, ValueError, RecursionError) as error:
            parser.error(f"--mcp-config {value[:200]}: {error}")
    return Options(
        # Bytes in an argument that are not UTF-8 could not be printed again.
        prompt=prompt.encode("utf-8", "surrogateescape").decode("utf-8", "replace"),
        output=parsed.output_format,
        verbose=parsed.verbose,
        max_turns=parsed.max_turns,
        model=parsed.model,
        seed=parsed.seed,
        servers=servers,
        tools=None if parsed.tools is None else frozenset(_names(parsed.tools)),
        disallowed=frozenset(_names(parsed.disallowed_tools)),
        session=parsed.session_id,
        instructions=parsed.instructions,
    )


def _parser() -> _Parser:
    parser = _Parser(
        prog="scout", description="A small agent loop: glob, grep, read, and MCP servers."
    )
    add = parser.add_argument
    add("prompt", nargs="?")
    add("-p", "--print", action="store_true", help="scout always prints and ends; accepted")
    add("--output-format", choices=("text", "json", "stream-json"), default="text")
    add("--verbose", action="store_true", help="all events; required by stream-json")
    add("--max-turns", type=_positive, help="model requests before scout gives up")
    add("--model", choices=sorted(MODELS), default=DEFAULT)
    add("--mcp-config", nargs="+", action="extend", default=[], help="mcpServers file or JSON")
    add("--tools", nargs="+", help="built-in tools to offer")
    add("--disallowedTools", dest="disallowed_tools", nargs="+", default=[])
    add("--session-id")
    add("--instructions", default="", help="words at the prompt's beginning that are not the task")
    add("--seed", type=int, default=0, help="named in the session id; the rules draw nothing")
    nothing = "accepted without effect: scout reads no settings and asks for no permission"
    for name in ("--strict-mcp-config", "--no-session-persistence"):
        add(name, action="store_true", help=nothing)
    add("--dangerously-skip-permissions", action="store_true", help=nothing)
    add("--allowedTools", nargs="+", help=nothing)
    for name in ("--permission-mode", "--setting-sources"):
        add(name, help=nothing)
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def _names(values: list[str]) -> list[str]:
    """Split `--tools "Glob,Read" Grep`: several words, each of them a list."""
    return [name for value in values for name in value.replace(",", " ").split()]


def _servers(value: str) -> dict[str, dict[str, Any]]:
    """Read the servers of a config file, or of JSON on the command line.

    Raises `OSError` or `ValueError`.
    """
    text = value if value.lstrip().startswith("{") else Path(value).read_text("utf-8-sig")
    config = json.loads(text)
    servers = config.get("mcpServers") if isinstance(config, dict) else None
    if not isinstance(servers, dict):
        raise ValueError("there is no mcpServers object in it")
    for name, server in servers.items():
        if not isinstance(server, dict):
            raise ValueError(f"the server {name!r} is not an object")
    return servers


MODELS: dict[str, Callable[[str], Model]] = {"rules": Rules}
DEFAULT = "rules"

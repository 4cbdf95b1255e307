"""Reads the log that Codex writes to standard error beside its events.

The events have no usage before the end, no servers, no model and no times; the log has them, and
how long the text was that the model got from a tool. Lines of other programs and of other versions
are passed over.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from swarm_bench.agents.reading.json_lines import MAX_FIGURE, as_clause
from swarm_bench.agents.reading.tool_calls import Span, make_span_until, parse_time
from swarm_bench.core.outcome import Usage
from swarm_bench.runtime.untrusted import open_untrusted
from swarm_bench.text import tokens
from swarm_bench.text.terminal import plain_text

FILTER = "error,codex_otel.trace_safe=info,[session_init]=info"
"""Value of `RUST_LOG`: events without their contents, and what is logged at the start of a session,
which names the servers."""

_MAX_LINE = 16_384
_EVENT = re.compile(
    r"\d\S+Z +INFO (?:\S+: )?codex_otel\.(?:trace_safe|log_only): (?:[\w ]+ )?"
    r'event\.name="([\w.]+)" '
)
"""Beginning of a line that is an event; another line may quote it."""
_FIGURES = re.compile(r"\b([\w.]+)=(\d{1,16})\b(?![.,]\d)")
_SERVERS = re.compile(r'\bmcp_servers="([^"]*)"')
_TOOL = re.compile(r"\btool_name=(\S+) tool_namespace=(\S+) call_id=(\S+)")
_MOMENT = re.compile(r"\bevent\.timestamp=(\S+)")
_MODEL = re.compile(r"\bmodel=([^\s\"]+)")
_VERSION = re.compile(r"\bapp\.version=([^\s\"]+)")
_ERROR = re.compile(r"^error\b| ERROR ", re.IGNORECASE)
_TYPES = re.compile(r" \[codex_[^\]]*\]")
_UNSTARTED = re.compile(
    r"(?:Error\b|\d\S+Z +ERROR codex_core::session:).*?"
    r"(required MCP servers failed to initialize: .*)|(Error loading config.*)"
)


_SHELLS = ("exec_command", "shell", "shell_command", "local_shell")
"""Names of the shell that the model uses."""
SHELL = "shell"
"""The name in our records."""


@dataclass(frozen=True, kw_only=True)
class ToolUse:
    """A call of a tool that came to its end."""

    tool: str
    span: Span | None
    tokens: int | None
    """Tokens of the text that the model got."""
    turn: int
    """Number of the request that was answered before, from 1, those of sub-agents among them."""


@dataclass
class Log:
    """The state after the lines so far."""

    requests: list[Usage] = field(default_factory=list)
    """Tokens of every answered request, those of sub-agents and compactions among them."""
    retries: int = 0
    status: int | None = None
    """HTTP status of the last request."""
    servers: tuple[str, ...] | None = None
    """Names of the configured servers."""
    catalogs: int = 0
    """Servers whose list of tools has come."""
    model: str | None = None
    version: str | None = None
    unstarted: str | None = None
    """Reason why no session could be started."""
    last: str | None = None
    """The last line about an error."""
    events: bool = False
    tools: dict[str, ToolUse] = field(default_factory=dict)
    """Uses of tools by the id that the model gave the call; the events have others."""
    _answering: bool = False
    """Whether an answer has begun and not ended: it calls tools before its end."""

    def add(self, line: str) -> None:
        event = _EVENT.match(line)
        if event is None:
            self._add_message(line)
            return
        self.events = True
        details = line[event.end() :]
        self.model = self.model or _group(_MODEL, details)
        self.version = self.version or _group(_VERSION, details)
        match event.group(1):
            case "codex.conversation_starts":
                self._add_servers(details)
            case "mcp.binding_catalog":
                self.catalogs += 1
            case "codex.api_request":
                self._add_request(dict(_FIGURES.findall(details)))
            case "codex.tool_result":
                self._add_tool(details)
            case "codex.sse_event":
                self._add_answer(dict(_FIGURES.findall(details)))

    def _add_servers(self, details: str) -> None:
        names = _group(_SERVERS, details)
        if names is not None and self.servers is None:
            self.servers = tuple(name for name in names.split(", ") if name)

    def _add_request(self, figures: dict[str, str]) -> None:
        status = figures.get("http.response.status_code")
        self.status = int(status) if status else None
        self.retries += figures.get("attempt", "0") != "0"
        self._answering = self.status == 200

    def _add_answer(self, figures: dict[str, str]) -> None:
        names = ("input_token_count", "cached_token_count", "cache_write_token_count")
        if "input_token_count" in figures:
            self._answering = False
            counts = [_figure(figures.get(name)) for name in (*names, "output_token_count")]
            self.requests.append(split_usage(*counts))

    def _add_tool(self, details: str) -> None:
        if (use := _TOOL.search(details)) is None:
            return
        name, namespace, call = use.groups()
        if namespace.startswith("mcp__"):
            name = f"{namespace}__{name}"
        figures = dict(_FIGURES.findall(details))
        milliseconds = _figure(figures.get("duration_ms"))
        # It logs the length of the tool's result, and whether the model got less of it.
        cut = "output_truncated=true" in details
        length = None if cut else _figure(figures.get("output_length"))
        self.tools[call] = ToolUse(
            tool=SHELL if name in _SHELLS else name,
            span=make_span_until(
                parse_time(_group(_MOMENT, details)),
                None if milliseconds is None else milliseconds / 1000,
            ),
            tokens=None if length is None else tokens.count_for_bytes(length),
            turn=len(self.requests) + self._answering,
        )

    def _add_message(self, line: str) -> None:
        if (message := as_clause(line)) is None:
            return
        if _ERROR.search(line):
            self.last = message
        failure = _UNSTARTED.match(_TYPES.sub("", line))
        self.unstarted = self.unstarted or (
            as_clause(failure[1] or failure[2]) if failure else None
        )


def is_accepted_request(line: bytes) -> bool:
    """Tell whether a line of the log shows that the provider has begun to answer a request."""
    if b'event.name="codex.api_request"' not in line or b"status_code=200" not in line:
        return False
    event = _EVENT.match(plain_text(line))
    return event is not None and event[1] == "codex.api_request"


def read_log(path: Path) -> Log:
    """Read the log in what Codex wrote to standard error."""
    log = Log()
    with open_untrusted(path) as file:
        for line in iter(lambda: file.readline(_MAX_LINE), b""):
            for part in plain_text(line).splitlines():
                log.add(part)
    return log


def split_usage(
    input: int | None, cached: int | None, cache_written: int | None, output: int | None
) -> Usage:
    """Make usage from OpenAI's figures: their input includes what was read from and written to the
    cache."""
    if input is None or cached is None or cache_written is None or cached + cache_written > input:
        return Usage(output=output)
    return Usage(
        input=input - cached - cache_written,
        cache_read=cached,
        cache_create=cache_written,
        output=output,
    )


def _figure(digits: str | None) -> int | None:
    value = None if digits is None else int(digits)
    return value if value is not None and value <= MAX_FIGURE else None


def _group(pattern: re.Pattern[str], text: str) -> str | None:
    match = pattern.search(text)
    return match.group(1) if match else None

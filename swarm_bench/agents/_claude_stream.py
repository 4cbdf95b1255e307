"""Reads what Claude Code prints (`json` and `stream-json`) into an outcome.

Scout and the scripted agent print the same. Nothing here trusts the output: a figure of a wrong
type is missing, and text that is no JSON is passed over.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from swarm_bench.agents._claude_json import (
    Found,
    Json,
    amount_of,
    clause_of,
    count_of,
    in_line,
    list_of,
    object_of,
    objects,
    text_of,
)
from swarm_bench.core.outcome import Activity, AgentExit, Outcome, Usage
from swarm_bench.core.status import Cause

OURS = "swarm_bench"
"""Key of the object in which an agent of ours names its token counter and price table."""

_STDERR_BYTES = 8192
_SHOWN_ARGUMENTS = ("file_path", "pattern", "query", "command", "symbol", "path", "patterns")


@dataclass
class _Transcript:
    """What was gathered from the events so far."""

    init: Json | None = None
    result: Found | None = None
    seen: bool = False
    """Whether there was any event of a conversation: without one, calls are unknown, not none."""
    requests: dict[str, Usage] = field(default_factory=dict)
    calls: dict[str, str] = field(default_factory=dict)
    """Tool name by call id."""
    failures: dict[str, str] = field(default_factory=dict)
    model: str | None = None

    def add(self, found: Found) -> None:
        event = found.value
        match event.get("type"):
            case "result":
                self.result = found
            case "system" if event.get("subtype") == "init" and self.init is None:
                self.init = event
            case "assistant":
                self._assistant(event)
            case "user":
                self._user(event)

    def _assistant(self, event: Json) -> None:
        self.seen = True
        message = object_of(event.get("message"))
        for block in _blocks(message, "tool_use"):
            key = text_of(block.get("id")) or f"call {len(self.calls)}"
            self.calls[key] = text_of(block.get("name")) or "unknown"
        model = text_of(message.get("model"))
        if event.get("parent_tool_use_id") is not None or model in (None, "<synthetic>"):
            return  # a sub-agent, which `usage` of the result leaves out too, or no request
        self.model = model
        key = text_of(message.get("id")) or f"request {len(self.requests)}"
        self.requests[key] = usage_of(message.get("usage"))

    def _user(self, event: Json) -> None:
        self.seen = True
        for block in _blocks(object_of(event.get("message")), "tool_result"):
            key = text_of(block.get("tool_use_id"))
            if block.get("is_error") is True and key in self.calls:
                self.failures[key] = self.calls[key]

    def usage(self) -> Usage:
        """Sum over the requests; a figure that one of them lacks is missing in the sum."""
        requests = list(self.requests.values())
        return Usage(
            input=_sum([usage.input for usage in requests]),
            cache_read=_sum([usage.cache_read for usage in requests]),
            cache_create=_sum([usage.cache_create for usage in requests]),
            output=_sum([usage.output for usage in requests]),
        )


def outcome_of(exit: AgentExit, *, output_is_counted: bool = False) -> Outcome:
    """The outcome of a finished process.

    `output_is_counted` says that assistant events carry the real number of output tokens;
    Claude Code prints a placeholder there.
    """
    transcript = _Transcript()
    for found in objects(exit.stdout):
        transcript.add(found)
    result = transcript.result.value if transcript.result else {}
    cause, detail = _cause(exit, transcript.result)
    usage = usage_of(result.get("usage")) if transcript.result else transcript.usage()
    if not transcript.result and not output_is_counted:
        usage = Usage(
            input=usage.input, cache_read=usage.cache_read, cache_create=usage.cache_create
        )
    init = transcript.init or {}
    ours = object_of(result.get(OURS)) or object_of(init.get(OURS))
    known = transcript.seen or transcript.init is not None
    return Outcome(
        cause=cause,
        detail=detail,
        # With `is_error` it is a message, which `detail` has; it must not be scored as an answer.
        text=None if result.get("is_error") is True else text_of(result.get("result")),
        usage=usage,
        turns=count_of(result.get("num_turns")),
        duration_ms=amount_of(result.get("duration_ms")),
        api_ms=amount_of(result.get("duration_api_ms")),
        cost=amount_of(result.get("total_cost_usd")),
        cost_estimated=True if ours.get("cost_estimated") is True else None,
        price_table=clause_of(ours.get("price_table")),
        token_counter=clause_of(ours.get("token_counter")),
        model=clause_of(init.get("model")) or transcript.model,
        program_version=clause_of(init.get("claude_code_version")),
        tool_calls=dict(Counter(transcript.calls.values())) if known else None,
        tool_failures=dict(Counter(transcript.failures.values())) if known else None,
        servers=_servers(init),
        tools_offered=_tools(init),
        payload=transcript.result.raw if transcript.result else None,
    )


def activity_of(line: bytes) -> Activity | None:
    """What an assistant event says for the live view."""
    # Results of tools are long, and say nothing that their calls did not.
    if b'"assistant"' not in line[:200]:
        return None
    event = next((found.value for found in in_line(line)), {})
    if event.get("type") != "assistant":
        return None
    message = object_of(event.get("message"))
    calls = _blocks(message, "tool_use")
    doing = ", ".join(_doing(call) for call in calls[:3]) if calls else "writing"
    return Activity(
        doing=clause_of(doing, 120) or "working",
        usage=usage_of(message.get("usage")),
        request=text_of(message.get("id")),
    )


def usage_of(value: object) -> Usage:
    """Claude's `usage` object."""
    given = object_of(value)
    return Usage(
        input=count_of(given.get("input_tokens")),
        cache_read=count_of(given.get("cache_read_input_tokens")),
        cache_create=count_of(given.get("cache_creation_input_tokens")),
        output=count_of(given.get("output_tokens")),
    )


def _cause(exit: AgentExit, found: Found | None) -> tuple[Cause, str | None]:
    """Why it ended, and one sentence on a failure."""
    if exit.stopped == "timeout":
        return Cause.TIMEOUT, None
    if exit.stopped == "output-limit":
        return Cause.OUTPUT_LIMIT, None
    if found is None:
        return _cause_without_result(exit)
    result = found.value
    words = _words(result)
    if result.get("subtype") == "error_max_turns":
        return Cause.MAX_TURNS, words
    if result.get("is_error") is True or result.get("subtype", "success") != "success":
        return Cause.ERROR_RESULT, words
    if not isinstance(result.get("result"), str):
        return Cause.UNREADABLE_OUTPUT, "The result event has no answer in it"
    if exit.returncode != 0:
        return Cause.EXIT_CODE, _ending(exit)
    return Cause.FINISHED, None


def _cause_without_result(exit: AgentExit) -> tuple[Cause, str | None]:
    if not _printed(exit.stdout):
        return Cause.NO_OUTPUT, _ending(exit)
    if exit.returncode != 0:
        return Cause.EXIT_CODE, _ending(exit)
    return Cause.UNREADABLE_OUTPUT, "There is no result event in the output"


def _words(result: Json) -> str | None:
    """The agent's own words on its failure."""
    for value in (*list_of(result.get("errors")), result.get("result"), result.get("subtype")):
        if (words := clause_of(value)) is not None:
            return words
    return None


def _ending(exit: AgentExit) -> str:
    """Exit code and the last line of standard error."""
    code = "unknown" if exit.returncode is None else exit.returncode
    last = next(iter(reversed(_tail(exit.stderr).split("\n"))), "")
    words = clause_of(last)
    return f"Exit code {code}: {words}" if words else f"Exit code {code}"


def _tail(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(0, 2)
        file.seek(max(0, file.tell() - _STDERR_BYTES))
        return file.read().decode("utf-8", "replace").strip()


def _printed(path: Path) -> bool:
    with path.open("rb") as file:
        return any(chunk.strip() for chunk in iter(lambda: file.read(65536), b""))


def _blocks(message: Json, kind: str) -> list[Json]:
    content = (object_of(block) for block in list_of(message.get("content")))
    return [block for block in content if block.get("type") == kind]


def _doing(call: Json) -> str:
    given = object_of(call.get("input"))
    values = (given[name] for name in _SHOWN_ARGUMENTS if given.get(name))
    shown = next(values, "")
    if isinstance(shown, list):
        shown = " ".join(text_of(part) or "" for part in shown[:8])
    return f"{text_of(call.get('name')) or 'a tool'} {text_of(shown) or ''}".strip()


def _servers(init: Json) -> dict[str, str] | None:
    given = init.get("mcp_servers")
    return dict(_server_pairs(given)) if isinstance(given, list) else None


def _server_pairs(given: list[object]) -> Iterator[tuple[str, str]]:
    for server in map(object_of, given):
        if (name := text_of(server.get("name"))) is not None:
            yield name, text_of(server.get("status")) or "unknown"


def _tools(init: Json) -> tuple[str, ...] | None:
    given = init.get("tools")
    if not isinstance(given, list):
        return None
    return tuple(name for tool in given if (name := text_of(tool)) is not None)


def _sum(figures: list[int | None]) -> int | None:
    known = [figure for figure in figures if figure is not None]
    return sum(known) if known and len(known) == len(figures) else None

"""What Claude Code's events show on the way: requests, tool calls, retries, compactions."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from swarm_bench.agents.reading.json_lines import (
    Json,
    JsonObject,
    as_amount,
    as_clause,
    as_count,
    as_list,
    as_object,
    as_text,
)
from swarm_bench.agents.reading.tool_calls import (
    Span,
    ToolCalls,
    count_tokens,
    make_span,
    parse_time,
)
from swarm_bench.core.outcome import Usage

EXTRAS_KEY = "swarm_bench"
"""Key of the object in which an agent of ours prints what Claude Code has no key for."""

_CUT_OFF = "cut off mid-stream"
"""Text that the program writes to its model about an answer that arrived in part."""

_ERROR_MARKS = ("isApiErrorMessage", "is_api_error_message")
"""Keys that mark a message as an error."""

SUBAGENT_TOOLS = ("Agent", "Task")
"""Current and former name of the tool that starts a sub-agent."""


@dataclass
class Transcript:
    """The state after the events so far."""

    init: Json | None = None
    results: dict[int, JsonObject] = field(default_factory=dict)
    """Results by the number that the program gives them: it answers again when its work in the
    background ends. Results without a number follow each other; the last one counts."""
    has_messages: bool = False
    """Whether there was any event of a conversation: without one, calls are unknown, not none."""
    requests: dict[str, Usage] = field(default_factory=dict)
    """Requests of the main conversation, by id; their output is a placeholder."""
    outputs: dict[str, int] = field(default_factory=dict)
    """Tokens of output by request, where the events of the stream itself were printed."""
    calls: ToolCalls = field(default_factory=ToolCalls)
    spans: dict[str, Span] = field(default_factory=dict)
    """Time from a call to its first result, by call id, where both have one."""
    result_tokens: dict[str, int | None] = field(default_factory=dict)
    """Tokens of a call's last result; `None` when it is not text alone."""
    asked_in: dict[str, str] = field(default_factory=dict)
    """Request of the main conversation by the id of the call that it made."""
    end_times: dict[str, float] = field(default_factory=dict)
    """Times when the results came, by call id, in seconds of the epoch."""
    retries: int = 0
    retrying: Json | None = None
    """The last event, when it announces that a request will be made again."""
    compactions: int = 0
    broken: bool = False
    """Whether an answer of the provider's broke off."""
    model: str | None = None
    text: str | None = None
    """The last text of the main conversation, unless a tool was called after it."""
    error: str | None = None
    """The program's own name for what made it give up, beside the message that it shows; `unknown`
    where it only says that this is an error."""
    program_message: str | None = None
    """Message of the program itself in the place of its model's last answer."""
    turn_texts: dict[str, str] = field(default_factory=dict)
    """Texts of the main conversation by their requests, where calls keep their results."""
    _said_in: str | None = None
    """Request of which `text` is."""
    _streaming: str | None = None
    _call_times: dict[str, datetime | None] = field(default_factory=dict)
    """Times when the calls were made."""
    _in_calls: float = 0.0
    """Seconds of the calls so far whose times an agent of ours gave."""

    def add(self, printed: JsonObject) -> None:
        event = printed.value
        kind = event.get("type")
        if kind in ("assistant", "user", "result", "stream_event"):
            self.retrying = None
        match kind:
            case "result" if not (self.results and _asked_nothing(event)):
                self.results[as_count(event.get("result_index")) or 0] = printed
            case "system":
                self._add_system(event)
            case "assistant":
                self._add_assistant(event)
            case "user":
                self._add_user(event)
            case "stream_event" if event.get("parent_tool_use_id") is None:
                self._stream_event(as_object(event.get("event")))

    @property
    def has_events(self) -> bool:
        """Whether events were printed, and not the result alone."""
        return self.has_messages or self.init is not None

    @property
    def last(self) -> JsonObject | None:
        """The result that the program ended with."""
        return self.results[max(self.results)] if self.results else None

    @property
    def answering_model(self) -> str | None:
        """The model that answered, under the name by which it was asked for, if it is that one."""
        requested, model = as_clause((self.init or {}).get("model")), self.model
        plain = (requested or "").partition("[")[0]
        same = model is None or plain in model or model in plain
        return requested if requested and same else model

    def turn_usage(self) -> tuple[Usage, ...]:
        """Return the tokens per request of the main conversation; the output only where the stream
        has it."""
        return tuple(
            Usage(
                input=usage.input,
                cache_read=usage.cache_read,
                cache_create=usage.cache_create,
                output=self.outputs.get(request),
            )
            for request, usage in self.requests.items()
        )

    def number_turns(self, requests: Iterable[str]) -> dict[str, int]:
        """Return in which of the requests each call was made, from 1, by its id."""
        numbers = {request: number for number, request in enumerate(requests, start=1)}
        return {
            call: numbers[request] for call, request in self.asked_in.items() if request in numbers
        }

    def number_texts(self, requests: Iterable[str]) -> dict[int, str]:
        """Return what was said in each of the requests, by their numbers from 1."""
        numbered = enumerate(requests, start=1)
        return {
            number: self.turn_texts[request]
            for number, request in numbered
            if request in self.turn_texts
        }

    def subagents(self, tools: Iterable[str] = SUBAGENT_TOOLS) -> int:
        """Count the sub-agents that were started, by the calls that did not fail."""
        started = Counter(self.calls.tools.values()) - Counter(self.calls.failures.values())
        return sum(started[tool] for tool in tools)

    def _add_system(self, event: Json) -> None:
        match event.get("subtype"):
            case "init" if self.init is None:
                self.init = event
            case "api_retry":
                self.retries += 1
                self.retrying = event
                self.broken |= event.get("error_status") is None
            case "compact_boundary":
                self.compactions += 1

    def _add_assistant(self, event: Json) -> None:
        self.has_messages = True
        message = as_object(event.get("message"))
        keys = list[str]()
        for block in blocks(message, "tool_use"):
            key = as_text(block.get("id")) or f"call {len(self.calls.tools)}"
            self.calls.add(key, as_text(block.get("name")) or "unknown", block.get("input"))
            keys.append(key)
            self._call_times.setdefault(key, parse_time(event.get("timestamp")))
        model = as_text(message.get("model"))
        if event.get("parent_tool_use_id") is None:
            is_error = any(event.get(mark) is True for mark in _ERROR_MARKS)
            self.error = as_text(event.get("error")) or ("unknown" if is_error else None)
            texts = (as_text(block.get("text")) or "" for block in blocks(message, "text"))
            self.program_message = "".join(texts) if model == "<synthetic>" else None
        if event.get("parent_tool_use_id") is not None or model in (None, "<synthetic>"):
            return  # a sub-agent, which `usage` of the result omits too, or no request
        self.model = model
        key = as_text(message.get("id")) or f"request {len(self.requests)}"
        self._say(key, message, calls=bool(keys))
        self.requests[key] = usage_of(message.get("usage"))
        self.asked_in |= dict.fromkeys(keys, key)

    def _say(self, request: str, message: Json, *, calls: bool) -> None:
        """Keep a text, which can come in several events of one request."""
        text = "".join(as_text(block.get("text")) or "" for block in blocks(message, "text"))
        if text and self.calls.keeps_results:
            self.turn_texts[request] = self.turn_texts.get(request, "") + text
        if calls:
            self.text = None
        elif text:
            earlier = self.text if self._said_in == request else None
            self.text, self._said_in = f"{earlier or ''}{text}", request

    def _add_user(self, event: Json) -> None:
        self.has_messages = True
        if event.get("parent_tool_use_id") is None:
            self.text = None
        if event.get("isSynthetic") is True:
            texts = blocks(as_object(event.get("message")), "text")
            self.broken |= any(_CUT_OFF in (as_text(block.get("text")) or "") for block in texts)
        results = blocks(as_object(event.get("message")), "tool_result")
        for block in results:
            key = as_text(block.get("tool_use_id"))
            if key is None or key not in self.calls.tools:
                continue
            content = block.get("content")
            if not content and len(results) == 1:
                content = _find_structured(event) or content
            self.calls.add_result(key, content, failed=block.get("is_error") is True)
            self.result_tokens[key] = count_tokens(content)
            extras = as_object(event.get(EXTRAS_KEY))
            if end := parse_time(extras.get("ended")) or parse_time(event.get("timestamp")):
                self.end_times.setdefault(key, end.timestamp())
            if (span := self._find_span(key, event)) is not None:
                self.spans.setdefault(key, span)

    def _find_span(self, call: str, event: Json) -> Span | None:
        """Return when a call was open whose result an event brings. An agent of ours makes its
        calls in sequence, and reports how long each took."""
        seconds = as_amount(as_object(event.get(EXTRAS_KEY)).get("seconds"))
        if seconds is None:
            return make_span(self._call_times[call], parse_time(event.get("timestamp")))
        begin, self._in_calls = self._in_calls, self._in_calls + seconds
        return Span(begin, self._in_calls)

    def _stream_event(self, event: Json) -> None:
        match event.get("type"):
            case "message_start":
                self._streaming = as_text(as_object(event.get("message")).get("id"))
            case "message_delta":
                output = usage_of(event.get("usage")).output
                if self._streaming is not None and output is not None:
                    self.outputs[self._streaming] = output


def _asked_nothing(result: Json) -> bool:
    """Tell whether a result is an error that is not of a conversation. Some versions print one
    behind the answer, when their work in the background ends."""
    return result.get("is_error") is True and as_count(result.get("num_turns")) == 0


def blocks(message: Json, kind: str) -> list[Json]:
    """Return the blocks of that type in a message's content."""
    content = (as_object(block) for block in as_list(message.get("content")))
    return [block for block in content if block.get("type") == kind]


def _find_structured(event: Json) -> Json | None:
    """Return the structured content of the event's one result: where a server gave nothing else,
    the block that should have it may be empty."""
    value = as_object(event.get("tool_use_result")).get("structuredContent")
    return None if value is None else {"structuredContent": value}


def usage_of(value: object) -> Usage:
    """Read Claude's `usage` object."""
    usage = as_object(value)
    return Usage(
        input=as_count(usage.get("input_tokens")),
        cache_read=as_count(usage.get("cache_read_input_tokens")),
        cache_create=as_count(usage.get("cache_creation_input_tokens")),
        output=as_count(usage.get("output_tokens")),
    )


def servers_of(init: Json) -> dict[str, str] | None:
    """Return the MCP servers at the start, with the status of each."""
    servers = init.get("mcp_servers")
    return dict(_server_pairs(servers)) if isinstance(servers, list) else None


def tools_of(init: Json) -> tuple[str, ...] | None:
    """Return the tools at the start."""
    return names_of(init.get("tools"))


def names_of(tools: object) -> tuple[str, ...] | None:
    """Return the names of tools in a list of them."""
    if not isinstance(tools, list):
        return None
    return tuple(name for tool in tools if (name := as_text(tool)) is not None)


def _server_pairs(servers: list[object]) -> Iterator[tuple[str, str]]:
    for server in map(as_object, servers):
        if (name := as_text(server.get("name"))) is not None:
            yield name, as_text(server.get("status")) or "unknown"

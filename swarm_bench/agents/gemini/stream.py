"""Reads what Gemini CLI prints (`--output-format stream-json`, or `json`) into an outcome.

Nothing here trusts the output: a figure of a wrong type is missing, and text that is no JSON is
passed over.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime

from swarm_bench.agents.gemini.causes import cause_of
from swarm_bench.agents.gemini.home import HomeFigures, figures_in, usage_of
from swarm_bench.agents.gemini.names import treatment_name
from swarm_bench.agents.reading.call_arguments import Commands
from swarm_bench.agents.reading.endings import tail, unless_refused
from swarm_bench.agents.reading.json_lines import (
    Json,
    JsonObject,
    amount_of,
    clause_of,
    count_of,
    list_of,
    object_of,
    objects,
    text_of,
)
from swarm_bench.agents.reading.retrieved import Retrievals, Timeline
from swarm_bench.agents.reading.tool_answers import ToolAnswers
from swarm_bench.agents.reading.tool_costs import (
    Span,
    between,
    moment_of,
    seconds_by_tool,
    tokens_by_tool,
    tokens_of,
)
from swarm_bench.core.figures import total
from swarm_bench.core.outcome import AgentExit, Outcome, Retrieved, Usage
from swarm_bench.core.status import Cause

_STDERR_BYTES = 1024 * 1024
_RETRY = re.compile(r"^Attempt \d+ failed\b.*\. Retrying ", re.MULTILINE)


@dataclass
class _Transcript:
    """The state after the events so far."""

    init: Json | None = None
    result: JsonObject | None = None
    whole: JsonObject | None = None
    """The one object that `--output-format json` prints."""
    errors: list[Json] = field(default_factory=list)
    """Since its model last spoke: what came before did not stop it."""
    calls: dict[str, str] = field(default_factory=dict)
    """Tool name by call id."""
    failures: dict[str, str] = field(default_factory=dict)
    answers: ToolAnswers = field(default_factory=ToolAnswers)
    commands: Commands = field(default_factory=Commands)
    retrievals: Retrievals = field(default_factory=Retrievals)
    asked_in: dict[str, int] = field(default_factory=dict)
    """Turns by the ids of calls."""
    ends: dict[str, float] = field(default_factory=dict)
    """When results were printed, in seconds of the epoch."""
    answered: list[str] = field(default_factory=list)
    """Ids of the calls whose results were printed."""
    spans: dict[str, Span] = field(default_factory=dict)
    """Of calls that were made with no call of another tool: the results of calls made together are
    printed together, when the slowest of them has come."""
    turns: int = 0
    answer: list[str] = field(default_factory=list)
    """The pieces of text since the last result of a tool."""
    _speaking: bool = False
    _open: dict[str, datetime | None] = field(default_factory=dict)
    """When the calls were made whose results are to come, or are coming."""

    def add(self, printed: JsonObject) -> None:
        event = printed.value
        match event.get("type"):
            case "init":
                self.init = self.init or event
            case "message" if event.get("role") == "assistant":
                self._speak()
                self.answer.append(text_of(event.get("content")) or "")
            case "tool_use":
                self._speak()
                key = text_of(event.get("tool_id")) or f"call {len(self.calls)}"
                self.calls[key] = treatment_name(text_of(event.get("tool_name")) or "unknown")
                self.answers.ask(key, self.calls[key], event.get("parameters"))
                self.commands.ask(self.calls[key], event.get("parameters"))
                self.retrievals.ask(key, self.calls[key], event.get("parameters"))
                self.asked_in[key] = self.turns
                self._open[key] = moment_of(event.get("timestamp"))
            case "tool_result":
                self._tool_result(event)
            case "error":
                self.errors.append(event)
            case "result":
                self.result = printed
            case None if "session_id" in event and "response" in event:
                self.whole = printed

    def _speak(self) -> None:
        """Count a request: text and calls between two results of tools belong to the same."""
        if not self._speaking:
            self.turns += 1
            self._open.clear()
        self._speaking = True
        self.errors.clear()

    def _tool_result(self, event: Json) -> None:
        self._speaking = False
        self.answer.clear()
        key = text_of(event.get("tool_id"))
        if key is None or key not in self.calls:
            return
        if event.get("status") == "error":
            self.failures[key] = self.calls[key]
        self.answers.answer(key, event.get("output"), failed=key in self.failures)
        self.retrievals.answer(key, event.get("output"), failed=key in self.failures)
        if end := moment_of(event.get("timestamp")):
            self.ends[key] = end.timestamp()
        self.answered.append(key)
        span = between(self._open.get(key), moment_of(event.get("timestamp")))
        if span is not None and len({self.calls[call] for call in self._open}) == 1:
            self.spans[key] = span


def outcome_of(exit: AgentExit) -> Outcome:
    """Read the outcome of a finished process."""
    transcript = _Transcript(answers=ToolAnswers.of(exit), retrievals=Retrievals.of(exit))
    for printed in objects(exit.stdout):
        transcript.add(printed)
    stderr = tail(exit.stderr, _STDERR_BYTES).strip()
    if transcript.result is None and transcript.whole is not None:
        return _outcome_of_document(exit, transcript.whole, stderr)
    result = transcript.result.value if transcript.result else {}
    stats = object_of(result.get("stats"))
    text = "".join(transcript.answer)
    succeeded = result.get("status") == "success"
    turns = transcript.turns
    judged = cause_of(exit, result, transcript.errors, text=text, stderr=stderr, turns=turns)
    cause, detail = unless_refused(judged, exit, answered=turns > 0)
    started = transcript.init is not None
    home = figures_in(exit.home, exit.servers) if started else HomeFigures()
    return Outcome(
        cause=cause,
        detail=detail,
        text=_answer(text, cause, finished=succeeded and not transcript.errors),
        usage=_usage_of_stream(stats) if stats else Usage.total(home.turn_usage or ()),
        all_in=_usage_of_stream(stats),
        turn_usage=home.turn_usage,
        turns=transcript.turns or None if started else None,
        duration_ms=_duration(stats),
        model=_model(transcript.init, object_of(stats.get("models"))),
        tool_calls=dict(Counter(transcript.calls.values())) if started else None,
        tool_failures=dict(Counter(transcript.failures.values())) if started else None,
        tool_unanswered=_unanswered(transcript) if started else None,
        tool_seconds=seconds_by_tool(transcript.calls, transcript.spans) if started else None,
        tool_result_tokens=_result_tokens(transcript, home),
        tool_answers=transcript.answers.all() if started else None,
        retrieved=_retrieved(transcript, home, exit) if started else None,
        retries=len(_RETRY.findall(stderr)) if started else None,
        servers=home.servers,
        payload=transcript.result.raw if transcript.result else None,
        **transcript.commands.outcome_fields(started),
    )


def _unanswered(transcript: _Transcript) -> dict[str, int]:
    names = [name for key, name in transcript.calls.items() if key not in transcript.answered]
    return dict(Counter(names))


def _result_tokens(transcript: _Transcript, home: HomeFigures) -> dict[str, int] | None:
    """Count the results in the home, which the model got; those printed are for a person."""
    if home.answers is None:
        return None
    counts = {key: tokens_of(home.answers.get(key)) for key in transcript.answered}
    return tokens_by_tool(transcript.calls, counts)


def _retrieved(shown: _Transcript, home: HomeFigures, exit: AgentExit) -> tuple[Retrieved, ...]:
    usage = home.turn_usage or ()
    timeline = Timeline(
        turns=shown.asked_in,
        ends=shown.ends,
        usage=usage if len(usage) == shown.turns else (),
        started=exit.started,
    )
    return shown.retrievals.all(timeline, home.answers)


def _outcome_of_document(exit: AgentExit, whole: JsonObject, stderr: str) -> Outcome:
    """Read the outcome of `--output-format json`, which a user can choose with `--agent-arg`."""
    document = whole.value
    text = text_of(document.get("response")) or ""
    error = document.get("error")
    result = {"status": "error" if error else "success", "error": error}
    warnings = [{"message": message} for message in list_of(document.get("warnings"))]
    cause, detail = cause_of(exit, result, warnings, text=text, stderr=stderr, turns=0)
    stats = object_of(document.get("stats"))
    models = [object_of(model) for model in object_of(stats.get("models")).values()]
    tools = object_of(object_of(stats.get("tools")).get("byName"))
    return Outcome(
        cause=cause,
        detail=detail,
        text=_answer(text, cause, finished=not error and not warnings),
        usage=_usage_of_models(models),
        all_in=_usage_of_models(models),
        turns=total(count_of(object_of(model.get("api")).get("totalRequests")) for model in models),
        tool_calls=_by_name(tools, "count") if stats else None,
        tool_failures=_by_name(tools, "fail") if stats else None,
        tool_seconds=_seconds(tools) if stats else None,
        retries=len(_RETRY.findall(stderr)),
        payload=whole.raw,
    )


def _answer(text: str, cause: Cause, *, finished: bool) -> str | None:
    """Return the answer: where it complained about something, it stopped, and its text is none."""
    counts = finished or cause in (Cause.FINISHED, Cause.ANSWER_CUT)
    return text if text.strip() and counts else None


def _usage_of_stream(stats: Json) -> Usage:
    whole, prompt = count_of(stats.get("total_tokens")), count_of(stats.get("input_tokens"))
    candidates, cached = count_of(stats.get("output_tokens")), count_of(stats.get("cached"))
    # It gives thoughts no figure of their own: they are what the total holds beyond the prompt
    # and the candidates. Without a total the thoughts are unknown.
    output = None
    if whole is not None and prompt is not None and whole >= prompt + (candidates or 0):
        output = whole - prompt
    return _usage(prompt, cached, output)


def _usage_of_models(models: list[Json]) -> Usage:
    tokens = [object_of(model.get("tokens")) for model in models]

    def sum_of(*names: str) -> int | None:
        return total(count_of(of_model.get(name)) for of_model in tokens for name in names)

    return _usage(sum_of("prompt"), sum_of("cached"), sum_of("candidates", "thoughts"))


def _usage(prompt: int | None, cached: int | None, output: int | None) -> Usage:
    """Drop zeros throughout: they are printed when no request was answered, and are no figures."""
    return usage_of(prompt, cached, output) if prompt or output else Usage()


def _duration(stats: Json) -> float | None:
    """Return the duration: on an error it prints 0, which is no measure."""
    return float(count_of(stats.get("duration_ms")) or 0) or None


def _model(init: Json | None, models: Json) -> str | None:
    """Return the model that was asked for, if no other answered in its place; `auto` and the like
    are no name of a model."""
    asked = clause_of((init or {}).get("model"))
    used = [name for name, of in models.items() if count_of(object_of(of).get("total_tokens"))]
    if asked not in used and len(used) == 1:
        return clause_of(used[0])
    return None if asked is None or asked.startswith("auto") else asked


def _seconds(tools: Json) -> dict[str, float] | None:
    """Return the seconds by tool, of those that were called once: it sums up calls that were made
    together. `None` when there are tools and none has a time."""
    called = {name: object_of(tool) for name, tool in tools.items()}
    called = {name: tool for name, tool in called.items() if count_of(tool.get("count"))}
    seconds = {
        treatment_name(text_of(name) or "unknown"): milliseconds / 1000
        for name, tool in called.items()
        if count_of(tool.get("count")) == 1
        and (milliseconds := amount_of(tool.get("durationMs"))) is not None
    }
    return seconds if seconds or not called else None


def _by_name(tools: Json, key: str) -> dict[str, int]:
    counts = Counter[str]()
    for name, tool in tools.items():
        counts[treatment_name(text_of(name) or "unknown")] += (
            count_of(object_of(tool).get(key)) or 0
        )
    return dict(+counts)

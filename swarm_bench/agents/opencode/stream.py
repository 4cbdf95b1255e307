"""Reads what `opencode run --format json` prints into an outcome, with the log beside it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from swarm_bench.agents.opencode.causes import BROKEN, FINAL, cause_of
from swarm_bench.agents.opencode.log import Log, read_log
from swarm_bench.agents.opencode.settings import key_of, plain
from swarm_bench.agents.reading.call_arguments import Commands
from swarm_bench.agents.reading.endings import unless_refused
from swarm_bench.agents.reading.json_lines import (
    Json,
    JsonObject,
    amount_of,
    clause_of,
    count_of,
    events_in,
    list_of,
    object_of,
    objects,
    text_of,
)
from swarm_bench.agents.reading.retrieved import Retrievals, Timeline
from swarm_bench.agents.reading.tool_answers import ToolAnswers
from swarm_bench.agents.reading.tool_costs import Span, seconds_by_tool, tokens_by_tool, tokens_of
from swarm_bench.core.figures import total
from swarm_bench.core.outcome import Activity, AgentExit, Outcome, Retrieved, Usage
from swarm_bench.core.status import Cause

_SHOWN = ("filePath", "pattern", "query", "command", "description")


@dataclass
class Transcript:
    """The state after the events so far. A call is printed with its result, so that none appears
    that was never answered."""

    started: bool = False
    steps: list[Usage] = field(default_factory=list)
    costs: list[float | None] = field(default_factory=list)
    reason: str | None = None
    """Of the last step; `None` while one is under way."""
    texts: list[str] = field(default_factory=list)
    """Of the last step, unless it called tools."""
    earlier: str = ""
    """Text of the step before, if it was to be the last one."""
    at: float | None = None
    """When the last event was printed, in seconds of the epoch."""
    calls: list[str] = field(default_factory=list)
    spans: dict[str, Span] = field(default_factory=dict)
    """By the index of the call among the calls."""
    result_tokens: dict[str, int | None] = field(default_factory=dict)
    answers: ToolAnswers = field(default_factory=ToolAnswers)
    commands: Commands = field(default_factory=Commands)
    retrievals: Retrievals = field(default_factory=Retrievals)
    asked_in: dict[str, int] = field(default_factory=dict)
    """Step by the index of the call that was made in it."""
    failures: list[str] = field(default_factory=list)
    denials: list[str] = field(default_factory=list)
    error: Json | None = None
    end: JsonObject | None = None

    def add(self, printed: JsonObject) -> None:
        event = printed.value
        part = object_of(event.get("part"))
        moment = amount_of(event.get("timestamp"))
        self.at = self.at if moment is None and self.at else (moment or 0) / 1000
        match event.get("type"):
            case "step_start":
                self.earlier = self.text if self.reason in FINAL else ""
                self.started, self.reason, self.error = True, None, None
                self.texts.clear()
            case "text":
                self.texts.append(text_of(part.get("text")) or "")
            case "tool_use":
                self._tool(part)
            case "step_finish":
                self.steps.append(usage_of(part))
                self.costs.append(amount_of(part.get("cost")))
                self.reason = text_of(part.get("reason")) or BROKEN[0]
                self.end = printed
            case "error":
                self.error, self.end = object_of(event.get("error")), printed

    @property
    def text(self) -> str:
        """The text of the last step, or of the one before, where the last has none."""
        text = "\n\n".join(self.texts)
        return text if text.strip() else self.earlier

    def _tool(self, part: Json) -> None:
        self.started = True
        self.earlier = ""
        self.texts.clear()
        name, state = text_of(part.get("tool")) or "unknown", object_of(part.get("state"))
        self._result(str(len(self.calls)), name, state)
        self.calls.append(name)
        if state.get("status") == "error":
            self.failures.append(name)
            if "rejected permission" in (text_of(state.get("error")) or ""):
                self.denials.append(name)

    def _result(self, key: str, name: str, state: Json) -> None:
        time = object_of(state.get("time"))
        begin, end = amount_of(time.get("start")), amount_of(time.get("end"))
        if begin is not None and end is not None and end >= begin:
            self.spans[key] = Span(begin / 1000, end / 1000)
        failed = state.get("status") == "error"
        result = state.get("error") if failed else _blocks(state)
        self.result_tokens[key] = tokens_of(result)
        self.answers.ask(key, name, state.get("input"))
        self.commands.ask(name, state.get("input"))
        self.answers.answer(key, result, failed=failed)
        self.retrievals.ask(key, name, state.get("input"))
        self.retrievals.answer(key, result, failed=failed)
        self.asked_in[key] = len(self.steps) + 1


def _blocks(state: Json) -> object:
    """Return a result as its server gave it: the texts are the output, and all else is attached."""
    output, attached = state.get("output"), list_of(state.get("attachments"))
    kinds = [text_of(object_of(each).get("mime")) or "" for each in attached]
    others = [{"type": kind.partition("/")[0]} for kind in kinds]
    return [{"type": "text", "text": output}, *others] if others else output


def outcome_of(exit: AgentExit) -> Outcome:
    """Read the outcome of a finished process."""
    transcript = Transcript(answers=ToolAnswers.of(exit), retrievals=Retrievals.of(exit))
    for printed in objects(exit.stdout):
        transcript.add(printed)
    log = read_log(exit.stderr)
    last_text = transcript.text
    judged = cause_of(
        exit, transcript.error, transcript.reason, log, text=last_text, at=transcript.at
    )
    cause, detail = unless_refused(judged, exit, answered=bool(transcript.steps or last_text))
    text = _answer(transcript, cause)
    started = transcript.started
    calls = {str(index): name for index, name in enumerate(transcript.calls)}
    alone = log.exists and log.subagents == log.compactions == 0
    last_failed = transcript.error is not None
    return Outcome(
        cause=cause,
        detail=detail,
        text=text,
        model=log.model,
        program_version=log.version,
        tool_calls=dict(Counter(transcript.calls)) if started else None,
        tool_failures=dict(Counter(transcript.failures)) if started else None,
        tool_seconds=seconds_by_tool(calls, transcript.spans) if started else None,
        tool_result_tokens=tokens_by_tool(calls, transcript.result_tokens) if started else None,
        tool_answers=transcript.answers.all() if started else None,
        retrieved=_retrieved(transcript, exit) if started else None,
        permission_denials=dict(Counter(transcript.denials)) if started else None,
        retries=max(0, log.failed_requests - last_failed) if log.exists else None,
        compactions=log.compactions if log.exists else None,
        subagents=log.subagents if log.exists else None,
        servers=_servers(exit.servers, transcript, log),
        payload=transcript.end.raw if transcript.end else None,
        **_spent(transcript, cause, alone=alone),
        **transcript.commands.outcome_fields(started),
    )


def _spent(transcript: Transcript, cause: Cause, *, alone: bool) -> dict[str, Any]:
    """Return what the steps took; nothing for an answer whose step has no end, which says it."""
    if transcript.reason is None and cause is Cause.FINISHED:
        return {}
    usage = Usage.total(transcript.steps)
    return {
        "usage": usage,
        "all_in": usage if alone else Usage(),
        "turn_usage": tuple(transcript.steps) if transcript.started else None,
        "turns": len(transcript.steps) if transcript.started else None,
        "cost": total(transcript.costs) or None,  # 0 stands for a model without a price
    }


def _retrieved(transcript: Transcript, exit: AgentExit) -> tuple[Retrieved, ...]:
    ends = {call: span.end for call, span in transcript.spans.items()}
    return transcript.retrievals.all(
        Timeline(
            turns=transcript.asked_in,
            ends=ends,
            usage=transcript.steps,
            started=exit.started,
        )
    )


def activity_of(line: bytes) -> Activity | None:
    """Read events for the live view, which steps called tools, and which was the last."""
    return Activity.joined(map(_activity, events_in(line)))


def _activity(event: Json) -> Activity | None:
    part = object_of(event.get("part"))
    match event.get("type"):
        case "tool_use":
            return Activity(doing=_doing(part), over=False)
        case "text":
            return Activity(doing="writing", over=False)
        case "step_finish":
            reason = part.get("reason")
            return Activity(
                doing="working",
                usage=usage_of(part),
                request=text_of(part.get("messageID")),
                turns=int(reason == "tool-calls" or reason in BROKEN),
                over=reason in FINAL,
            )
    return None


def usage_of(part: Json) -> Usage:
    """Read the tokens of a step. All are 0 when the provider sent none, and there is no total
    then."""
    tokens = object_of(part.get("tokens"))
    if not count_of(tokens.get("total")):
        return Usage()
    cache = object_of(tokens.get("cache"))
    written, thought = count_of(tokens.get("output")), count_of(tokens.get("reasoning"))
    return Usage(
        input=count_of(tokens.get("input")),
        cache_read=count_of(cache.get("read")),
        cache_create=count_of(cache.get("write")),
        output=None if written is None or thought is None else written + thought,
    )


def _doing(part: Json) -> str:
    arguments = object_of(object_of(part.get("state")).get("input"))
    shown = next((text for name in _SHOWN if (text := text_of(arguments.get(name)))), "")
    name = text_of(part.get("tool")) or "a tool"
    return clause_of(f"{name} {shown}", 120) or "working"


def _answer(transcript: Transcript, cause: Cause) -> str | None:
    """Join the texts of a last step that came to its end: before that they may be remarks on the
    way."""
    text = transcript.text
    ended = transcript.error is None and transcript.reason not in (None, "tool-calls", *BROKEN)
    counts = ended or cause in (Cause.FINISHED, Cause.ANSWER_CUT)
    return text if text.strip() and counts else None


def _servers(names: Iterable[str], transcript: Transcript, log: Log) -> dict[str, str] | None:
    """Return the servers' statuses. OpenCode asks its model when every server has connected or
    failed; it names the failed."""
    if not (transcript.started and log.exists):
        return None
    failed = {plain(name): log.unavailable.get(key_of(name)) for name in names}
    return {name: status or "connected" for name, status in failed.items()}

"""Reads what Claude Code prints (`json` and `stream-json`) into an outcome.

Scout and the scripted agent print the same. Nothing here trusts the output: a figure of a wrong
type is missing, and text that is no JSON is passed over.
"""

from collections import Counter
from typing import Any

from swarm_bench.agents.reading.endings import unless_refused
from swarm_bench.agents.reading.json_lines import (
    Json,
    clause_of,
    events_in,
    may_end_document,
    object_of,
    objects,
    text_of,
)
from swarm_bench.agents.reading.retrieved import Retrievals, Timeline
from swarm_bench.agents.reading.tool_answers import ToolAnswers
from swarm_bench.agents.reading.tool_costs import seconds_by_tool, tokens_by_tool
from swarm_bench.agents.stream_json.failures import answer_of, cause_of
from swarm_bench.agents.stream_json.result_event import figures_of, same_requests
from swarm_bench.agents.stream_json.transcript import (
    OURS,
    Transcript,
    blocks,
    names_of,
    servers_of,
    tools_of,
    usage_of,
)
from swarm_bench.core.outcome import Activity, AgentExit, Outcome, Usage

_SHOWN_ARGUMENTS = ("file_path", "pattern", "query", "command", "symbol", "path", "patterns")


def outcome_of(exit: AgentExit, *, output_is_counted: bool = False) -> Outcome:
    """Read the outcome of a finished process.

    With `output_is_counted`, assistant events carry the real number of output tokens; Claude Code
    prints a placeholder there.
    """
    transcript = Transcript(answers=ToolAnswers.of(exit), retrievals=Retrievals.of(exit))
    for printed in objects(exit.stdout):
        transcript.add(printed)
    results = [transcript.results[index].value for index in sorted(transcript.results)]
    figures = figures_of(results)
    judged = cause_of(exit, transcript)
    cause, detail = unless_refused(judged, exit, answered=bool(transcript.requests))
    result = results[-1] if results else {}
    shown = transcript.has_events
    turn_usage = _turn_usage(transcript, output_is_counted)
    return Outcome(
        cause=cause,
        detail=detail,
        text=answer_of(transcript, cause),
        usage=same_requests(figures, transcript) if results else Usage.total(turn_usage),
        all_in=figures.all_in,
        turn_usage=turn_usage if shown else None,
        turns=figures.turns,
        duration_ms=figures.duration_ms,
        api_ms=figures.api_ms,
        cost=figures.cost,
        cost_unreliable=figures.cost_unreliable,
        permission_denials=figures.denials,
        retries=transcript.retries if shown else None,
        compactions=transcript.compactions if shown else None,
        subagents=_subagents(transcript, figures.subagents),
        payload=transcript.last.raw if transcript.last else None,
        **_start(transcript, result),
        **(_of_tools(transcript, turn_usage, exit) if shown else {}),
    )


def _start(transcript: Transcript, result: Json) -> dict[str, Any]:
    """Return what the program reports on itself, most of it at its start, and what its calls
    name."""
    init = transcript.init or {}
    ours = object_of(result.get(OURS)) or object_of(init.get(OURS))
    return {
        "cost_estimated": True if ours.get("cost_estimated") is True else None,
        "fixed_rules": True if ours.get("fixed_rules") is True else None,
        "price_table": clause_of(ours.get("price_table")),
        "token_counter": clause_of(ours.get("token_counter")),
        "unusable_tools": names_of(ours.get("unusable_tools")),
        "model": transcript.answering_model,
        "program_version": clause_of(init.get("claude_code_version")),
        "servers": servers_of(init),
        "tools_offered": tools_of(init),
        **transcript.commands.outcome_fields(transcript.has_events),
    }


def _of_tools(
    transcript: Transcript, turn_usage: tuple[Usage, ...], exit: AgentExit
) -> dict[str, Any]:
    """Return what the events show of calls."""
    calls = transcript.calls
    timeline = Timeline(
        turns=transcript.turns_of(transcript.requests),
        ends=transcript.ends,
        usage=turn_usage,
        started=exit.started,
    )
    return {
        "tool_calls": dict(Counter(calls.values())),
        "tool_failures": dict(Counter(transcript.failures.values())),
        "tool_unanswered": dict(Counter(transcript.unanswered.values())),
        "tool_seconds": seconds_by_tool(calls, transcript.spans),
        "tool_result_tokens": tokens_by_tool(calls, transcript.result_tokens),
        "tool_answers": transcript.answers.all(),
        "retrieved": transcript.retrievals.all(timeline),
    }


def activity_of(line: bytes) -> Activity | None:
    """Read assistant events for the live view, and results, after which the program ends."""
    # Results of tools are long, and show nothing that their calls did not. Inside of a JSON string
    # there would be a backslash before the second quote.
    if b'"assistant"' not in line and b'"result"' not in line:
        return Activity(doing="working", over=True) if may_end_document(line) else None
    return Activity.joined(map(_activity, events_in(line)))


def _activity(event: Json) -> Activity | None:
    if event.get("type") == "result":
        return Activity(doing="done", over=True)
    if event.get("type") != "assistant":
        return None
    message = object_of(event.get("message"))
    calls = blocks(message, "tool_use")
    doing = ", ".join(_doing(call) for call in calls[:3]) if calls else "writing"
    return Activity(
        doing=clause_of(doing, 120) or "working",
        usage=usage_of(message.get("usage")),
        request=text_of(message.get("id")),
        over=False,
    )


def _turn_usage(transcript: Transcript, output_is_counted: bool) -> tuple[Usage, ...]:
    if output_is_counted:
        return tuple(transcript.requests.values())
    return transcript.turn_usage()


def _subagents(transcript: Transcript, stated: int | None) -> int | None:
    if stated is not None:
        return stated
    return transcript.subagents() if transcript.has_events else None


def _doing(call: Json) -> str:
    arguments = object_of(call.get("input"))
    values = (arguments[name] for name in _SHOWN_ARGUMENTS if arguments.get(name))
    shown = next(values, "")
    if isinstance(shown, list):
        shown = " ".join(text_of(part) or "" for part in shown[:8])
    return f"{text_of(call.get('name')) or 'a tool'} {text_of(shown) or ''}".strip()

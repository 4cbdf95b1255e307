"""Reads what Claude Code prints (`json` and `stream-json`) into an outcome.

Scout and the scripted agent print the same. Nothing here trusts the output: a figure of a wrong
type is missing, and text that is no JSON is passed over.
"""

from collections import Counter
from typing import Any

from swarm_bench.agents.reading.endings import apply_refusal
from swarm_bench.agents.reading.json_lines import (
    Json,
    as_clause,
    as_object,
    as_text,
    events_in,
    may_end_document,
    read_objects,
)
from swarm_bench.agents.reading.retrieved import Retrievals, Timeline
from swarm_bench.agents.reading.tool_answers import ToolAnswers
from swarm_bench.agents.reading.tool_costs import sum_seconds, tokens_by_tool
from swarm_bench.agents.stream_json.failures import find_answer, find_cause
from swarm_bench.agents.stream_json.result_event import combine_figures, same_requests
from swarm_bench.agents.stream_json.transcript import (
    EXTRAS_KEY,
    Transcript,
    blocks,
    names_of,
    servers_of,
    tools_of,
    usage_of,
)
from swarm_bench.core.outcome import Activity, AgentExit, Outcome, Usage

_SHOWN_ARGUMENTS = ("file_path", "pattern", "query", "command", "symbol", "path", "patterns")


def read_outcome(exit: AgentExit, *, output_is_counted: bool = False) -> Outcome:
    """Read the outcome of a finished process.

    With `output_is_counted`, assistant events carry the real number of output tokens; Claude Code
    prints a placeholder there.
    """
    transcript = Transcript(answers=ToolAnswers.start(exit), retrievals=Retrievals.start(exit))
    for printed in read_objects(exit.stdout):
        transcript.add(printed)
    results = [transcript.results[index].value for index in sorted(transcript.results)]
    figures = combine_figures(results)
    judgement = find_cause(exit, transcript)
    cause, detail = apply_refusal(judgement, exit, has_answered=bool(transcript.requests))
    result = results[-1] if results else {}
    has_events = transcript.has_events
    turn_usage = _turn_usage(transcript, output_is_counted)
    return Outcome(
        cause=cause,
        detail=detail,
        text=find_answer(transcript, cause),
        usage=same_requests(figures, transcript) if results else Usage.total(turn_usage),
        all_in=figures.all_in,
        turn_usage=turn_usage if has_events else None,
        turns=figures.turns,
        duration_ms=figures.duration_ms,
        api_ms=figures.api_ms,
        cost=figures.cost,
        cost_unreliable=figures.cost_unreliable,
        permission_denials=figures.denials,
        retries=transcript.retries if has_events else None,
        compactions=transcript.compactions if has_events else None,
        subagents=_count_subagents(transcript, figures.subagents),
        payload=transcript.last.raw if transcript.last else None,
        **_read_start(transcript, result),
        **(_read_calls(transcript, turn_usage, exit) if has_events else {}),
    )


def _read_start(transcript: Transcript, result: Json) -> dict[str, Any]:
    """Return what the program reports on itself, most of it at its start, and what its calls
    name."""
    init = transcript.init or {}
    extras = as_object(result.get(EXTRAS_KEY)) or as_object(init.get(EXTRAS_KEY))
    return {
        "cost_estimated": True if extras.get("cost_estimated") is True else None,
        "fixed_rules": True if extras.get("fixed_rules") is True else None,
        "price_table": as_clause(extras.get("price_table")),
        "token_counter": as_clause(extras.get("token_counter")),
        "unusable_tools": names_of(extras.get("unusable_tools")),
        "model": transcript.answering_model,
        "program_version": as_clause(init.get("claude_code_version")),
        "servers": servers_of(init),
        "tools_offered": tools_of(init),
        **transcript.commands.outcome_fields(transcript.has_events),
    }


def _read_calls(
    transcript: Transcript, turn_usage: tuple[Usage, ...], exit: AgentExit
) -> dict[str, Any]:
    """Return what the events show of calls."""
    calls = transcript.calls
    timeline = Timeline(
        turns=transcript.number_turns(transcript.requests),
        end_times=transcript.end_times,
        usage=turn_usage,
        started=exit.started,
    )
    return {
        "tool_calls": dict(Counter(calls.values())),
        "tool_failures": dict(Counter(transcript.failures.values())),
        "tool_unanswered": dict(Counter(transcript.unanswered_calls.values())),
        "tool_seconds": sum_seconds(calls, transcript.spans),
        "tool_result_tokens": tokens_by_tool(calls, transcript.result_tokens),
        "tool_answers": transcript.answers.all(),
        "retrieved": transcript.retrievals.all(timeline),
    }


def read_activity(line: bytes) -> Activity | None:
    """Read assistant events for the live view, and results, after which the program ends."""
    # Results of tools are long, and show nothing that their calls did not. Inside of a JSON string
    # there would be a backslash before the second quote.
    if b'"assistant"' not in line and b'"result"' not in line:
        return Activity(doing="working", over=True) if may_end_document(line) else None
    return Activity.joined(map(_read_event, events_in(line)))


def _read_event(event: Json) -> Activity | None:
    if event.get("type") == "result":
        return Activity(doing="done", over=True)
    if event.get("type") != "assistant":
        return None
    message = as_object(event.get("message"))
    calls = blocks(message, "tool_use")
    description = ", ".join(_describe_call(call) for call in calls[:3]) if calls else "writing"
    return Activity(
        doing=as_clause(description, 120) or "working",
        usage=usage_of(message.get("usage")),
        request=as_text(message.get("id")),
        over=False,
    )


def _turn_usage(transcript: Transcript, output_is_counted: bool) -> tuple[Usage, ...]:
    if output_is_counted:
        return tuple(transcript.requests.values())
    return transcript.turn_usage()


def _count_subagents(transcript: Transcript, stated: int | None) -> int | None:
    if stated is not None:
        return stated
    return transcript.subagents() if transcript.has_events else None


def _describe_call(call: Json) -> str:
    arguments = as_object(call.get("input"))
    values = (arguments[name] for name in _SHOWN_ARGUMENTS if arguments.get(name))
    argument = next(values, "")
    if isinstance(argument, list):
        argument = " ".join(as_text(part) or "" for part in argument[:8])
    return f"{as_text(call.get('name')) or 'a tool'} {as_text(argument) or ''}".strip()

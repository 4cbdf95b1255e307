"""Reads what Claude Code prints (`json` and `stream-json`) into an outcome.

Scout and the scripted agent print the same. Nothing here trusts the output: a figure of a wrong
type is missing, and text that is no JSON is passed over.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from swarm_bench.agents.reading.endings import apply_refusal
from swarm_bench.agents.reading.json_lines import (
    Json,
    as_amount,
    as_clause,
    as_count,
    as_list,
    as_object,
    as_text,
    events_in,
    may_end_document,
    read_objects,
)
from swarm_bench.agents.reading.tool_calls import Timeline, ToolCalls
from swarm_bench.agents.stream_json.failures import find_answer, find_cause
from swarm_bench.agents.stream_json.transcript import (
    EXTRAS_KEY,
    Transcript,
    blocks,
    names_of,
    servers_of,
    tools_of,
    usage_of,
)
from swarm_bench.core.figures import total
from swarm_bench.core.outcome import Activity, AgentExit, Outcome, Usage

_SHOWN_ARGUMENTS = ("file_path", "pattern", "query", "command", "symbol", "path", "patterns")
_NOTHING = Usage(input=0, cache_read=0, cache_create=0, output=0)


def read_outcome(exit: AgentExit, *, output_is_counted: bool = False) -> Outcome:
    """Read the outcome of a finished process.

    With `output_is_counted`, assistant events carry the real number of output tokens; Claude Code
    prints a placeholder there.
    """
    transcript = Transcript(calls=ToolCalls.start(exit))
    for printed in read_objects(exit.stdout):
        transcript.add(printed)
    results = [transcript.results[index].value for index in sorted(transcript.results)]
    figures = _combine_figures(results)
    judgement = find_cause(exit, transcript)
    cause, detail = apply_refusal(judgement, exit, has_answered=bool(transcript.requests))
    result = results[-1] if results else {}
    has_events = transcript.has_events
    turn_usage = _turn_usage(transcript, output_is_counted)
    return Outcome(
        cause=cause,
        detail=detail,
        text=find_answer(transcript, cause),
        usage=_same_requests(figures, transcript) if results else Usage.total(turn_usage),
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
    """Return what the program reports on itself, most of it at its start."""
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
    }


def _read_calls(
    transcript: Transcript, turn_usage: tuple[Usage, ...], exit: AgentExit
) -> dict[str, Any]:
    """Return what the events show of calls."""
    timeline = Timeline(
        turns=transcript.number_turns(transcript.requests),
        end_times=transcript.end_times,
        usage=turn_usage,
        started=exit.started,
    )
    turn_texts = transcript.number_texts(transcript.requests)
    return transcript.calls.make_fields(
        timeline, transcript.spans, transcript.result_tokens, turn_texts=turn_texts
    )


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


@dataclass(frozen=True, kw_only=True)
class Figures:
    """The figures of all results. Tokens, turns and time are each result's own and are added
    up; cost, sub-agents and the use of the models run on, and are those of the last one."""

    usage: Usage
    """Tokens of the main conversation."""
    all_in: Usage
    """Tokens with those of sub-agents and compactions."""
    turns: int | None
    duration_ms: float | None
    api_ms: float | None
    cost: float | None
    cost_unreliable: bool | None
    denials: dict[str, int] | None
    subagents: int | None


def _combine_figures(results: Sequence[Json]) -> Figures:
    """Combine the figures of a program's results, in the order in which it numbered them."""
    last = results[-1] if results else {}
    usage = Usage.total(_read_figures(usage_of(result.get("usage"))) for result in results)
    models = last.get("modelUsage")
    all_in = _all_in(as_object(models))
    has_figures = usage != Usage() or all_in != Usage()
    return Figures(
        usage=usage,
        all_in=all_in,
        # Some versions print 0 for a run that was broken off.
        turns=total(as_count(result.get("num_turns")) for result in results) or None,
        duration_ms=total(as_amount(result.get("duration_ms")) for result in results),
        api_ms=as_amount(last.get("duration_api_ms")),
        # Without a single answered request there is nothing that the 0 would be the price of.
        cost=as_amount(last.get("total_cost_usd")) if has_figures or models is None else None,
        cost_unreliable=_describe_unreliable(as_object(models)),
        denials=_count_denials(results),
        subagents=as_count(as_object(last.get("subagent_stats")).get("spawned")),
    )


def _same_requests(figures: Figures, transcript: Transcript) -> Usage:
    """Return the tokens of all the requests of the main conversation that the all-in tokens and the
    cost are of; without figures where that is uncertain.

    The result omits a request after which a limit or an interrupt ended the run, and counts the
    output of one that broke off as less than it charges.
    """
    if figures.all_in in (Usage(), figures.usage) or _is_complete(figures, transcript):
        return figures.usage
    uncompacted = transcript.has_events and transcript.compactions == 0
    has_subagents = figures.subagents or transcript.subagents()
    return figures.all_in if uncompacted and not has_subagents else Usage()


def _is_complete(figures: Figures, transcript: Transcript) -> bool:
    """Tell whether the result counts every request of the main conversation that there was."""
    stated, charged = vars(figures.usage).values(), vars(figures.all_in).values()
    if any((count or 0) > (among or 0) for count, among in zip(stated, charged, strict=True)):
        return False
    if transcript.has_events:
        requests = Usage.total(transcript.requests.values())
        same = replace(requests, output=None) == replace(figures.usage, output=None)
        return same and not transcript.broken
    result = transcript.last.value if transcript.last else {}
    return result.get("subtype") in ("success", "error_max_turns") and not transcript.broken


def _read_figures(usage: Usage) -> Usage:
    """Drop zeros throughout, which are no figures: they stand there when no request was
    answered."""
    return Usage() if usage == _NOTHING else usage


def _all_in(models: Json) -> Usage:
    return Usage.total(
        Usage(
            input=as_count(model.get("inputTokens")),
            cache_read=as_count(model.get("cacheReadInputTokens")),
            cache_create=as_count(model.get("cacheCreationInputTokens")),
            output=as_count(model.get("outputTokens")),
        )
        for model in map(as_object, models.values())
    )


def _describe_unreliable(models: Json) -> bool | None:
    """Tell whether a model was priced without a price of its own. Versions that do not report it
    price an unknown model like their dearest one; an id without `claude` is unknown to them."""
    verdicts = []
    for name, model in models.items():
        basis = as_text(as_object(model).get("costBasis"))
        if basis is None:
            verdicts.append(None if "claude" in name else True)
        else:
            verdicts.append(basis == "unknown")
    if True in verdicts:
        return True
    return False if verdicts and None not in verdicts else None


def _count_denials(results: Sequence[Json]) -> dict[str, int] | None:
    """Count refused calls by tool, each once: a later result can repeat those of an earlier one."""
    lists = [result.get("permission_denials") for result in results]
    if not any(isinstance(denials, list) for denials in lists):
        return None
    refused: dict[str, str] = {}
    for denial in (as_object(item) for denials in lists for item in as_list(denials)):
        key = as_text(denial.get("tool_use_id")) or f"call {len(refused)}"
        refused[key] = as_text(denial.get("tool_name")) or "unknown"
    return dict(Counter(refused.values()))

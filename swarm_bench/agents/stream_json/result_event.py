"""The figures in Claude Code's result events."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from swarm_bench.agents.reading.json_lines import (
    Json,
    as_amount,
    as_count,
    as_list,
    as_object,
    as_text,
)
from swarm_bench.agents.stream_json.transcript import Transcript, usage_of
from swarm_bench.core.figures import total
from swarm_bench.core.outcome import Usage

_NOTHING = Usage(input=0, cache_read=0, cache_create=0, output=0)


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


def combine_figures(results: Sequence[Json]) -> Figures:
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


def same_requests(figures: Figures, transcript: Transcript) -> Usage:
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

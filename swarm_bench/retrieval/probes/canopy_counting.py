"""What canopy counts for a call of one of its tools: its rules, as intervals.

- A query is written to `.canopy/feedback.db` once; with a service twice, by client and service.
- An evidence pack is a query. Without a service it asks a second time when it found nothing.
- A query in canopy's own language is answered from the local index, also with a service.
- An expand is written once per handle. With a service, one of an id that this process did not get
  from an evidence pack is read from the local index and counted nowhere.
- A call that fails may have been counted before it failed. Standalone, an expand cannot: one that
  fails for some handles is answered and writes the others; only when all fail it fails, and writes
  nothing.
- A call that nobody answered may have been counted as one that was answered, or not at all.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

from swarm_bench.core.treatment.counting import Expected, ToolCalls, numbered

_KINDS = {"canopy_query": "queries", "canopy_evidence_pack": "packs", "canopy_expand": "expands"}
_UNCOUNTED = ("canopy_status", "canopy_index", "canopy_invalidate", "canopy_agent_readme")


@dataclass(frozen=True, kw_only=True)
class Calls:
    """Calls in transcripts: those that were answered, those that failed, and those that are open,
    without an answer."""

    queries: int = 0
    packs: int = 0
    expands: int = 0
    failed_queries: int = 0
    failed_packs: int = 0
    failed_expands: int = 0
    open_queries: int = 0
    open_packs: int = 0
    open_expands: int = 0
    others: int = 0
    """Calls of MCP tools that are not canopy's."""

    @classmethod
    def count_calls(cls, calls: Mapping[str, ToolCalls]) -> "Calls":
        """Count those of canopy's tools among the calls of MCP tools."""
        counts = Counter[str]()
        for tool, tool_calls in calls.items():
            if tool.endswith(_UNCOUNTED):
                continue
            kind = next((kind for end, kind in _KINDS.items() if tool.endswith(end)), None)
            if kind is None:
                counts["others"] += tool_calls.number
            else:
                counts[kind] += tool_calls.answered
                counts[f"failed_{kind}"] += tool_calls.failed
                counts[f"open_{kind}"] += tool_calls.unanswered
        return cls(**counts)

    @property
    def no_ceiling(self) -> str:
        """Why there may be more counts than these."""
        return "tools were called that are not canopy's" if self.others else ""


def expect_service_counts(calls: Calls, recorded_queries: int | None) -> dict[str, Expected]:
    """Say what each counter of a service may show. `recorded` are the query events of
    `feedback.db`, where it was read."""
    questions, failed = calls.queries + calls.packs, calls.failed_queries + calls.failed_packs
    unanswered = calls.open_queries + calls.open_packs
    failing = _state_rule(failed, unanswered, "counted")
    # What the service was not asked stands in the database all the same.
    local = recorded_queries is not None and recorded_queries >= questions
    dsl = "a query in canopy's own language is not the service's, and the database has it"
    return {
        "queries": Expected(
            plain=questions,
            low=0 if local else questions,
            high=questions + failed + unanswered,
            below=dsl,
            above=failing,
            calls=_describe_questions(calls),
            no_ceiling=calls.no_ceiling,
        ),
        "evidence_packs": Expected(
            plain=calls.packs,
            low=0 if local else calls.packs,
            high=calls.packs + calls.failed_packs + calls.open_packs,
            below=dsl,
            above=failing,
            calls=f"{numbered(calls.packs, 'answered call')} of canopy_evidence_pack",
            no_ceiling=calls.no_ceiling,
        ),
        "expands": _expect_expand_requests(calls),
    }


def expect_database_counts(calls: Calls, *, service: bool, no_floor: str) -> dict[str, Expected]:
    """Say what each counter of `feedback.db` may show, with a service or without. `no_floor` says
    why it may lack events."""
    return {
        "query_events": _expect_query_events(calls, service=service, no_floor=no_floor),
        "expand_events": _expect_expand_events(calls, service=service, no_floor=no_floor),
    }


def _describe_questions(calls: Calls) -> str:
    questions, failed = calls.queries + calls.packs, calls.failed_queries + calls.failed_packs
    return (
        f"{numbered(questions, 'answered call')} of canopy_query and canopy_evidence_pack"
        + _describe_others(failed, calls.open_queries + calls.open_packs)
    )


def _expect_query_events(calls: Calls, *, service: bool, no_floor: str) -> Expected:
    questions, failed = calls.queries + calls.packs, calls.failed_queries + calls.failed_packs
    unanswered = calls.open_queries + calls.open_packs
    if service:
        extra = calls.queries + calls.open_queries
        rule = "with a service a canopy_query is written twice"
    else:
        extra = calls.packs + calls.failed_packs + calls.open_packs
        rule = "an evidence pack that finds nothing asks a second time"
    if failed or unanswered:
        rule += f", and {_state_rule(failed, unanswered, 'written')}"
    return Expected(
        plain=questions,
        low=questions,
        high=questions + extra + failed + unanswered,
        above=rule,
        calls=_describe_questions(calls),
        no_floor=no_floor,
        no_ceiling=calls.no_ceiling,
    )


def _expect_expand_events(calls: Calls, *, service: bool, no_floor: str) -> Expected:
    any_call = calls.expands + calls.open_expands + (calls.failed_expands if service else 0)
    return Expected(
        plain=calls.expands,
        low=0 if service else calls.expands,
        high=inf if any_call else 0,
        below="with a service an expand of an id that did not come from a pack is written nowhere",
        above="an expand is written once for each handle"
        + (", and one that nobody answered may have been written" if calls.open_expands else ""),
        calls=_describe_expands(calls),
        no_floor=no_floor,
        no_ceiling=calls.no_ceiling,
    )


def _expect_expand_requests(calls: Calls) -> Expected:
    return Expected(
        plain=calls.expands,
        low=0,
        high=inf if calls.expands + calls.failed_expands + calls.open_expands else 0,
        below="an expand of an id that did not come from a pack is read from the local index",
        above="handles that the service refuses together are asked for one by one"
        + (", and a call that nobody answered may have been counted" if calls.open_expands else ""),
        calls=_describe_expands(calls),
        no_ceiling=calls.no_ceiling,
    )


def _describe_expands(calls: Calls) -> str:
    text = f"{numbered(calls.expands, 'answered call')} of canopy_expand"
    return text + _describe_others(calls.failed_expands, calls.open_expands)


def _describe_others(failed: int, unanswered: int) -> str:
    """Name the calls that were not answered, or with an error."""
    failures = f" and {failed} that failed" if failed else ""
    return failures + (f" and {unanswered} that nobody answered" if unanswered else "")


def _state_rule(failed: int, unanswered: int, done: str) -> str:
    """State the rule by which they may be among the counts."""
    if not unanswered:
        return f"a call that fails may have been {done} before"
    kinds = "fails or that nobody answered" if failed else "nobody answered"
    return f"a call that {kinds} may have been {done}"

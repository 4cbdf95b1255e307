"""Evidence packs: which of the handles found are shown, and what the agent is advised to do.

The figures are canopy 0.4.0's own, so that an agent gets the same advice from both.
The advice at the end of a pack says whether to continue searching, or to read and answer.
"""

import math
from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any

from swarm_bench.programs.canopy.nodes import Handle, NodeType
from swarm_bench.programs.canopy.parameters import PackLimits
from swarm_bench.programs.canopy.result_json import Json, SearchResult, origin
from swarm_bench.programs.canopy.search.fulltext import terms

STOP_CONFIDENCE = 0.55


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """The basis of the advice. Scores are those of the selected handles, best first."""

    scores: list[float]
    files: int
    matches: int
    truncated: bool
    max_handles: int

    @property
    def confidence(self) -> float:
        """Return the confidence, from 0 to 1."""
        if not self.scores:
            return 0.0
        top = self.scores[:3]
        coverage = min(self.files, 3) / 3
        fill = min(len(self.scores) / self.max_handles, 1.0)
        signal = 0.0 if self.matches == 0 else 0.4 if self.matches < 3 else 1.0
        penalty = 0.10 if self.truncated else 0.0
        mean = sum(top) / len(top)
        value = 0.55 * mean + 0.20 * coverage + 0.15 * fill + 0.10 * signal - penalty
        return max(0.0, min(value, 1.0))

    @property
    def is_enough(self) -> bool:
        """Whether to stop querying."""
        has_several = len(self.scores) >= 4 and self.files >= 2
        return bool(self.scores) and (self.confidence >= STOP_CONFIDENCE or has_several)

    @property
    def band(self) -> str:
        if self.confidence < 0.35:
            return "low"
        return "medium" if self.confidence < 0.70 else "high"

    @property
    def expand_count(self) -> int:
        target = 2 if self.confidence >= 0.75 else 3 if self.confidence >= 0.50 else 4
        return max(1, min(len(self.scores), target))


def guidance(evidence: Evidence) -> dict[str, Any]:
    """Build the `guidance` object of a pack."""
    if not evidence.scores:
        return {
            "confidence": 0.0,
            "confidence_band": "low",
            "stop_querying": False,
            "recommended_action": "refine_query",
            "suggested_expand_count": 0,
            "max_additional_queries": 2,
            "rationale": "Nothing was found for this query.",
            "next_step": "Query again with a symbol name or with fewer and more specific words.",
        }
    count = evidence.expand_count
    stop = evidence.is_enough
    return {
        "confidence": evidence.confidence,
        "confidence_band": evidence.band,
        "stop_querying": stop,
        "recommended_action": "expand_then_answer" if stop else "refine_query",
        "suggested_expand_count": count,
        "max_additional_queries": 0 if stop else 1,
        "rationale": (
            f"{len(evidence.scores)} handles in {evidence.files} files,"
            f" confidence {evidence.confidence:.2f}."
        ),
        "next_step": (
            f"Expand the first {count} suggested handles, then answer."
            if stop
            else f"Query once more with more specific words, then expand {count} handles."
        ),
    }


SUGGESTED = 6
TYPE_WEIGHTS = {
    NodeType.FUNCTION: 1.0,
    NodeType.METHOD: 1.0,
    NodeType.CLASS: 0.8,
    NodeType.STRUCT: 0.8,
    NodeType.SECTION: 0.6,
    NodeType.CODE_BLOCK: 0.5,
    NodeType.CHUNK: 0.3,
    NodeType.PARAGRAPH: 0.2,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Pack:
    """The selection from one or more searches."""

    text: str
    result: SearchResult
    limits: PackLimits
    selected: list[tuple[float, Handle]]

    @property
    def evidence(self) -> Evidence:
        return Evidence(
            scores=[value for value, _ in self.selected],
            files=len({handle.path for _, handle in self.selected}),
            matches=self.result.matches,
            truncated=self.result.truncated,
            max_handles=self.limits.max_handles,
        )


def select(text: str, result: SearchResult, limits: PackLimits) -> Pack:
    """Choose the first handles, up to the limits for the pack and for each file, and put those of
    a file together: the files in the order of the search, the handles of each by their scores."""
    query_terms = terms(text)
    by_file: dict[str, list[tuple[float, Handle]]] = {}
    selected_count = 0
    for handle in result.handles:
        of_file = by_file.setdefault(handle.path, [])
        if selected_count < limits.max_handles and len(of_file) < limits.max_per_file:
            of_file.append((score(handle, query_terms), handle))
            selected_count += 1
    selected = [
        pair
        for of_file in by_file.values()
        for pair in sorted(of_file, key=lambda pair: (-pair[0], pair[1].tokens))
    ]
    return Pack(text=text, result=result, limits=limits, selected=selected)


def score(
    handle: Handle, query_terms: list[str], weights: Mapping[NodeType, float] = TYPE_WEIGHTS
) -> float:
    """Rate a handle from 0 to 1. A type that `weights` does not list has its usual weight."""
    text = f"{handle.path} {handle.preview}".lower()
    matched = sum(word in text for word in query_terms)
    relevance = max(0.1, matched / len(query_terms)) if query_terms else 1.0
    type_ = handle.node.type
    weight = weights.get(type_, TYPE_WEIGHTS[type_])
    return 0.6 * relevance + 0.25 * weight + 0.15 / (1 + math.log(max(handle.tokens, 1)))


def order_suggestions(ids: list[str], expanded: Container[str]) -> list[str]:
    """Choose which of a pack's ids to expand first. What was expanded before goes to the end.

    When all of them were, others of the pack that were not replace them.
    """
    first = ids[:SUGGESTED]
    fresh = [handle_id for handle_id in first if handle_id not in expanded]
    if not fresh:
        fresh = [handle_id for handle_id in ids[SUGGESTED:] if handle_id not in expanded]
    return [*fresh, *(handle_id for handle_id in first if handle_id in expanded)][: len(first)]


def pack_result(pack: Pack, expanded: Container[str]) -> Json:
    """Build the answer to canopy_evidence_pack. Ids stand here with their `h`."""
    handles = [handle for _, handle in pack.selected]
    files: dict[str, list[Handle]] = {}
    for handle in handles:
        files.setdefault(handle.path, []).append(handle)
    return {
        "query_text": pack.text,
        "total_matches": pack.result.matches,
        "truncated": pack.result.truncated,
        "selected_count": len(handles),
        "selected_tokens": sum(handle.tokens for handle in handles),
        "handles": [_pack_handle(value, handle) for value, handle in pack.selected],
        "files": [
            {
                "file_path": path,
                "handle_ids": [handle.id for handle in group],
                "total_tokens": sum(handle.tokens for handle in group),
            }
            for path, group in files.items()
        ],
        "expand_suggestion": order_suggestions([handle.id for handle in handles], expanded),
        "guidance": guidance(pack.evidence),
    }


def _pack_handle(value: float, handle: Handle) -> Json:
    return {
        "id": handle.id,
        "file_path": handle.path,
        "node_type": handle.node.type.label,
        "line_range": [handle.node.first_line, handle.node.last_line],
        "token_count": handle.tokens,
        **origin(handle),
        "score": value,
    }

"""Evidence packs: which of the handles found are shown, and what the agent is advised to do.

The figures are canopy 0.4.0's own, so that an agent gets the same advice from both.
"""

import math
from collections.abc import Container, Mapping
from dataclasses import dataclass

from swarm_bench.programs.canopy.nodes import Handle, NodeType
from swarm_bench.programs.canopy.parameters import PackLimits
from swarm_bench.programs.canopy.result_json import Json, SearchResult, origin
from swarm_bench.programs.canopy.search.fulltext import terms
from swarm_bench.programs.canopy.search.guidance import Evidence, guidance

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

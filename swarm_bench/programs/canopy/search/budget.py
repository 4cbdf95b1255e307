"""Chooses the handles of a query whose text fits a budget of tokens.

Only HTTP requests with `expand_budget` ask for it; canopy-mcp never does.
"""

from collections import Counter

from swarm_bench.programs.canopy.nodes import Handle, NodeType
from swarm_bench.programs.canopy.search.fulltext import terms
from swarm_bench.programs.canopy.search.pack import score

MAX_PER_FILE = 2
NEAR_LINES = 2


def choose(
    handles: list[Handle], text: str, budget: int, priors: dict[NodeType, float]
) -> list[Handle]:
    """Return all handles if they fit the budget, else the best ones that do, in their first
    order."""
    if sum(handle.tokens for handle in handles) <= budget:
        return list(handles)
    query_terms = terms(text)
    chosen: list[Handle] = []
    per_file: Counter[str] = Counter()
    ranked = sorted(handles, key=lambda each: (-score(each, query_terms, priors), each.tokens))
    for handle in ranked:
        fits = handle.tokens <= budget and per_file[handle.path] < MAX_PER_FILE
        if fits and not any(_is_near(handle, other) for other in chosen):
            chosen.append(handle)
            per_file[handle.path] += 1
            budget -= handle.tokens
    return [handle for handle in handles if handle in chosen]


def _is_near(handle: Handle, other: Handle) -> bool:
    """Tell whether two handles overlap or nearly touch."""
    if handle.path != other.path:
        return False
    return (
        handle.node.first_line <= other.node.last_line + NEAR_LINES
        and other.node.first_line <= handle.node.last_line + NEAR_LINES
    )

"""Chooses the handles of a query whose text fits a budget of tokens.

Only HTTP requests with `expand_budget` ask for it; canopy-mcp never does.
"""

from collections import Counter

from swarm_bench.programs.canopy.nodes import Handle, NodeType
from swarm_bench.programs.canopy.search.fulltext import terms
from swarm_bench.programs.canopy.search.pack import score

MAX_PER_FILE = 2
NEAR_LINES = 2


def select_within_budget(
    handles: list[Handle], text: str, budget: int, priors: dict[NodeType, float]
) -> list[Handle]:
    """Return all handles if they fit the budget, else the best ones that do, in their first
    order."""
    if sum(handle.tokens for handle in handles) <= budget:
        return list(handles)
    query_terms = terms(text)
    selected: list[Handle] = []
    per_file: Counter[str] = Counter()
    ranked = sorted(
        handles, key=lambda candidate: (-score(candidate, query_terms, priors), candidate.tokens)
    )
    for handle in ranked:
        fits = handle.tokens <= budget and per_file[handle.path] < MAX_PER_FILE
        if fits and not any(_is_near(handle, selected_handle) for selected_handle in selected):
            selected.append(handle)
            per_file[handle.path] += 1
            budget -= handle.tokens
    return [handle for handle in handles if handle in selected]


def _is_near(handle: Handle, neighbour: Handle) -> bool:
    """Tell whether two handles overlap or nearly touch."""
    if handle.path != neighbour.path:
        return False
    return (
        handle.node.first_line <= neighbour.node.last_line + NEAR_LINES
        and neighbour.node.first_line <= handle.node.last_line + NEAR_LINES
    )

"""Gathers evidence in several searches, where one search does not answer the question.

HTTP requests with `expand_budget` get the handles whose text fits that many tokens; canopy-mcp
never asks for it.
"""

import re
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from swarm_bench.programs.canopy.nodes import Handle, NodeType
from swarm_bench.programs.canopy.parameters import PackLimits, Search
from swarm_bench.programs.canopy.repository import any_word
from swarm_bench.programs.canopy.result_json import SearchResult
from swarm_bench.programs.canopy.search.fulltext import terms
from swarm_bench.programs.canopy.search.pack import Pack, score, select

STEPS = 2
PLANNED_STEPS = 3
PREVIEWS = 8
DEFINITION_LIMIT = 12
MIN_IDENTIFIER_BYTES = 4

STOP_WORDS = frozenset(
    (
        *("self", "this", "super", "none", "null", "true", "false", "void", "static"),
        *("class", "struct", "impl", "interface", "type", "function", "string", "number"),
        *("boolean", "import", "from", "export", "default", "public", "private", "const"),
        *("async", "await", "return", "yield", "raise", "throw", "with", "else", "elif"),
        *("match", "while", "break", "continue", "catch", "except", "finally"),
    )
)


@dataclass(slots=True)
class Evidence:
    """The merged results of the searches of one plan."""

    seed: Search
    limits: PackLimits
    merged: dict[str, Handle] = field(default_factory=dict)
    matches: int = 0
    truncated: bool = False

    def add(self, result: SearchResult) -> list[Handle]:
        """Merge one result, and return the handles that are new."""
        new = [handle for handle in result.handles if handle.hex not in self.merged]
        self.merged.update((handle.hex, handle) for handle in new)
        self.matches += result.matches
        self.truncated = self.truncated or result.truncated
        return new

    def pack(self) -> Pack:
        result = SearchResult(
            handles=list(self.merged.values()), matches=self.matches, truncated=self.truncated
        )
        return select(self.seed.text, result, self.limits)


def gather(seed: Search, limits: PackLimits, find: Callable[[Search], SearchResult]) -> Pack:
    """Run the seed and the searches that follow from it; pack everything they return."""
    evidence = Evidence(seed, limits)
    queue = deque([seed])
    done: set[Search] = set()
    planning = limits.plan
    while queue and len(done) < (PLANNED_STEPS if planning else STEPS):
        search = queue.popleft()
        if search in done:
            continue
        done.add(search)
        new = evidence.add(find(search))
        pack = evidence.pack()
        if planning is None:
            planning = pack.evidence.band == "low" and not pack.evidence.is_enough
        if len(done) == 1 and seed.is_one_pattern and (planning or not new):
            queue.append(any_word(seed))
        if planning and len(new) >= 2:
            if pack.evidence.is_enough and len(pack.selected) >= min(limits.max_handles, 4):
                break
            name = find_best_identifier(
                (handle.preview for handle in new[:PREVIEWS]), terms(seed.text)
            )
            queue.extend([_definition(name, seed)] if name else [])
    return evidence.pack()


def _definition(name: str, seed: Search) -> Search:
    limit = min(seed.limit, DEFINITION_LIMIT)
    return Search(symbol=name, kind="definition", glob=seed.glob, limit=limit)


def find_best_identifier(previews: Iterable[str], excluded: list[str]) -> str | None:
    """Choose the identifier that stands out: frequent, in capitals or joined by underscores."""
    weights: Counter[str] = Counter()
    for preview in previews:
        for word in re.findall(r"[A-Za-z_]\w*", preview):
            if len(word.encode()) < MIN_IDENTIFIER_BYTES:
                continue
            if word.lower() in STOP_WORDS or word.lower() in excluded:
                continue
            weights[word] += 1 + 2 * any(letter.isupper() for letter in word) + ("_" in word)
    return max(weights, key=lambda word: (weights[word], len(word)), default=None)


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

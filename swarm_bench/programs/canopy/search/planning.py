"""Gathers evidence in several searches, where one search does not answer the question."""

import re
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from swarm_bench.programs.canopy.nodes import Handle
from swarm_bench.programs.canopy.parameters import PackLimits, Search
from swarm_bench.programs.canopy.repository import any_word
from swarm_bench.programs.canopy.result_json import SearchResult
from swarm_bench.programs.canopy.search.fulltext import terms
from swarm_bench.programs.canopy.search.pack import Pack, select

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

"""What the service does for each route, without HTTP: a checked body in, JSON out."""

import re
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from swarm_bench.programs.canopy.errors import StaleGeneration, ToolError
from swarm_bench.programs.canopy.nodes import Handle, NodeType
from swarm_bench.programs.canopy.parameters import PackLimits, Search
from swarm_bench.programs.canopy.repository import Canopy, any_word
from swarm_bench.programs.canopy.result_json import Json, SearchResult, query_result
from swarm_bench.programs.canopy.search.fulltext import terms
from swarm_bench.programs.canopy.search.pack import Pack, pack_result, score, select
from swarm_bench.programs.canopy.service.repositories import Metrics, Repositories, Repository
from swarm_bench.programs.canopy.service.requests import (
    AddBody,
    ExpandBody,
    PackBody,
    QueryBody,
    ReindexBody,
)
from swarm_bench.retrieval.canopy.backends import embedded_label

_STEPS = 2
_PLANNED_STEPS = 3
_PREVIEWS = 8
_DEFINITION_LIMIT = 12
_MIN_IDENTIFIER_BYTES = 4
_STOP_WORDS = frozenset(
    (
        *("self", "this", "super", "none", "null", "true", "false", "void", "static"),
        *("class", "struct", "impl", "interface", "type", "function", "string", "number"),
        *("boolean", "import", "from", "export", "default", "public", "private", "const"),
        *("async", "await", "return", "yield", "raise", "throw", "with", "else", "elif"),
        *("match", "while", "break", "continue", "catch", "except", "finally"),
    )
)
_MAX_PER_FILE = 2
_NEAR_LINES = 2


class Endpoints:
    """The service's state and its answers. Safe for threads."""

    def __init__(self, roots: Sequence[Path] = ()) -> None:
        self.metrics = Metrics()
        self.repositories = Repositories(self.metrics, roots)

    def add(self, body: AddBody) -> Json:
        repository = self.repositories.add(body.path, body.name)
        return {"repo_id": repository.id, "name": repository.name}

    def repos(self) -> list[Json]:
        return [repository.shard() for repository in self.repositories.all()]

    def reindex(self, body: ReindexBody) -> Json:
        return self.repositories.get(body.repo).start_indexing(body.glob)

    def query(self, body: QueryBody) -> Json:
        repository = self._ready(body.repo)
        metrics = self.metrics
        metrics.count("queries")
        metrics.tally(metrics.by_repo, repository.id)
        metrics.tally(metrics.symbols, body.symbol)
        metrics.tally(metrics.patterns, body.pattern)
        with self._time("query_ms"), repository.lock:
            search = _search(body, repository)
            result = repository.find(search, body.expand_budget)
            repository.canopy.record_query(search.text, result)
            answer = query_result(result)
            if body.expand_budget:
                _expand_to_budget(body.expand_budget, repository.canopy, search, result, answer)
            return answer

    def evidence_pack(self, body: PackBody) -> Json:
        repository = self._ready(body.repo)
        self.metrics.count("queries")
        self.metrics.count("evidence_packs")
        with self._time("query_ms"), repository.lock:
            search = _search(body, repository)
            pack = gather(search, body.limits(), repository.find)
            repository.canopy.record_query(search.text, pack.result)
            return pack_result(pack, repository.canopy.memory.expanded)

    def expand(self, body: ExpandBody) -> Json:
        """Expand all handles or none."""
        repository = self._ready(body.repo)
        for reference in body.handles:
            if reference.generation is not None and reference.generation != repository.generation:
                raise StaleGeneration(
                    f"Handle {reference.id} is of generation {reference.generation},"
                    f" the index is at {repository.generation}"
                )
        metrics = self.metrics
        metrics.count("expands")
        metrics.tally(metrics.by_repo, repository.id)
        with self._time("expand_ms"), repository.lock:
            canopy = repository.open()
            contents = [canopy.expand(reference.id) for reference in body.handles]
            canopy.record_expansions([content.handle for content in contents])
            for content in contents:
                metrics.tally(metrics.expanded_files, content.handle.path)
            return {
                "contents": [
                    {"handle_id": content.handle.id, "content": content.text}
                    for content in contents
                ]
            }

    def status(self) -> Json:
        return {
            "service": "canopy-service",
            "implementation": embedded_label(),
            "repos": self.repos(),
        }

    def read_metrics(self) -> Json:
        feedback: dict[str, Json] = {}
        for repository in self.repositories.all():
            with repository.lock:
                if repository.is_in_place():
                    feedback[repository.id] = repository.canopy.feedback.stats()
        return self.metrics.document(feedback)

    def _ready(self, repo_id: str) -> Repository:
        repository = self.repositories.get(repo_id)
        repository.check_ready()
        return repository

    @contextmanager
    def _time(self, counter: str) -> Iterator[None]:
        """Add the milliseconds of a block that ends well."""
        started = time.perf_counter()
        yield
        self.metrics.count(counter, (time.perf_counter() - started) * 1000)


def _search(body: QueryBody, repository: Repository) -> Search:
    try:
        return body.search()
    except ToolError:
        repository.count_miss()
        raise


def _expand_to_budget(
    budget: int, canopy: Canopy, search: Search, result: SearchResult, answer: Json
) -> None:
    """Put text into the answer's handles, as much as fits."""
    selected = select_within_budget(result.handles, search.text, budget, canopy.feedback.priors())
    texts = _texts(canopy, selected)
    for entry in answer["handles"]:
        if entry["id"] in texts:
            entry["content"] = texts[entry["id"]]
    expanded = [handle for handle in selected if handle.hex in texts]
    canopy.record_expansions(expanded, automatic=True)
    if not expanded:
        if result.handles:
            answer["expand_note"] = "No handle fits the budget; expand the ones you need"
        return
    if len(expanded) == len(result.handles):
        answer["auto_expanded"] = True
    else:
        answer["expand_note"] = f"{len(expanded)} of {len(result.handles)} handles fit the budget"
    answer["expanded_count"] = len(expanded)
    answer["expanded_tokens"] = sum(handle.tokens for handle in expanded)
    answer["expanded_handle_ids"] = [handle.id for handle in expanded]


def _texts(canopy: Canopy, handles: list[Handle]) -> dict[str, str]:
    """Read the text of each handle that can still be read, by bare id."""
    texts: dict[str, str] = {}
    for handle in handles:
        try:
            texts[handle.hex] = canopy.expand(handle.id).text
        except ToolError:
            continue  # Edited since it was indexed: the handle is shown without its text.
    return texts


@dataclass(slots=True)
class _Evidence:
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
    evidence = _Evidence(seed, limits)
    queue = deque([seed])
    done: set[Search] = set()
    planning = limits.plan
    while queue and len(done) < (_PLANNED_STEPS if planning else _STEPS):
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
                (handle.preview for handle in new[:_PREVIEWS]), terms(seed.text)
            )
            queue.extend([_definition(name, seed)] if name else [])
    return evidence.pack()


def _definition(name: str, seed: Search) -> Search:
    limit = min(seed.limit, _DEFINITION_LIMIT)
    return Search(symbol=name, kind="definition", glob=seed.glob, limit=limit)


def find_best_identifier(previews: Iterable[str], excluded: list[str]) -> str | None:
    """Choose the identifier that stands out: frequent, in capitals or joined by underscores."""
    weights: Counter[str] = Counter()
    for preview in previews:
        for word in re.findall(r"[A-Za-z_]\w*", preview):
            if len(word.encode()) < _MIN_IDENTIFIER_BYTES:
                continue
            if word.lower() in _STOP_WORDS or word.lower() in excluded:
                continue
            weights[word] += 1 + 2 * any(letter.isupper() for letter in word) + ("_" in word)
    return max(weights, key=lambda word: (weights[word], len(word)), default=None)


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
        fits = handle.tokens <= budget and per_file[handle.path] < _MAX_PER_FILE
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
        handle.node.first_line <= neighbour.node.last_line + _NEAR_LINES
        and neighbour.node.first_line <= handle.node.last_line + _NEAR_LINES
    )

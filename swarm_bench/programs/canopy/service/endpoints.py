"""What the service does for each route, without HTTP: a checked body in, JSON out."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from swarm_bench.programs.canopy.errors import StaleGeneration, ToolError
from swarm_bench.programs.canopy.nodes import Handle
from swarm_bench.programs.canopy.parameters import Search
from swarm_bench.programs.canopy.repository import Canopy
from swarm_bench.programs.canopy.result_json import Json, SearchResult, query_result
from swarm_bench.programs.canopy.search.pack import pack_result
from swarm_bench.programs.canopy.search.planning import gather, select_within_budget
from swarm_bench.programs.canopy.service.metrics import Metrics
from swarm_bench.programs.canopy.service.repositories import Repositories, Repository
from swarm_bench.programs.canopy.service.requests import (
    AddBody,
    ExpandBody,
    PackBody,
    QueryBody,
    ReindexBody,
)
from swarm_bench.retrieval.canopy.backends import embedded_label


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

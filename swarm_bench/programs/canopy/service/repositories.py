"""The repositories a service knows: their state, their generation, and how they are indexed."""

import logging
import os
import sqlite3
import uuid
from collections import Counter, OrderedDict
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock, RLock, Thread

from swarm_bench.programs.canopy.errors import (
    Forbidden,
    InvalidRepo,
    RepoNotFound,
    RepoNotReady,
    ToolError,
)
from swarm_bench.programs.canopy.git import ask_git
from swarm_bench.programs.canopy.index.indexing import Index, prepare_folder
from swarm_bench.programs.canopy.parameters import Search
from swarm_bench.programs.canopy.repository import Canopy
from swarm_bench.programs.canopy.result_json import Json, SearchResult

TOP = 20
MAX_NAMES = 10_000
MAX_NAME_LENGTH = 500
CACHED_QUERIES = 128
_DATABASES = (".canopy/index.db", ".canopy/feedback.db")
WRITTEN = (
    *(".canopy", ".canopy/.gitignore", ".canopy/index.lock"),
    *(f"{file}{end}" for file in _DATABASES for end in ("", "-wal", "-shm", "-journal")),
)
"""Paths that a service writes in a repository."""
_log = logging.getLogger(__name__)


class Tally:
    """Counts by name; the rarest are forgotten when there are too many."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, name: str) -> None:
        self._counts[name[:MAX_NAME_LENGTH]] += 1
        if len(self._counts) > MAX_NAMES:
            self._counts = Counter(dict(self._counts.most_common(MAX_NAMES // 2)))

    def top(self, label: str) -> list[Json]:
        return [{label: name, "count": count} for name, count in self._counts.most_common(TOP)]

    def all(self) -> dict[str, int]:
        return dict(self._counts)


@dataclass(slots=True)
class Metrics:
    """Counters since the service started. Times are milliseconds of successful requests."""

    queries: int = 0
    query_cache_hits: int = 0
    query_cache_misses: int = 0
    expands: int = 0
    index_cache_hits: int = 0
    index_cache_misses: int = 0
    reindexes: int = 0
    evidence_packs: int = 0
    """Ours: canopy counts packs among the queries and nowhere else."""
    query_ms: float = 0.0
    expand_ms: float = 0.0
    symbols: Tally = field(default_factory=Tally)
    patterns: Tally = field(default_factory=Tally)
    expanded_files: Tally = field(default_factory=Tally)
    by_repo: Tally = field(default_factory=Tally)
    lock: Lock = field(default_factory=Lock)

    def count(self, name: str, by: float = 1) -> None:
        """Add to one of the counters above."""
        with self.lock:
            setattr(self, name, getattr(self, name) + by)

    def tally(self, which: Tally, name: str | None) -> None:
        if name is not None:
            with self.lock:
                which.add(name)

    def document(self, feedback: dict[str, Json]) -> Json:
        """Build the body of GET /metrics."""
        with self.lock:
            searches = self.query_cache_hits + self.query_cache_misses
            return {
                "performance": {
                    "queries": self.queries,
                    "query_cache_hit_rate": self.query_cache_hits / searches if searches else 0.0,
                    "query_cache_hits": self.query_cache_hits,
                    "query_cache_misses": self.query_cache_misses,
                    "expands": self.expands,
                    "index_cache_hits": self.index_cache_hits,
                    "index_cache_misses": self.index_cache_misses,
                    "reindexes": self.reindexes,
                    "avg_query_ms": int(self.query_ms) // self.queries if self.queries else 0,
                    "avg_expand_ms": int(self.expand_ms) // self.expands if self.expands else 0,
                    "evidence_packs": self.evidence_packs,
                },
                "analytics": {
                    "top_symbols": self.symbols.top("name"),
                    "top_patterns": self.patterns.top("pattern"),
                    "top_expanded_files": self.expanded_files.top("path"),
                    "requests_by_repo": self.by_repo.all(),
                    "feedback_by_repo": feedback,
                },
            }


class Repository:
    """One registered repository. `lock` is held while its index or feedback is used."""

    def __init__(self, root: Path, name: str, metrics: Metrics) -> None:
        self.id = str(uuid.uuid4())
        self.root = root
        self.name = name
        self.commit_sha: str | None = None
        self.generation = 0
        self.status = "pending"
        self.error_message: str | None = None
        self.lock = RLock()
        self.canopy = Canopy(root)
        self._metrics = metrics
        self._is_open = False
        self._cache: OrderedDict[tuple[Search, int | None], SearchResult] = OrderedDict()

    def shard(self) -> Json:
        """Describe the repository as the service shows it."""
        shard: Json = {
            "repo_id": self.id,
            "repo_root": str(self.root),
            "name": self.name,
            "commit_sha": self.commit_sha,
            "generation": self.generation,
            "status": self.status,
        }
        if self.error_message is not None:
            shard["error_message"] = self.error_message
        return shard

    def is_in_place(self) -> bool:
        """Tell whether no link, put there since it was added, leads out of it."""
        paths = (self.root / name for name in WRITTEN)
        return _real(self.root) == self.root and not any(path.is_symlink() for path in paths)

    def check_ready(self) -> None:
        if self.status != "ready":
            raise RepoNotReady(f"Repository {self.id} is not ready: {self.status.capitalize()}")

    def open(self) -> Canopy:
        """Return the index; count whether it was open."""
        self._metrics.count("index_cache_hits" if self._is_open else "index_cache_misses")
        self._is_open = True
        return self.canopy

    def count_miss(self) -> None:
        """Count a search that cannot be run: canopy looks into its cache before it finds out."""
        self._metrics.count("query_cache_misses")
        self.open()

    def find(self, search: Search, budget: int | None = 0) -> SearchResult:
        """Run a search, or answer it from the cache; handles say that the service found them.

        The budget for text is part of a cached search, and packs have the budget 0: a query and a
        pack of the same words do not share an answer.
        """
        key = (search, budget)
        if key in self._cache:
            self._metrics.count("query_cache_hits")
            return self._cache[key]
        self._metrics.count("query_cache_misses")
        result = self.open().find(search)
        handles = [
            replace(
                handle, source="service", commit_sha=self.commit_sha, generation=self.generation
            )
            for handle in result.handles
        ]
        result = replace(result, handles=handles)
        if not budget:
            self._cache[key] = result
            if len(self._cache) > CACHED_QUERIES:
                self._cache.popitem(last=False)
        return result

    def start_indexing(self, glob: str | None) -> Json:
        """Index in a thread of its own; the answer describes the state before."""
        with self.lock:
            answer: Json = {"generation": self.generation, "commit_sha": self.commit_sha}
            if self.status == "indexing":
                return {**answer, "status": "already_indexing"}
            self.status = "indexing"
            self.error_message = None
        self._metrics.count("reindexes")
        # A daemon: a service that has to end does not wait for it, and the index survives.
        Thread(target=self._index, args=(glob,), daemon=True).start()
        return {**answer, "status": "indexing"}

    def _index(self, glob: str | None) -> None:
        commit = None
        # Stays if something goes wrong that nobody thought of: clients must not wait forever.
        failure: str | None = "Indexing broke off; the service's log says why"
        try:
            commit = head_commit(self.root)
            with closing(Index(self.root)) as index:
                index.refresh(glob)
            failure = None
        except (ToolError, OSError, sqlite3.Error) as error:
            _log.warning("indexing %s failed: %s", self.root, error)
            failure = str(error)
        finally:
            self._finish_indexing(commit, failure)

    def _finish_indexing(self, commit: str | None, failure: str | None) -> None:
        with self.lock:
            if failure is not None:
                self.error_message = failure
                self.status = "error"
                return
            self.commit_sha = commit
            self.generation += 1
            self._is_open = False
            self._cache.clear()
            self.canopy.memory.clear()
            self.status = "ready"


class Repositories:
    """All repositories of a service, in memory only; those below `roots`, if there are any."""

    def __init__(self, metrics: Metrics, roots: Sequence[Path] = ()) -> None:
        self._metrics = metrics
        self._roots = [root.resolve() for root in roots]
        self._lock = Lock()
        self._by_id: dict[str, Repository] = {}

    def add(self, path: str, name: str | None) -> Repository:
        """Register the repository at a path; adding it again returns the same one.

        Raises:
            Forbidden: the path is outside of the folders that the service was started for.
            InvalidRepo: the path is not the top of a git checkout.
        """
        try:
            root = _real(path)
            self._check_inside(root)
            is_checkout = bool(path) and (root / ".git").exists()
        except (OSError, ValueError):
            is_checkout = False
        if not is_checkout:
            raise InvalidRepo(f"{path!r} is not the top folder of a git checkout")
        prepare_folder(root / ".canopy")
        with self._lock:
            for repository in self._by_id.values():
                if repository.root == root:
                    return repository
            repository = Repository(root, name or root.name or "unnamed", self._metrics)
            self._by_id[repository.id] = repository
            return repository

    def _check_inside(self, root: Path) -> None:
        if self._roots and not any(root.is_relative_to(folder) for folder in self._roots):
            raise Forbidden(f"{root} is outside of the folders that this service was started for")

    def get(self, repo_id: str) -> Repository:
        """Look up a repository. Raises `RepoNotFound`, and `Forbidden` when a link has replaced
        it."""
        try:
            repository = self._by_id[repo_id]
        except KeyError:
            raise RepoNotFound(f"No repository has the id {repo_id}") from None
        if not repository.is_in_place():
            raise Forbidden(f"A link has replaced {repository.root} or its index")
        return repository

    def all(self) -> list[Repository]:
        with self._lock:
            return list(self._by_id.values())


def _real(path: str | Path) -> Path:
    """Resolve a path; `Path.resolve` fails at links that lead to themselves."""
    return Path(os.path.realpath(path))


def head_commit(root: Path) -> str | None:
    """Ask for the commit that is checked out; None in a repository without commits, or without
    git."""
    commit = ask_git(root, "rev-parse", "--verify", "--quiet", "HEAD")
    return commit.strip() if commit else None

"""What the service counts, under the exact names that canopy 0.4.0 gives at /metrics."""

from collections import Counter
from dataclasses import dataclass, field
from threading import Lock

from swarm_bench.programs.canopy.result_json import Json

TOP = 20
MAX_NAMES = 10_000
MAX_NAME_LENGTH = 500


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

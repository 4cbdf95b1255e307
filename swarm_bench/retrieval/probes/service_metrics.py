"""Counters of canopy-service: the body of its `/metrics`."""

from collections.abc import Mapping
from typing import Any

_TOTALS = (
    "queries",
    "evidence_packs",
    "query_cache_hits",
    "query_cache_misses",
    "expands",
    "index_cache_hits",
    "index_cache_misses",
    "reindexes",
)
LARGEST = 2**53
_AVERAGES = {"avg_query_ms": "queries", "avg_expand_ms": "expands"}
"""Averages since the service began, and the total that each was taken over."""


class ServiceMetricsProbe:
    """Asks the service. Its counters are shared by all agents, and by whoever else asks it."""

    name = "service"

    def __init__(self, url: str, key: str | None = None) -> None:
        self._url = f"{url}/metrics"
        self._headers = {"X-Api-Key": key} if key else {}

    async def snapshot(self) -> dict[str, Any] | None:
        """The body of `/metrics`, or `None` when the service gives none."""
        import httpx2  # 35 ms, and most sessions ask no service

        try:
            async with httpx2.AsyncClient(timeout=10, trust_env=False) as client:
                answer = await client.get(self._url, headers=self._headers)
                body = answer.raise_for_status().json()
        except (httpx2.HTTPError, ValueError, RecursionError):
            return None
        return body if isinstance(body, dict) else None


def service_difference(
    before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> dict[str, Any] | None:
    """The `performance` counters of what happened between two snapshots.

    A counter that the service does not have is left out; an average over nothing is `None`.
    """
    if before is None or after is None:
        return None
    old, new = _performance(before), _performance(after)
    change: dict[str, Any] = {name: new[name] - old.get(name, 0) for name in _TOTALS if name in new}
    change["query_cache_hit_rate"] = _hit_rate(change)
    for name, total in _AVERAGES.items():
        change[name] = _average(name, total, old, new)
    return change


def _performance(body: Mapping[str, Any]) -> dict[str, float]:
    figures = body.get("performance")
    if not isinstance(figures, dict):
        return {}
    return {
        name: value
        for name, value in figures.items()
        # Not a number, infinity, or what nobody can have counted, is no figure.
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= LARGEST
    }


def _hit_rate(change: Mapping[str, float]) -> float | None:
    hits, misses = change.get("query_cache_hits"), change.get("query_cache_misses")
    if hits is None or misses is None or hits + misses == 0:
        return None
    return hits / (hits + misses)


def _average(
    name: str, total: str, old: Mapping[str, float], new: Mapping[str, float]
) -> float | None:
    if name not in new or total not in new:
        return None
    count = new[total] - old.get(total, 0)
    if count <= 0:
        return None
    return (new[name] * new[total] - old.get(name, 0) * old.get(total, 0)) / count

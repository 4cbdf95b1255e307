"""Counters of canopy-service: the body of its `/metrics`."""

import json
from collections.abc import Mapping
from typing import Any

from swarm_bench.core.ports import ProbeContext
from swarm_bench.core.treatment.counters import Counters
from swarm_bench.core.treatment.counting import Expected, Transcripts
from swarm_bench.retrieval.probes.canopy_counting import Calls, expect_service_counts
from swarm_bench.retrieval.probes.feedback import FeedbackProbe

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
MOST_BYTES = 1024 * 1024
"""Most bytes of the body, which is stored twice with each swarm."""
_AVERAGES = {"avg_query_ms": "queries", "avg_expand_ms": "expands"}
"""Averages since the service began, and the total that each was taken over."""


COUNTERS = Counters(
    tool="the service",
    counted="the service counted",
    rules="canopy's counters",
    nouns={
        "queries": "query request",
        "evidence_packs": "evidence pack request",
        "expands": "expand request",
    },
    uses=("queries", "expands"),
    may_lack=("evidence_packs",),
    shared=True,
)


class ServiceMetricsProbe:
    """Asks the service. Its counters are shared by all agents, and by all other clients."""

    name = "service"
    file = "service-metrics"
    counters = COUNTERS

    def reads(self, context: ProbeContext) -> bool:
        return context.service_url is not None

    async def snapshot(self, context: ProbeContext) -> dict[str, Any] | None:
        """Read the body of `/metrics`; `None` when the service gives none."""
        if context.service_url is None:
            return None
        return await read_metrics(context.service_url, context.key)

    def difference(
        self, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
    ) -> dict[str, Any] | None:
        return compute_service_difference(before, after)

    def content(
        self,
        before: Mapping[str, Any] | None,
        after: Mapping[str, Any] | None,
        change: Mapping[str, Any],
    ) -> dict[str, Any]:
        analytics = (after or {}).get("analytics")
        return {"performance": change, "analytics": analytics, "before": before, "after": after}

    def expected(self, transcripts: Transcripts) -> dict[str, Expected]:
        recorded_queries = transcripts.counts.get((FeedbackProbe.name, "query_events"))
        return expect_service_counts(Calls.count_calls(transcripts.calls), recorded_queries)


async def read_metrics(url: str, key: str | None = None) -> dict[str, Any] | None:
    """Read the body of a service's `/metrics`; `None` when it gives none."""
    import httpx2  # 35 ms, and most sessions ask no service

    headers = {"X-Api-Key": key} if key else {}
    # To read the certificates of all authorities takes longer than the request.
    certain = not url.lower().startswith("http://")
    try:
        async with (
            httpx2.AsyncClient(timeout=10, trust_env=False, verify=certain) as client,
            client.stream("GET", f"{url}/metrics", headers=headers) as answer,
        ):
            text = bytearray()
            async for piece in answer.raise_for_status().aiter_bytes():
                text += piece
                if len(text) > MOST_BYTES:
                    return None
            body = json.loads(text)
    except (httpx2.HTTPError, ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def compute_service_difference(
    old_body: Mapping[str, Any] | None, new_body: Mapping[str, Any] | None
) -> dict[str, Any] | None:
    """Compute the `performance` counters of what happened between two snapshots.

    A counter that the service does not have is omitted; an average over nothing is `None`.
    """
    if old_body is None or new_body is None:
        return None
    old, new = _read_performance(old_body), _read_performance(new_body)
    change: dict[str, Any] = {name: new[name] - old.get(name, 0) for name in _TOTALS if name in new}
    change["query_cache_hit_rate"] = _compute_hit_rate(change)
    for name, total in _AVERAGES.items():
        change[name] = _compute_average(name, total, old, new)
    return change


def _read_performance(body: Mapping[str, Any]) -> dict[str, float]:
    figures = body.get("performance")
    if not isinstance(figures, dict):
        return {}
    return {
        name: value
        for name, value in figures.items()
        # Not a number, infinity, or what nobody can have counted, is no figure.
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= LARGEST
    }


def _compute_hit_rate(change: Mapping[str, float]) -> float | None:
    hits, misses = change.get("query_cache_hits"), change.get("query_cache_misses")
    if hits is None or misses is None or hits + misses == 0:
        return None
    return hits / (hits + misses)


def _compute_average(
    name: str, total: str, old: Mapping[str, float], new: Mapping[str, float]
) -> float | None:
    if name not in new or total not in new:
        return None
    count = new[total] - old.get(total, 0)
    if count <= 0:
        return None
    return (new[name] * new[total] - old.get(name, 0) * old.get(total, 0)) / count

"""Have a canopy-service do once, on a small repository, all that a session will ask of it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from swarm_bench.core.errors import ServiceFailed
from swarm_bench.retrieval.canopy.service import Service
from swarm_bench.retrieval.probes.service_metrics import compute_service_difference, read_metrics
from swarm_bench.runtime.ownership import temporary
from swarm_bench.runtime.workspaces.git import git

FILES = 10
_WORD = "lighthouse"
_TIMEOUT = 30.0


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """How long each step took, in seconds."""

    index: float
    query: float
    expand: float


async def exercise(service: Service, work: Path) -> Exercise:
    """Index, query, expand, and look whether the counters moved. The repository, which is made
    below `work`, stays registered with the service, though its folder is gone.

    Raises `IndexFailed` and `ServiceFailed` with what the service could not do.
    """
    with temporary(work) as folder:
        (repository := folder / "repository").mkdir()
        await make_repository(repository)
        old_metrics = await read_metrics(service.url, service.key)
        index = await service.index(repository, _TIMEOUT)
        started = anyio.current_time()
        handles = await _query_handles(service, repository)
        queried = anyio.current_time()
        await _expand(service, repository, handles)
        expanded = anyio.current_time()
        new_metrics = await read_metrics(service.url, service.key)
    _check_moved(compute_service_difference(old_metrics, new_metrics))
    return Exercise(index=index, query=queried - started, expand=expanded - queried)


async def make_repository(repository: Path) -> None:
    """Make a git repository of ten small files in an empty folder."""
    for number in range(FILES):
        text = f'"""Module {number}."""\n\n\ndef {_WORD}_{number}():\n    return {number}\n'
        (repository / f"module_{number}.py").write_text(text, encoding="utf-8")
    await git("init", "--quiet", cwd=repository)
    await git("add", "--all", cwd=repository)
    await git("commit", "--quiet", "--message", "ten files", cwd=repository)


async def _query_handles(service: Service, repository: Path) -> list[dict[str, Any]]:
    repo = await service.find_repository_id(repository)
    answer = await service.call("POST", "/query", {"repo": repo, "pattern": _WORD})
    handles = answer.get("handles")
    if not isinstance(handles, list) or not handles:
        raise ServiceFailed(
            f"canopy-service at {service.url} found nothing in {FILES} files that all have the "
            "word it was asked for; see its log, or use another build"
        )
    return handles


async def _expand(service: Service, repository: Path, handles: list[dict[str, Any]]) -> None:
    repo = await service.find_repository_id(repository)
    handle_ids = [{"id": f"h{str(handles[0].get('id')).removeprefix('h')}"}]
    answer = await service.call("POST", "/expand", {"repo": repo, "handles": handle_ids})
    if _WORD not in str(answer.get("contents")):
        raise ServiceFailed(
            f"canopy-service at {service.url} expanded a handle to something other than its text; "
            "use another build"
        )


def _check_moved(change: dict[str, Any] | None) -> None:
    still = [name for name in ("queries", "expands") if not (change or {}).get(name)]
    if still:
        raise ServiceFailed(
            f"canopy-service answered, and its counters of {' and '.join(still)} did not move: "
            "they could not show what agents do; use another build"
        )

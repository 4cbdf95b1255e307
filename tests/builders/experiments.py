"""An experiment of which a test says only what it is about."""

from datetime import UTC, datetime
from typing import Any

from swarm_bench.core.session.designs import COMPARE
from swarm_bench.core.session.experiment import (
    Experiment,
    Limits,
    Mode,
    Program,
    Repository,
    Task,
)
from swarm_bench.engine.plan import draw_order


def experiment(**changes: Any) -> Experiment:
    """Two modes, three tasks, four agents and two runs, unless said otherwise."""
    modes = changes.pop("modes", ["baseline", "canopy"])
    tasks = changes.pop("tasks", ["t1", "t2", "t3"])
    runs = changes.get("runs", 2)
    values: dict[str, Any] = {
        "session": "s",
        "created_at": datetime(2026, 1, 1, tzinfo=UTC),
        "benchmark": "swarm",
        "design": COMPARE,
        "repository": Repository(path="/r", kind="folder", tree="t", files=1, bytes=1),
        "modes": tuple(
            Mode(name=m, source="", services=("canopy-service",) if "service" in m else ())
            for m in modes
        ),
        "suite": "x",
        "tasks": tuple(Task(id=t, title=t, prompt=f"do {t}") for t in tasks),
        "agent": Program(name="a"),
        "agents": 4,
        "concurrency": 4,
        "runs": runs,
        "limits": Limits(max_turns=5, timeout=10, index_timeout=100),
        "seed": 0,
        "order": draw_order(modes, runs, 0),
    }
    return Experiment(**{**values, **changes})

"""What becomes known of a swarm while it runs, and its line in `retrieval.jsonl`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from swarm_bench.benchmarks.swarm.clone.groundwork import Ground
from swarm_bench.benchmarks.swarm.plan.swarms import Swarm
from swarm_bench.core.session.records import SwarmRecord


@dataclass(kw_only=True)
class Story:
    """What becomes known of one attempt at a swarm."""

    attempt: int
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    workspace_seconds: float | None = None
    service_seconds: float | None = None
    index_seconds: float | None = None
    backend: str | None = None
    before: Mapping[str, dict[str, Any] | None] = field(default_factory=dict)
    after: Mapping[str, dict[str, Any] | None] = field(default_factory=dict)
    change: Mapping[str, dict[str, Any] | None] = field(default_factory=dict)
    lost: str | None = None
    failure: str | None = None

    def record(
        self, *, session: str, swarm: Swarm, agents: tuple[int, ...], served: bool, ground: Ground
    ) -> SwarmRecord:
        """Make its record. `served` says whether its service was there."""
        return SwarmRecord(
            session=session,
            swarm=swarm.id,
            mode=swarm.arm,
            run=swarm.run,
            attempt=self.attempt,
            agents=agents,
            started_at=self.started_at,
            ended_at=datetime.now(UTC),
            workspace_seconds=self.workspace_seconds,
            service_seconds=self.service_seconds,
            index_seconds=self.index_seconds,
            index_bytes=ground.index_bytes,
            index_copied=ground.index_copied,
            warm_up_seconds=ground.warm_up_seconds,
            brought=ground.brought,
            unexpected=ground.unexpected,
            unexpected_count=ground.unexpected_count,
            instructions_changed=ground.instructions_changed,
            teardown_failure=ground.teardown_failure,
            backend=self.backend,
            before=dict(self.before),
            after=dict(self.after),
            difference=dict(self.change),
            service_healthy=(self.lost is None) if served else None,
            failure=self.failure,
        )

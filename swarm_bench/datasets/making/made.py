"""What a maker of tasks gives."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from swarm_bench.core.session.tasks import Task


@dataclass(frozen=True, kw_only=True)
class Made:
    """Tasks made from a repository, and what no task was made of."""

    tasks: tuple[Task, ...]
    """Drawn by the seed, in an order that the seed determines. Those about a tree have no commit:
    whoever has the tree knows it."""
    dropped: Mapping[str, int] = field(default_factory=dict)
    """Candidates that were omitted, by why: a clause such as `ambiguous name`."""
    looked_at: int = 0
    """Candidates, with those that became tasks or were omitted."""

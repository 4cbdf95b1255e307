"""What the trials of one swarm share."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from swarm_bench.retrieval.reach.answers import Answers
from swarm_bench.retrieval.reach.outside import Reach
from swarm_bench.runtime.monitor import TreeMonitor


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """Handed to each of them."""

    workspace: Path
    placeholders: Mapping[str, str]
    monitor: TreeMonitor
    attempts: Mapping[str, int]
    """How often each trial was tried before."""
    home: Mapping[str, str]
    """Variables that lead the servers into the home that they share."""
    service: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables with which the servers ask the service of the swarm."""
    made: tuple[str, ...] = ()
    """Paths in the workspace that the preparation of the mode's tool left there."""
    reach: Reach = Reach()
    """What other modes give."""
    answers: Answers = Answers()
    """Where answers lie."""

    @property
    def of_servers(self) -> dict[str, str]:
        """All variables that we give the servers."""
        return {**self.home, **self.service}

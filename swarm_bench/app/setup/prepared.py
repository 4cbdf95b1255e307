"""What preparation makes: an experiment that can run."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from swarm_bench.core.ports import Agent, Probe
from swarm_bench.core.roles.executor import OpenPacked
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.recording import CheckedRecording
from swarm_bench.retrieval.handshake import Handshakes
from swarm_bench.retrieval.probes.registered import SHIPPED
from swarm_bench.retrieval.tools import Tools
from swarm_bench.runtime.workspaces.workspace import Snapshot


@dataclass(frozen=True, kw_only=True)
class PreparedSession:
    """An experiment that can run, and the parts it needs."""

    experiment: Experiment
    agent: Agent
    tools: Tools
    snapshot: Snapshot
    handshakes: Handshakes = field(default_factory=dict)
    """Answers of the servers of modes that are still to run."""
    probes: Mapping[str, Probe] = field(default_factory=lambda: SHIPPED)
    previous: Experiment | None = None
    """Experiment as stored before this call; `None` for a new session."""
    open_packed: OpenPacked | None = None
    """What opens it on the nodes that `--on` names; `None` for this process."""
    recorded_session: CheckedRecording | None = None
    """The recording that is played instead of running agents."""

    @property
    def service_url(self) -> str | None:
        """Return the URL of a service that is not started by us; a replay asks none."""
        return None if self.recorded_session else self.experiment.service_url

"""What the engine is given to run an experiment: data, and the parts that the caller chose."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from swarm_bench.core.events import Emit
from swarm_bench.core.experiment import Experiment, Mode, Task
from swarm_bench.core.ports import Agent, Scorer
from swarm_bench.core.records import TrialRecord
from swarm_bench.engine.folder import SessionFolder
from swarm_bench.runtime.environment import small_environment
from swarm_bench.runtime.workspace import Snapshot


@dataclass(frozen=True, kw_only=True)
class Kit:
    """Passed down unchanged; nothing below reads a global."""

    experiment: Experiment
    agent: Agent
    snapshot: Snapshot
    folder: SessionFolder
    work: Path
    """Our own folder for clones and homes; it goes away at the end of the session."""
    programs: Mapping[str, Path]
    """Paths of `canopy-mcp` and `canopy-service`."""
    user_environment: Mapping[str, str]
    scorers: tuple[Scorer, ...]
    prompt: Callable[[Experiment, Mode, Task], str]
    page: Callable[[TrialRecord, str | None], str]
    """Renders the readable page of a trial from its record and answer."""
    emit: Emit
    keep_workspaces: bool = False

    @property
    def workspace(self) -> Path:
        """The same for every swarm, so that prompts are equal to the byte."""
        name = Path(self.experiment.repository.path).name
        return self.work / "repo" / (name or "repository")

    def environment(
        self, extra: Mapping[str, str], inherit: tuple[str, ...] = ()
    ) -> dict[str, str]:
        """The environment of a process: the common small one, the named variables, and `extra`."""
        return {**small_environment(self.user_environment, inherit), **extra}

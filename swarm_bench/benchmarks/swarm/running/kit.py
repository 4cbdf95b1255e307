"""What swarms are run with: data, and the parts that the caller chose; and what the trials of one
share."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import anyio

from swarm_bench.benchmarks.swarm.artefacts import Artefacts
from swarm_bench.core.events import Emit
from swarm_bench.core.outcome import Launch
from swarm_bench.core.ports import Agent, Probe
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.datasets.exposure.finder import Finder
from swarm_bench.models.rehearsal.launch import Rehearsal
from swarm_bench.retrieval.modes.secrets import find_secrets
from swarm_bench.retrieval.probes.registered import SHIPPED
from swarm_bench.retrieval.reach.outside import AnswerLocations, ForeignTools
from swarm_bench.retrieval.tools import Site, Tools
from swarm_bench.runtime.environment import small_environment
from swarm_bench.runtime.homes import TEMPORARY, Home, add_home_variables
from swarm_bench.runtime.monitor import TreeMonitor
from swarm_bench.runtime.ownership import KEPT_FOLDER
from swarm_bench.runtime.workspaces.snapshots import PackedSnapshot
from swarm_bench.runtime.workspaces.workspace import SNAPSHOT, Snapshot


@dataclass(frozen=True, kw_only=True)
class Kit:
    """Passed down unchanged; nothing below reads a global."""

    experiment: Experiment
    agent: Agent
    agent_spec: str
    """What `--agent` was given: another interpreter finds the agent by it."""
    snapshot: Snapshot
    artefacts: Artefacts
    """Paths for the files of the agents."""
    tools: Tools
    """Tools that the modes are started with."""
    emit: Emit
    probes: Mapping[str, Probe] = field(default_factory=lambda: SHIPPED)
    """Probes of all modes, by the name that mode files have for them."""
    keep_workspaces: bool = False
    rehearsal: Rehearsal | None = None
    """The server that answers in the place of a model."""
    record: bool = False
    """Whether what the agents leave is kept, to be played again."""
    answers: Mapping[str, str] = field(default_factory=dict)
    """Descriptions by absolute path of what may reveal the answers: the original repository, the
    results, the task file."""
    commits: Mapping[str, PackedSnapshot] = field(default_factory=dict)
    """Copies of the commits that tasks are asked on, where the repository is out of reach."""
    reader_limiter: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(2))
    """How many threads read and score at a time what agents printed: the loop must go on."""

    def replace_snapshot(self, snapshot: Snapshot) -> "Kit":
        """Return the kit for swarms that get clones of another snapshot. Of its own it is the same
        one, which keeps what it has computed of the session."""
        return self if snapshot is self.snapshot else replace(self, snapshot=snapshot)

    @property
    def work(self) -> Path:
        """Our own folder for clones and homes."""
        return self.tools.work

    @cached_property
    def workspace(self) -> Path:
        """Return the path of the workspace, which is the same for every swarm, so that prompts are
        equal to the byte."""
        name = Path(self.experiment.repository.path).name
        return self.work / "repo" / (name or "repository")

    @cached_property
    def finder(self) -> Finder:
        """Tells the answers to the tasks of the session."""
        return Finder(self.experiment.tasks)

    @cached_property
    def reachable(self) -> AnswerLocations:
        """Return the places where an agent may read answers by its user's rights."""
        of_path = self.tools.user_environment.get("PATH", "").split(os.pathsep)
        session_paths = {self.work: None, self.work / KEPT_FOLDER: "a workspace that was kept"}
        session = self.work / SNAPSHOT
        if self.snapshot.path != session:
            session_paths[session] = "the copy of another commit"
        return AnswerLocations(
            places={
                **dict.fromkeys(filter(os.path.isabs, of_path)),  # programs, wherever they lie
                **self.answers,
                **{str(path): description for path, description in session_paths.items()},
            },
            workspace=str(self.workspace),
            home=self.tools.user_environment.get("HOME")
            if self.experiment.inherit_settings
            else None,
        )

    def build_agent_environment(self, launch: Launch, home: Home) -> dict[str, str]:
        """Build the environment of an agent; what the user set for it wins."""
        configured = {**launch.env, **self.tools.agent_env}
        variables = home.variables
        if self.experiment.inherit_settings:
            variables = {name: variables[name] for name in TEMPORARY}
        inherited = small_environment(self.tools.user_environment, launch.inherit)
        return {**inherited, **add_home_variables(variables, configured)}

    @cached_property
    def secrets(self) -> tuple[str, ...]:
        """Values that must not reach a file: every agent can read those of all modes."""
        return find_session_secrets(self.experiment, self.tools)


def find_session_secrets(experiment: Experiment, tools: Tools) -> tuple[str, ...]:
    """Collect the secrets that can be read in a session."""
    texts = [experiment.service_url or "", *experiment.agent_args]
    return find_secrets(tools, experiment.modes, texts)


@dataclass(frozen=True, kw_only=True)
class SwarmContext:
    """Handed to each of them."""

    site: Site
    """Site of the mode's tool, and of the agents themselves."""
    monitor: TreeMonitor
    attempts: Mapping[str, int]
    """Number of earlier attempts at each trial."""
    prepared_files: tuple[str, ...] = ()
    """Paths in the workspace that the preparation of the mode's tool left there."""
    reach: ForeignTools = ForeignTools()
    """Tools of other modes."""
    answers: AnswerLocations = AnswerLocations()
    """Locations of answers."""

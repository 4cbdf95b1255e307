"""What swarms are run with: data, and the parts that the caller chose."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import anyio

from swarm_bench.benchmarks.swarm.artefacts import Artefacts
from swarm_bench.config.dotenv_file import DotEnv
from swarm_bench.core.events import Emit
from swarm_bench.core.outcome import Launch
from swarm_bench.core.ports import Agent, Probe
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.datasets.exposure.finder import Finder
from swarm_bench.models.rehearsal.launch import Rehearsal
from swarm_bench.retrieval.canopy.own_service import new_key
from swarm_bench.retrieval.modes.secrets import secrets_of
from swarm_bench.retrieval.probes.registered import SHIPPED
from swarm_bench.retrieval.reach.answers import Answers
from swarm_bench.runtime.environment import small_environment
from swarm_bench.runtime.homes import TEMPORARY, Home, Homes, leading
from swarm_bench.runtime.ownership import KEPT
from swarm_bench.runtime.workspaces.workspace import SNAPSHOT, Snapshot


@dataclass(frozen=True, kw_only=True)
class Kit:
    """Passed down unchanged; nothing below reads a global."""

    experiment: Experiment
    agent: Agent
    snapshot: Snapshot
    artefacts: Artefacts
    """Where the files of the agents go."""
    work: Path
    """Our own folder for clones and homes; it goes away at the end of the session."""
    programs: Mapping[str, Path]
    """Paths of `canopy-mcp` and `canopy-service`."""
    user_environment: Mapping[str, str]
    emit: Emit
    probes: Mapping[str, Probe] = field(default_factory=lambda: SHIPPED)
    """Those of all modes, by the name that mode files have for them."""
    keep_workspaces: bool = False
    agent_env: Mapping[str, str] = field(default_factory=dict)
    """Variables that the user gives the agents."""
    dotenv: DotEnv = field(default_factory=DotEnv)
    """Those of `.env`, which every agent can read."""
    rehearsal: Rehearsal | None = None
    """The server that answers in the place of a model."""
    record: bool = False
    """Whether what the agents leave is kept, to be played again."""
    answers: Mapping[str, str] = field(default_factory=dict)
    """What at an absolute path may tell the answers: the original repository, the results, the
    task file."""
    service_key: str = field(default_factory=new_key, repr=False)
    """What the services that we start for the session ask for."""
    reading: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(2))
    """How many threads read and score at a time what agents printed: the loop must go on."""

    def of_snapshot(self, snapshot: Snapshot) -> "Kit":
        """Return the kit for swarms that get clones of another snapshot. Of its own it is the same
        one, which keeps what it has computed of the session."""
        return self if snapshot is self.snapshot else replace(self, snapshot=snapshot)

    @cached_property
    def workspace(self) -> Path:
        """The same for every swarm, so that prompts are equal to the byte."""
        name = Path(self.experiment.repository.path).name
        return self.work / "repo" / (name or "repository")

    @cached_property
    def finder(self) -> Finder:
        """Tells the answers to the tasks of the session."""
        return Finder(self.experiment.tasks)

    @cached_property
    def reachable(self) -> Answers:
        """Where an agent may read answers by its user's rights."""
        of_path = self.user_environment.get("PATH", "").split(os.pathsep)
        ours = {self.work: None, self.work / KEPT: "a workspace that was kept"}
        session = self.work / SNAPSHOT
        if self.snapshot.path != session:
            ours[session] = "the copy of another commit"
        return Answers(
            places={
                **dict.fromkeys(filter(os.path.isabs, of_path)),  # programs, wherever they lie
                **self.answers,
                **{str(path): what for path, what in ours.items()},
            },
            workspace=str(self.workspace),
            home=self.user_environment.get("HOME") if self.experiment.inherit_settings else None,
        )

    def environment(
        self, extra: Mapping[str, str], inherit: tuple[str, ...] = ()
    ) -> dict[str, str]:
        """Build the environment of a process: the common variables, the inherited ones, and
        `extra`."""
        return {**small_environment(self.user_environment, inherit), **extra}

    @property
    def homes(self) -> Homes:
        """Those of the servers."""
        of_user = self.experiment.inherit_settings
        return Homes(work=self.work, of_user=of_user, first=self.agent_env)

    def agent_environment(self, launch: Launch, home: Home) -> dict[str, str]:
        """Build the environment of an agent; what the user set for it wins."""
        own = {**launch.env, **self.agent_env}
        variables = home.variables
        if self.experiment.inherit_settings:
            variables = {name: variables[name] for name in TEMPORARY}
        return self.environment(leading(variables, own), launch.inherit)

    @property
    def variables(self) -> dict[str, str]:
        """The user's, with what the user sets for the agents in their places."""
        return {**self.user_environment, **self.agent_env}

    @cached_property
    def secrets(self) -> tuple[str, ...]:
        """Values that must not reach a file: every agent can read those of all modes."""
        texts = [self.experiment.service_url or "", *self.experiment.agent_args]
        return secrets_of(self, self.experiment.modes, texts)

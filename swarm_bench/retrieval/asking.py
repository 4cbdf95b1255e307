"""What it takes to ask the servers of modes: programs, variables, and homes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from swarm_bench.config.dotenv_file import DotEnv
from swarm_bench.core.session.experiment import Mode
from swarm_bench.retrieval.canopy.backends import SERVICE, is_embedded
from swarm_bench.retrieval.canopy.own_service import new_key, sends_key, service_command
from swarm_bench.retrieval.handshake import TAG_BEGIN
from swarm_bench.retrieval.modes.mode import uses
from swarm_bench.retrieval.modes.secrets import secrets_of
from swarm_bench.retrieval.preparing import Site
from swarm_bench.runtime.environment import small_environment
from swarm_bench.runtime.homes import Homes
from swarm_bench.runtime.process import Command

NOBODY = "http://127.0.0.1:9"
"""Where no service is: a server is to say what it offers without asking for one."""


@dataclass(frozen=True, kw_only=True)
class Asking:
    """What it takes to ask."""

    programs: Mapping[str, Path]
    user_environment: Mapping[str, str]
    agent_env: Mapping[str, str]
    """Variables that the user gives the agents, and an agent hands on to its servers."""
    service_url: str | None
    """Of a service that somebody else runs; it is not started then."""
    homes: Homes
    """Of the servers, while they are asked."""
    index_timeout: float = 600.0
    """Seconds that a preparation may take."""
    dotenv: DotEnv = field(default_factory=DotEnv)
    """Variables of `.env`, which every server can read."""
    service_key: str = field(default_factory=new_key, repr=False)
    """What a service that we start asks for."""

    @property
    def env(self) -> dict[str, str]:
        """The environment of the servers."""
        return {**small_environment(self.user_environment), **self.agent_env}

    @property
    def variables(self) -> dict[str, str]:
        """What mode files may name."""
        return {**self.user_environment, **self.agent_env}

    def secrets(self, *modes: Mode) -> tuple[str, ...]:
        """List what nobody may read of what the modes' servers say, and a service."""
        return secrets_of(self, modes, [self.service_url or ""])

    def to_fix(self, mode: Mode) -> str:
        """Name what to fix when a server of the mode does not start: its file, or the program that
        was named in the place of ours."""
        program = self.programs["canopy-mcp"]
        named = uses(mode, "canopy_mcp") and not is_embedded(program)
        return f"{program}, which is named as canopy-mcp" if named else mode.source

    def values(self, mode: Mode, workspace: Path) -> dict[str, str]:
        """Return the values of the placeholders."""
        return {
            "workspace": str(workspace),
            "service_url": (self.service_url or NOBODY) if mode.services else "",
            "canopy_mcp": str(self.programs["canopy-mcp"]),
        }

    def site(self, mode: Mode, workspace: Path, home: Mapping[str, str]) -> Site:
        """Return where the mode's tool is made ready before it is greeted."""
        return Site(
            mode=mode,
            workspace=workspace,
            env=self.env,
            home=home,
            values=self.values(mode, workspace),
            variables=self.variables,
            secrets=self.secrets(mode),
            tag=f"{TAG_BEGIN}-prepare-{uuid4().hex}",
            timeout=self.index_timeout,
        )

    def service_command(self, home: Mapping[str, str], mode: Mode | None = None) -> Command:
        """Build the command of a service that no agent will ask, and only the servers of `mode`
        beside us; `home` are variables that lead into its own."""
        return service_command(
            self.programs[SERVICE],
            work=self.homes.work,
            env={**small_environment(self.user_environment), **home},
            tag=f"{TAG_BEGIN}-service-{uuid4().hex}",
            key=self.service_key if mode is None or sends_key(mode, self.programs) else None,
        )

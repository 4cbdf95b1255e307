"""What the tools of modes are started with, and where: programs, variables, homes, a service."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from swarm_bench.config.dotenv_file import DotEnv
from swarm_bench.core.session.experiment import Mode
from swarm_bench.retrieval.canopy.backends import SERVICE, is_embedded
from swarm_bench.retrieval.canopy.service import API_KEY, Service, draw_key, sends_key
from swarm_bench.retrieval.handshake import TAG_BEGIN
from swarm_bench.retrieval.modes.mode import has_placeholder, render_command, render_servers
from swarm_bench.retrieval.modes.secrets import find_secrets
from swarm_bench.retrieval.placebo.arm import PLACEBO
from swarm_bench.runtime.environment import small_environment
from swarm_bench.runtime.homes import Homes
from swarm_bench.runtime.process import Command

if TYPE_CHECKING:
    from swarm_bench.runtime.mcp.client import Connection

NOBODY = "http://127.0.0.1:9"
"""Address without a service: a server must say what it offers without asking for one."""


@dataclass(frozen=True, kw_only=True)
class Tools:
    """What all of a session are started with."""

    work: Path
    """Our own folder for clones and homes; it goes away at the end of the session."""
    programs: Mapping[str, Path]
    """Paths of `canopy-mcp` and `canopy-service`."""
    user_environment: Mapping[str, str]
    agent_env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables that the user gives the agents, and an agent hands on to its servers."""
    dotenv: DotEnv = field(default_factory=DotEnv)
    """Variables of `.env`, which every agent and every server can read."""
    service_url: str | None = None
    """URL of a service that somebody else runs; it is not started then."""
    inherit_settings: bool = False
    """Whether servers use the home of the user."""
    index_timeout: float = 600.0
    """Seconds that a preparation may take."""
    service_key: str = field(default_factory=draw_key, repr=False)
    """Key that the services which we start require."""

    @property
    def homes(self) -> Homes:
        """Return the homes of the servers."""
        return Homes(work=self.work, of_user=self.inherit_settings, first=self.agent_env)

    @property
    def env(self) -> dict[str, str]:
        """The environment of the servers."""
        return {**small_environment(self.user_environment), **self.agent_env}

    @property
    def variables(self) -> dict[str, str]:
        """What mode files may name: the user's, with what the user sets for the agents in their
        places."""
        return {**self.user_environment, **self.agent_env}

    def collect_secrets(self, *modes: Mode) -> tuple[str, ...]:
        """List the secrets to remove from what the modes' servers say, and a service."""
        return find_secrets(self, modes, [self.service_url or ""])

    def name_fix(self, mode: Mode) -> str:
        """Name what to fix when a server of the mode does not start: its file, or the program that
        was named in the place of ours."""
        program = self.programs["canopy-mcp"]
        is_configured = has_placeholder(mode, "canopy_mcp") and not is_embedded(program)
        return f"{program}, which is named as canopy-mcp" if is_configured else mode.source

    def build_service_command(
        self, home: Mapping[str, str], mode: Mode | None = None, tag: str | None = None
    ) -> Command:
        """Build the command of a service that only the servers of `mode` ask beside us, or no
        servers; `home` are variables that lead into its own. The embedded one serves what is below
        `work` alone, and only clients that send the key, if any; the real one has no such option,
        and its own client sends no key where it is needed."""
        program = self.programs[SERVICE]
        argv, env = [str(program)], {**small_environment(self.user_environment), **home}
        if is_embedded(program):
            argv += ["--root", str(self.work)]
            if mode is None or sends_key(mode, self.programs):
                env[API_KEY] = self.service_key
        tag = tag or f"{TAG_BEGIN}-service-{uuid4().hex}"
        return Command(argv=tuple(argv), cwd=self.work, env=env, tag=tag)


@dataclass(frozen=True, kw_only=True)
class Site:
    """Site of a mode's tool: where it is started, and the way to its home and its service."""

    tools: Tools
    mode: Mode
    workspace: Path
    home: Mapping[str, str] = field(default_factory=dict)
    """Variables that lead into the home of the mode's servers."""
    service: Service | None = None
    secrets: tuple[str, ...] = field(default=(), repr=False)
    tag: str = ""
    """Marks the processes; unique among those that run at the same time."""

    @property
    def values(self) -> dict[str, str]:
        """What fills the placeholders of the mode's file."""
        url = (self.tools.service_url or NOBODY) if self.mode.services else ""
        return {
            "workspace": str(self.workspace),
            "service_url": self.service.url if self.service else url,
            "canopy_mcp": str(self.tools.programs.get("canopy-mcp", "")),
            PLACEBO: str(self.tools.work / PLACEBO),
        }

    @property
    def servers(self) -> dict[str, Any]:
        """The mode's servers, filled in. Raises `ConfigError`."""
        return render_servers(self.mode, self.values, self.tools.variables, self._variables)

    def start_server(self, name: str) -> AbstractAsyncContextManager["Connection"]:
        """Start one of the mode's servers for the block, and connect to it. Raises `ConfigError`
        and `ServerFailed`."""
        # Half a second of imports that a session without it does not pay.
        from swarm_bench.runtime.mcp.client import own_server

        return own_server(
            self.servers[name],
            env=self.tools.env,
            cwd=self.workspace,
            tag=self.tag,
            secrets=self.secrets,
            seconds=self.mode.start_seconds,
        )

    def build_command(self, template: Sequence[str]) -> Command:
        """Make a command of the mode's file. It gets what its servers have in their `env`."""
        server_variables = {
            k: v for server in self.servers.values() for k, v in server.get("env", {}).items()
        }
        return Command(
            argv=render_command(self.mode, template, self.values, self.tools.variables),
            cwd=self.workspace,
            env={**self.tools.env, **self._variables, **server_variables},
            tag=self.tag,
        )

    @property
    def _variables(self) -> dict[str, str]:
        """Return all variables that the servers are given by us."""
        return {**self.home, **(self.service.variables if self.service else {})}

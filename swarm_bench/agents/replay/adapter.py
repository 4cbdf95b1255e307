"""The agent that plays a recording: its process prints what was recorded, and the adapter of the
recorded agent reads it. Nothing in a recording is run or imported: it may come from anyone.
"""

import sys
from pathlib import Path
from typing import Any

from swarm_bench.agents.replay.recording import read_recording
from swarm_bench.config.written import COMMAND, YAML
from swarm_bench.core import registry
from swarm_bench.core.errors import ConfigError, UsageError
from swarm_bench.core.outcome import Activity, AgentExit, AgentRequest, Launch, Outcome
from swarm_bench.core.ports import Agent, Capabilities
from swarm_bench.core.session.experiment import Program
from swarm_bench.core.session.recording import CheckedRecording

PROGRAM = "swarm_bench.testing.recorded_process"


class Replay:
    """The recording of a session: what its agents printed is printed again."""

    name = "replay"
    capabilities = Capabilities()
    argument = "DIR"

    def __init__(self, recording: str) -> None:
        """Read the recording in a folder. When its agent does not come with swarm-bench, that
        follows after an `@`: `DIR@module:class`, `DIR@FILE.yaml`.

        Raises `UsageError` and `ConfigError`.
        """
        folder, agent = _split_argument(recording)
        self.recorded = read_recording(folder)
        self._inner = _load_adapter(self.recorded, agent)

    def launch(self, request: AgentRequest) -> Launch:
        """Make the command. Raises `KeyError` for a trial that the recording lacks."""
        trial = self.recorded.trials[request.trial]
        options = [
            f"--{name}={self.recorded.stream(trial.trial, name)}" for name in ("stdout", "stderr")
        ]
        return Launch(
            argv=(
                *(sys.executable, "-I", "-m", PROGRAM),
                *options,
                f"--code={trial.returncode or 0}",
            ),
            turn_limit=trial.turn_limit,
        )

    def activity(self, line: bytes) -> Activity | None:
        return self._inner.activity(line)

    def outcome(self, exit: AgentExit) -> Outcome:
        return self._inner.outcome(exit)

    def program(self, model: str | None) -> Program:
        """Return the program that was recorded; it need not be installed here."""
        return self.recorded.recording.experiment.agent


def _split_argument(recording: str) -> tuple[Path, str | None]:
    """Return the folder, and the agent if there is one."""
    folder, at, agent = recording.rpartition("@")
    if not at or Path(recording).expanduser().exists():
        return Path(recording).expanduser(), None
    return Path(folder).expanduser(), agent


def _load_adapter(recording: CheckedRecording, agent: str | None) -> Agent:
    """Return the agent that reads the streams. A recording can name a registered one only."""
    name, folder = recording.recording.adapter, recording.path
    registered = {plugin.name for plugin in registry.list_plugins("agents")} - {
        Replay.name,
        COMMAND,
    }
    if agent is None and name not in registered:
        raise UsageError(
            f"{folder} was recorded with the agent {name!r}, which swarm-bench does not have, and "
            "which is not loaded because a recording names it; if you have it and trust it, give "
            f"it: --agent {Replay.name}:{folder}@{name}"
        )
    loaded = _load(agent or name)
    if not isinstance(loaded, Agent) or isinstance(loaded, Replay):
        raise ConfigError(f"{agent or name!r} is no agent that can be recorded; give another")
    return loaded


def _load(name: str) -> Any:
    if name.endswith(YAML):
        return registry.load("agents", COMMAND)(name)
    return registry.load("agents", name)()

"""The agent that plays a recording: its process prints what was recorded, and the adapter of the
recorded agent reads it. Nothing in a recording is run or imported: it may come from
anyone: its types are checked, its sizes bounded, and no path in it is followed.
"""

import os
import stat
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from swarm_bench.config.parsing import COMMAND, YAML
from swarm_bench.core import entry_points
from swarm_bench.core.errors import ConfigError, Refused, UsageError
from swarm_bench.core.outcome import Activity, AgentExit, AgentRequest, Launch, Outcome
from swarm_bench.core.ports import Agent, Capabilities
from swarm_bench.core.session.experiment import Program
from swarm_bench.core.session.recording import (
    FOLDER,
    FORMAT,
    OVERHEAD,
    RECORDING,
    STREAMS,
    SWARMS,
    TRIALS,
    CheckedRecording,
    RecordedOverhead,
    RecordedSwarm,
    RecordedTrial,
    Recording,
    stream_path,
)
from swarm_bench.core.stored import Stored
from swarm_bench.core.validation import first_clause
from swarm_bench.runtime import untrusted

PROGRAM = "swarm_bench.testing.recorded_process"
_MAX_FILE_BYTES = 256 * 1024 * 1024
"""Largest file that is read as a whole."""
Line = TypeVar("Line", bound=Stored)


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
    registered = {plugin.name for plugin in entry_points.list_plugins("agents")} - {
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
        return entry_points.load("agents", COMMAND)(name)
    return entry_points.load("agents", name)()


class _Format(Stored):
    format: int


def read_recording(folder: Path) -> CheckedRecording:
    """Read the recording in `folder`, or in the session there. Raises `UsageError` when there is
    none, `ConfigError` when it is not as it was recorded."""
    folder = folder.resolve()
    if folder.is_file():
        raise UsageError(f"{folder} is a file; unpack it, and give the folder with {RECORDING}")
    if not (folder / RECORDING).exists() and (folder / FOLDER / RECORDING).exists():
        folder = (folder / FOLDER).resolve()
    if not (folder / RECORDING).exists():
        raise UsageError(
            f"{folder} holds no recording (there is no {RECORDING}); give the folder "
            f"{FOLDER!r} of a session that was made with --record"
        )
    recording = _read_head(folder / RECORDING)
    trials, torn_trials = _read_lines(folder / TRIALS, RecordedTrial)
    swarms, torn_swarms = _read_lines(folder / SWARMS, RecordedSwarm)
    overhead, torn_overhead = _read_lines(folder / OVERHEAD, RecordedOverhead)
    latest = {trial.trial: trial for trial in trials}
    broken = _find_broken(folder, latest.values())
    limit = recording.experiment.limits.output_bytes
    if any(max(trial.sizes.values(), default=0) > limit for trial in latest.values()):
        raise ConfigError(f"{folder} has more output than an agent can print; ask for it again")
    return CheckedRecording(
        path=folder,
        recording=recording,
        trials={name: trial for name, trial in latest.items() if name not in broken},
        swarms=tuple(swarms),
        overhead=tuple(overhead),
        problems=(*torn_trials, *torn_swarms, *torn_overhead, *broken.values()),
    )


def _read_head(path: Path) -> Recording:
    content = _read_content(path)
    try:
        if _Format.from_json(content).format > FORMAT:
            raise UsageError(f"{path} was recorded by a newer swarm-bench; update this one")
        return Recording.from_json(content)
    except ValidationError as error:
        raise ConfigError(
            f"{path} is no recording: {first_clause(error)}; ask for it again"
        ) from error


def _read_lines(path: Path, kind: type[Line]) -> tuple[list[Line], list[str]]:
    """Read the lines, and make a sentence on the unreadable ones: the last one may be torn."""
    entries, torn = list[Line](), list[int]()
    content = _read_content(path) if os.path.lexists(path) else b""
    for number, line in enumerate(content.split(b"\n"), start=1):
        if line.strip():
            try:
                entries.append(kind.from_json(line))
            except ValidationError:
                torn.append(number)
    if not torn:
        return entries, []
    lines, verb = ("line", "is") if len(torn) == 1 else ("lines", "are")
    numbers = ", ".join(map(str, torn[:20]))
    return entries, [f"{path.name}: {lines} {numbers} cannot be read and {verb} omitted"]


def _read_content(path: Path) -> bytes:
    try:
        return untrusted.read(path, _MAX_FILE_BYTES)
    except Refused as error:
        raise ConfigError(
            f"{path} is no file of a recording, or too large; ask for it again"
        ) from error


def _find_broken(folder: Path, trials: Iterable[RecordedTrial]) -> dict[str, str]:
    """Return trials whose streams are not there as they were recorded, and a sentence on each."""
    if not _is_plain(folder / STREAMS, stat.S_ISDIR):
        return {t.trial: f"{folder / STREAMS} is not there" for t in trials if t.ran}
    broken = {}
    for trial in trials:
        for name, size in trial.sizes.items():
            path = stream_path(folder, trial.trial, name)
            if not _is_plain(path) or path.stat().st_size != size:
                broken[trial.trial] = f"{STREAMS}/{path.name} is not as it was recorded"
    return broken


def _is_plain(path: Path, is_kind: Callable[[int], bool] = stat.S_ISREG) -> bool:
    """Tell whether it exists and is of the kind; a link is neither file nor folder: it leads
    away."""
    return os.path.lexists(path) and is_kind(path.lstat().st_mode)

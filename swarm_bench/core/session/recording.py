"""What `--record` stores of a session so that it can be played again, and what is read of it.

    recording.json          the experiment in shape, without anything secret
    trials.jsonl            how each agent's process ended, and what was measured of it
    swarms.jsonl            the retrieval tool's counters around each swarm
    overhead.jsonl          what it costs to have the tools of the modes at all
    streams/<trial>.stdout  what the agent printed, byte for byte
    streams/<trial>.stderr
    streams/<trial>.left-1  a file that the agent left and its adapter reads, without secrets

A recording may come from somebody else, so its types say what they take.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Protocol, runtime_checkable

from pydantic import ConfigDict, Field, field_validator, model_validator

from swarm_bench.core.figures import LARGEST
from swarm_bench.core.outcome import StopReason
from swarm_bench.core.ports import Agent
from swarm_bench.core.session.experiment import Experiment, check_stored
from swarm_bench.core.session.records import SwarmRecord
from swarm_bench.core.status import CONSEQUENCES, Cause, Status
from swarm_bench.core.stored import Moment, Stored
from swarm_bench.core.treatment.evidence import LONGEST_OUTSIDE, MOST_OUTSIDE
from swarm_bench.core.treatment.overhead import Overhead

FORMAT = 2
"""Since 2 the experiment has a design beside the benchmark; 1 is still played."""
FOLDER = "recording"
RECORDING = "recording.json"
TRIALS = "trials.jsonl"
SWARMS = "swarms.jsonl"
OVERHEAD = "overhead.jsonl"
STREAMS = "streams"

Count = Annotated[int, Field(ge=0, le=LARGEST)]
Amount = Annotated[float, Field(ge=0, le=LARGEST)]
Sentence = Annotated[str, Field(max_length=LONGEST_OUTSIDE)]


class Recording(Stored):
    """`recording.json`: what the session was."""

    format: int = FORMAT
    swarm_bench: str
    """The version that recorded it."""
    adapter: str = Field(max_length=500, pattern=r"^[^\x00-\x1f\x7f-\x9f]+$")
    """The word that named the agent: a registered name, or something of the user's own, which is
    never loaded because a recording says so."""
    experiment: Experiment
    """Experiment without settings, and without what servers are started with; its fields for
    addresses and for paths of programs are empty."""
    files: tuple[str, ...]
    """Paths of the files that the agents could see; the scorers ask for them."""
    files_at: dict[str, tuple[str, ...]] = {}
    """Files at each commit that tasks were asked on."""

    @field_validator("experiment")
    @classmethod
    def _can_be_replayed(cls, experiment: Experiment) -> Experiment:
        if experiment.replayed is not None:
            raise ValueError("is itself a replay")
        check_stored(experiment)
        return experiment


class RecordedTrial(Stored):
    """One line of `trials.jsonl`. Of a trial that ran again the last line counts."""

    model_config = ConfigDict(serialize_by_alias=True)

    trial: str = Field(pattern=r"^[0-9a-f]{12}$")
    run: int
    mode: str
    agent: int
    task_id: str
    attempt: int = Field(default=1, ge=1)
    prompt_sha256: str
    """Checksum of the prompt that the agent was given, in UTF-8."""
    workspace: str
    """Path of the workspace as the agent saw it: its answer may name files by it."""
    cause: Cause
    detail: str | None = None
    program_version: str | None = None
    """Version that the program stated before the session."""
    ran: bool
    """Whether there was a process; without one there are no streams either."""
    returncode: int | None = Field(default=None, ge=-128, le=255)
    """Return code of the process; `None` when its end was not observed."""
    exit_code: int | None = Field(default=None, ge=-128, le=255)
    """Exit code in the record."""
    stopped: StopReason | None = None
    turn_limit: int | None = Field(default=None, ge=1)
    """Limit of turns, where we counted the turns and kept the budget."""
    stdout_bytes: Count = 0
    stderr_bytes: Count = 0
    home_files: dict[str, Count] = Field(default={}, alias="left")
    """Files that it left, by their path below its home, with their sizes in bytes."""
    started_at: Moment | None = None
    ended_at: Moment | None = None
    wall_seconds: Amount | None = None
    cpu_seconds: Amount | None = None
    peak_memory_bytes: Count | None = None
    outside: tuple[Sentence, ...] = Field(default=(), max_length=MOST_OUTSIDE)
    """Sentences on what the agent reached beside the servers of its mode."""
    answers: tuple[Sentence, ...] = Field(default=(), max_length=MOST_OUTSIDE)
    """Places with answers that it reached."""
    rehearsal: bool | None = None
    rehearsal_requests: Count | None = None
    rehearsal_faults: Count | None = None
    rehearsal_request_tokens: Count | None = None
    rehearsal_tool_tokens: Count | None = None
    rehearsal_mcp_tokens: Count | None = None
    rehearsal_tools: list[str] | None = None

    @model_validator(mode="after")
    def _ended_somehow(self) -> "RecordedTrial":
        if not self.ran and not self.has_external_cause:
            raise ValueError(f"cannot be {self.cause} without a process")
        return self

    @field_validator("home_files")
    @classmethod
    def _stay_in_the_home(cls, files: dict[str, int]) -> dict[str, int]:
        for name in files:
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts or "\0" in name or path == PurePosixPath():
                raise ValueError("has a file outside the agent's home")
        return files

    @property
    def sizes(self) -> dict[str, int]:
        """Sizes in bytes of its streams, by the ends of their names."""
        if not self.ran:
            return {}
        sizes = {"stdout": self.stdout_bytes, "stderr": self.stderr_bytes}
        for number, size in enumerate(self.home_files.values(), start=1):
            sizes[f"left-{number}"] = size
        return sizes

    @property
    def has_external_cause(self) -> bool:
        """Whether the cause came from around the agent and cannot be read from its output."""
        outside = (Status.HARNESS_FAILED, Status.CANCELLED)
        read_from_output = self.ran and self.cause is Cause.ADAPTER_FAILED
        return CONSEQUENCES[self.cause].status in outside and not read_from_output


class RecordedSwarm(SwarmRecord):
    """One line of `swarms.jsonl`."""

    @field_validator("difference")
    @classmethod
    def _is_made_of_figures(
        cls, difference: dict[str, dict[str, Any] | None]
    ) -> dict[str, dict[str, Any] | None]:
        figures = (value for change in difference.values() for value in (change or {}).values())
        if any(value is not None and type(value) not in (int, float) for value in figures):
            raise ValueError("has a counter that is no number")
        return difference


class RecordedOverhead(Overhead):
    """One line of `overhead.jsonl`. Of a mode that has several the last one counts."""

    server_seconds: dict[str, Amount] = {}
    tools: Count | None = None
    tool_tokens: Count | None = None
    server_instruction_tokens: Count | None = None
    mode_instruction_tokens: Count | None = None
    prompt_tokens: Count | None = None
    prompt_cost: Amount | None = None


@dataclass(frozen=True, kw_only=True)
class CheckedRecording:
    """A recording that was read and checked."""

    path: Path
    recording: Recording
    trials: Mapping[str, RecordedTrial]
    """Trials by their ids."""
    swarms: tuple[SwarmRecord, ...]
    overhead: tuple[Overhead, ...] = ()
    problems: tuple[str, ...] = ()
    """Lines that could not be read, a sentence per file."""

    def stream(self, trial: str, name: str) -> Path:
        """Return the path of one of its streams; `name` is one of the trial's `sizes`."""
        return stream_path(self.path, trial, name)


@runtime_checkable
class Replays(Agent, Protocol):
    """An agent that plays a recording: the experiment is the recorded one."""

    recorded: CheckedRecording


def stream_path(folder: Path, trial: str, name: str) -> Path:
    """Return the path of a stream; `trial` must be an id and nothing else."""
    return folder / STREAMS / f"{trial}.{name}"

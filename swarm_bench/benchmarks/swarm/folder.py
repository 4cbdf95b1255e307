"""The folder of a session, and of a series: one session for each size of swarm, and a summary on
top. The one module that knows where things lie in them.

swarm-20261120-213300/
  summary.md
  agents-1/  agents-2/ ...     each is the folder of a session
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path

from swarm_bench.benchmarks.swarm.artefacts import Artefacts
from swarm_bench.benchmarks.swarm.run_plan import count_planned, cut_to_started
from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.audit import Audit
from swarm_bench.core.session.designs import Design
from swarm_bench.core.session.experiment import Experiment, Storable, check_stored
from swarm_bench.core.session.judgements import JUDGE, Verdict
from swarm_bench.core.session.records import SessionData, SwarmRecord, TrialRecord
from swarm_bench.core.session.rescored import RescoredAnswer
from swarm_bench.core.treatment.overhead import Overhead
from swarm_bench.engine.continuing import check_command
from swarm_bench.engine.folder import EXPERIMENT, Folder
from swarm_bench.engine.lines import (
    MOST_BYTES,
    Checked,
    add_checksum,
    describe_changed_lines,
    describe_second_lines,
    describe_torn_lines,
    find_duplicates,
    read_checked,
    read_lines,
)
from swarm_bench.engine.nodes import describe_nodes
from swarm_bench.runtime.files import (
    PLANTED,
    append_line,
    make_room,
    move_files,
    store_errors,
    write_whole,
)
from swarm_bench.runtime.untrusted import read

RETRIEVAL = "retrieval.jsonl"
OVERHEAD = "overhead.jsonl"
TASKS = "tasks.yaml"
"""Holds the tasks that were made for the session."""
RESCORED = "rescored.jsonl"

_SET_ASIDE = re.compile(rf"{PLANTED}-\d+-[\w.-]{{1,100}}", re.ASCII)


class SessionFolder(Folder[Experiment, TrialRecord]):
    """The folder of a session of the swarm benchmark."""

    mark = "agent"

    def __init__(self, path: Path) -> None:
        super().__init__(path, Experiment, TrialRecord)
        self._retrieval = self.path / RETRIEVAL
        self._overhead = self.path / OVERHEAD
        self._rescored = self.path / RESCORED
        self._verdicts = self.path / JUDGE

    def _other_files(self) -> tuple[str, ...]:
        return RETRIEVAL, OVERHEAD, RESCORED, JUDGE

    def _check(self, experiment: Experiment) -> None:
        check_stored(experiment)

    def rearrange(self, old: Experiment, new: Experiment) -> None:
        """Make room for the other runs of a session that grows from one run to several."""
        if old.runs == 1 and new.runs > 1:
            with store_errors(self.path):
                self._move_into_first_run([mode.name for mode in old.modes])

    def write_experiment(self, experiment: Storable) -> None:
        """Store the experiment."""
        self._write(experiment)

    def write_tasks(self, text: str) -> None:
        """Store the task file of tasks that were made for the session."""
        write_whole(self.path / TASKS, text)

    def supersede_experiment(self, experiment: Storable) -> None:
        """Store the experiment, and keep the one that there was beside it."""
        numbers = (f"superseded-{number}-{EXPERIMENT}" for number in count(1))
        free = next(path for name in numbers if not (path := self.path / name).exists())
        write_whole(free, read(self._experiment))
        self._write(experiment)

    def artefacts(self, experiment: Experiment) -> Artefacts:
        """Return where the files of its agents lie."""
        return Artefacts(self.path, runs=experiment.runs)

    def append_swarm(self, record: SwarmRecord) -> None:
        append_line(self._retrieval, add_checksum(record.model_dump_json()), max_bytes=MOST_BYTES)

    def append_verdict(self, verdict: Verdict) -> None:
        append_line(self._verdicts, add_checksum(verdict.model_dump_json()))

    def write_overhead(self, lines: Sequence[Overhead]) -> None:
        """Store the overhead of all modes, a line each. A line with the same content stays as it
        is: one that was edited gets no new checksum. Lines that cannot be read stay too."""
        make_room(self._overhead)
        old_lines = read_lines(self._overhead, Overhead)
        old_texts = {
            record.model_dump_json(): line for _, line, record in old_lines if record is not None
        }
        unreadable = [line for _, line, record in old_lines if record is None]
        texts = [line.model_dump_json() for line in lines]
        new_lines = [old_texts.get(text) or add_checksum(text) for text in texts]
        write_whole(self._overhead, b"".join(line + b"\n" for line in [*new_lines, *unreadable]))

    def append_rescored(self, lines: Sequence[RescoredAnswer]) -> None:
        """Put scores beside the records, which stay as they are."""
        sealed_lines = [add_checksum(line.model_dump_json()) for line in lines]
        append_line(self._rescored, b"\n".join(sealed_lines))

    def read_overhead(self) -> list[Overhead]:
        """Read the overhead of the modes, omitting lines that cannot be read."""
        return [line for _, _, line in read_lines(self._overhead, Overhead) if line is not None]

    def read_swarms(self) -> list[SwarmRecord]:
        """Read the records of its swarms, omitting lines that cannot be read."""
        return [line for _, _, line in read_lines(self._retrieval, SwarmRecord) if line is not None]

    def read(self, experiment: Experiment | None = None) -> SessionData:
        """Read the session as it is now, or as this experiment, which it grows to: one that ends
        when its verdict stands as far as it was run."""
        trials = self.records.read()
        started = {record.agent for _, _, record in trials if record is not None}
        experiment = cut_to_started(experiment or self.read_experiment(), started)
        seconds = frozenset(find_duplicates(trials))
        swarms = read_checked(self._retrieval, SwarmRecord)
        overhead = read_checked(self._overhead, Overhead)
        rescored = read_checked(self._rescored, RescoredAnswer)
        latest = {line.key: line for _, _, line in rescored if line is not None}
        verdicts = read_checked(self._verdicts, Verdict)
        return SessionData(
            experiment=experiment,
            trials=tuple(
                latest[record.key].apply_to(record) if record.key in latest else record
                for number, _, record in trials
                if record is not None and number not in seconds
            ),
            swarms=tuple(record for _, _, record in swarms if record is not None),
            overhead=tuple(line for _, _, line in overhead if line is not None),
            verdicts=tuple(
                line for _, is_intact, line in verdicts if line is not None and is_intact
            ),
            planned=count_planned(experiment),
            audit=_audit(trials, {RETRIEVAL: swarms, OVERHEAD: overhead, RESCORED: rescored}),
            planted=_find_planted(self.path),
            warnings=(
                *experiment.slice_notes,
                *describe_nodes(experiment, trials, self.records),
                *describe_torn_lines(self.records.path, trials),
                *describe_second_lines(self.records.path, seconds),
                *describe_torn_lines(self._retrieval, swarms),
                *describe_torn_lines(self._overhead, overhead),
                *describe_torn_lines(self._rescored, rescored),
                *_describe_rescoring(latest.values()),
                *describe_torn_lines(self._verdicts, verdicts),
                *describe_changed_lines(self._verdicts, verdicts),
            ),
        )

    def _move_into_first_run(self, modes: Sequence[str]) -> None:
        """Move file by file, so that an interrupted move can be repeated. Whatever stands where a
        folder goes is set aside."""
        first = self.path / "run-1"
        for mode in modes:
            for path in (self.path / mode, first, first / mode):
                make_room(path, folder=True)
            if (self.path / mode).is_dir():
                move_files(self.path / mode, first / mode)


def _audit(
    trials: Sequence[Checked[TrialRecord]],
    other_files: Mapping[
        str, Sequence[Checked[SwarmRecord] | Checked[Overhead] | Checked[RescoredAnswer]]
    ],
) -> Audit:
    """Sum up the checksums of the lines that can be read: those of trials, and others by the name
    of their file."""
    trial_states = [(record.key, state) for _, state, record in trials if record is not None]
    other_states = [
        ((file, record.mode), state)
        for file, lines in other_files.items()
        for _, state, record in lines
        if record is not None
    ]
    return Audit(
        sealed=sum(state is not None for _, state in trial_states),
        edited=frozenset(key for key, state in trial_states if state is False),
        without_checksum=frozenset(key for key, state in trial_states if state is None),
        edited_beside=Counter(key for key, state in other_states if state is False),
        bare_beside=Counter(key for key, state in other_states if state is None),
    )


def _describe_rescoring(lines: Collection[RescoredAnswer]) -> Iterator[str]:
    """Yield a sentence on scores that are not those of the records."""
    if lines:
        last = max(lines, key=lambda line: line.rescored_at)
        yield (
            f"The scores are those of {RESCORED}, which swarm-bench rescore wrote last on "
            f"{last.rescored_at:%Y-%m-%d} with version {last.swarm_bench}"
        )
    for reason, number in Counter(line.unread for line in lines if line.unread).items():
        yield (
            f"Answers that could not be scored again: {number} ({reason}); they keep the scores by "
            "the keys that stayed"
        )


def _find_planted(session: Path) -> tuple[str, ...]:
    levels = (f"{PLANTED}-*", f"*/{PLANTED}-*", f"*/*/{PLANTED}-*")
    names = sorted(path.name for level in levels for path in session.glob(level))
    return tuple(name for name in names if _SET_ASIDE.fullmatch(name))


_MEMBER = re.compile(r"agents-[1-9][0-9]{0,8}")
"""Names of the folders of a series' sessions."""
_CLOCK_SECONDS = 2.0
"""Seconds by which the time of a file may be too early."""


def member_folder(series: Path, size: int) -> Path:
    """Return the folder of the session of that size."""
    return series / f"agents-{size}"


def find_sessions(series: Path) -> dict[int, SessionFolder]:
    """Return the sessions that a series has so far, by size, the smallest first; none for any other
    folder."""
    if SessionFolder(series).holds_session():
        return {}
    members = {_read_size(path): path for path in _find_members(series)}
    return {size: SessionFolder(members[size]) for size in sorted(members)}


def _find_members(series: Path) -> list[Path]:
    """Return the folders of the sessions that a series has so far; links do not count."""
    return [
        file.parent
        for file in series.glob(f"agents-*/{EXPERIMENT}")
        if _MEMBER.fullmatch(file.parent.name) and not file.parent.is_symlink()
    ]


def _read_size(path: Path) -> int:
    return int(path.name.removeprefix("agents-"))


def find_newest_session(results: Path, design: Design) -> Path:
    """Return the latest session or series of the design below `results`, among those that can be
    read. Raises `UsageError` when there is none."""
    single_sessions = [(file.parent, file) for file in results.glob(f"*/{EXPERIMENT}")]
    of_series = [
        (path, member / EXPERIMENT) for path in results.glob("*") for member in _find_members(path)
    ]
    files = (
        (file.stat().st_mtime, path, file)
        for path, file in [*single_sessions, *of_series]
        if file.is_file()
    )
    newest, start = None, 0.0
    for changed, path, file in sorted(files, reverse=True):
        if changed + _CLOCK_SECONDS < start:
            break  # what was not changed since cannot have begun later
        with suppress(UsageError):  # what cannot be read is passed over, as that of other commands
            experiment = SessionFolder(file.parent).read_experiment()
            check_command(experiment.design, design, f"{path} is a session of another command")
            if experiment.created_at.timestamp() > start:
                newest, start = path, experiment.created_at.timestamp()
    if newest is None:
        raise UsageError(
            f"There is no session below {results} to continue; name its folder: --continue DIR"
        )
    return newest

"""A session's folder. The one module that knows where things lie in it."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path

from swarm_bench.benchmarks.swarm.artefacts import Artefacts
from swarm_bench.benchmarks.swarm.plan.swarms import as_far_as, planned_by_mode
from swarm_bench.core.session.audit import Audit
from swarm_bench.core.session.experiment import Experiment, Storable
from swarm_bench.core.session.experiment_checks import check_stored
from swarm_bench.core.session.later.rescored import Rescored
from swarm_bench.core.session.later.verdicts import JUDGE, Verdict
from swarm_bench.core.session.records import SessionData, SwarmRecord, TrialRecord
from swarm_bench.core.treatment.overhead import Overhead
from swarm_bench.engine.folder import EXPERIMENT as EXPERIMENT
from swarm_bench.engine.folder import Folder
from swarm_bench.engine.folding import doubled
from swarm_bench.engine.lines import (
    Checked,
    changed_lines,
    read_checked,
    read_lines,
    second_lines,
    torn_lines,
)
from swarm_bench.engine.seal import sealed
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

    def _others(self) -> tuple[str, ...]:
        return RETRIEVAL, OVERHEAD, RESCORED, JUDGE

    def _check(self, experiment: Experiment) -> None:
        check_stored(experiment)

    def rearrange(self, before: Experiment, after: Experiment) -> None:
        """Make room for the other runs of a session that grows from one run to several."""
        if before.runs == 1 and after.runs > 1:
            with store_errors(self.path):
                self._move_into_first_run([mode.name for mode in before.modes])

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
        append_line(self._retrieval, sealed(record.model_dump_json()))

    def append_verdict(self, verdict: Verdict) -> None:
        append_line(self._verdicts, sealed(verdict.model_dump_json()))

    def write_overhead(self, lines: Sequence[Overhead]) -> None:
        """Store the overhead of all modes, a line each. A line with the same content stays as it
        is: one that was edited gets no new checksum. Lines that cannot be read stay too."""
        make_room(self._overhead)
        before = read_lines(self._overhead, Overhead)
        written = {
            record.model_dump_json(): line for _, line, record in before if record is not None
        }
        unreadable = [line for _, line, record in before if record is None]
        texts = [line.model_dump_json() for line in lines]
        stored = [written.get(text) or sealed(text) for text in texts]
        write_whole(self._overhead, b"".join(line + b"\n" for line in [*stored, *unreadable]))

    def append_rescored(self, lines: Sequence[Rescored]) -> None:
        """Put scores beside the records, which stay as they are."""
        sealed_lines = [sealed(line.model_dump_json()) for line in lines]
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
        begun = {record.agent for _, _, record in trials if record is not None}
        experiment = as_far_as(experiment or self.read_experiment(), begun)
        seconds = frozenset(doubled(trials))
        swarms = read_checked(self._retrieval, SwarmRecord)
        overhead = read_checked(self._overhead, Overhead)
        rescored = read_checked(self._rescored, Rescored)
        latest = {line.key: line for _, _, line in rescored if line is not None}
        verdicts = read_checked(self._verdicts, Verdict)
        return SessionData(
            experiment=experiment,
            trials=tuple(
                latest[record.key].applied(record) if record.key in latest else record
                for number, _, record in trials
                if record is not None and number not in seconds
            ),
            swarms=tuple(record for _, _, record in swarms if record is not None),
            overhead=tuple(line for _, _, line in overhead if line is not None),
            verdicts=tuple(line for _, whole, line in verdicts if line is not None and whole),
            planned=planned_by_mode(experiment),
            audit=_audit_of(trials, {RETRIEVAL: swarms, OVERHEAD: overhead, RESCORED: rescored}),
            planted=_planted(self.path),
            warnings=(
                *torn_lines(self.records.path, trials),
                *second_lines(self.records.path, seconds),
                *torn_lines(self._retrieval, swarms),
                *torn_lines(self._overhead, overhead),
                *torn_lines(self._rescored, rescored),
                *_rescoring(latest.values()),
                *torn_lines(self._verdicts, verdicts),
                *changed_lines(self._verdicts, verdicts),
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


def _audit_of(
    trials: Sequence[Checked[TrialRecord]],
    beside: Mapping[str, Sequence[Checked[SwarmRecord] | Checked[Overhead] | Checked[Rescored]]],
) -> Audit:
    """Sum up the checksums of the lines that can be read: those of trials, and others by the name
    of their file."""
    whole = [(record.key, state) for _, state, record in trials if record is not None]
    others = [
        ((file, record.mode), state)
        for file, lines in beside.items()
        for _, state, record in lines
        if record is not None
    ]
    return Audit(
        sealed=sum(state is not None for _, state in whole),
        edited=frozenset(key for key, state in whole if state is False),
        bare=frozenset(key for key, state in whole if state is None),
        edited_beside=Counter(key for key, state in others if state is False),
        bare_beside=Counter(key for key, state in others if state is None),
    )


def _rescoring(lines: Collection[Rescored]) -> Iterator[str]:
    """Yield a sentence on scores that are not those of the records."""
    if lines:
        last = max(lines, key=lambda line: line.rescored_at)
        yield (
            f"The scores are those of {RESCORED}, which swarm-bench rescore wrote last on "
            f"{last.rescored_at:%Y-%m-%d} with version {last.swarm_bench}"
        )
    for why, number in Counter(line.unread for line in lines if line.unread).items():
        yield (
            f"Answers that could not be scored again: {number} ({why}); they keep the scores by "
            "the keys that stayed"
        )


def _planted(session: Path) -> tuple[str, ...]:
    levels = (f"{PLANTED}-*", f"*/{PLANTED}-*", f"*/*/{PLANTED}-*")
    names = sorted(path.name for level in levels for path in session.glob(level))
    return tuple(name for name in names if _SET_ASIDE.fullmatch(name))

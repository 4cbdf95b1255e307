"""Stores what swarms deliver: records, files, and as the third witness what the counters of a swarm
show of its trials. It runs nothing."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property

from swarm_bench.benchmarks.swarm.artefacts import STDERR, STDOUT, name_service_log
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.benchmarks.swarm.interim_looks import InterimLooks
from swarm_bench.benchmarks.swarm.ledger import Ledger
from swarm_bench.benchmarks.swarm.overhead_lines import OverheadLines
from swarm_bench.benchmarks.swarm.recordings import PrintedFiles, Recorder, make_recorded_trial
from swarm_bench.benchmarks.swarm.run_plan import Swarm, SwarmTrial
from swarm_bench.benchmarks.swarm.running.trial import (
    Delivery,
    Execution,
    SwarmJob,
    SwarmResult,
)
from swarm_bench.benchmarks.swarm.scorers import ScorableAnswer, Trees, score_answer
from swarm_bench.benchmarks.swarm.trial_records import make_record
from swarm_bench.core.errors import HarnessError, NoCredit, NotAuthorized
from swarm_bench.core.ports import Probe
from swarm_bench.core.session.experiment import Experiment, Task
from swarm_bench.core.session.records import Evidence, SwarmRecord, Treatment, TrialRecord
from swarm_bench.core.session.tasks import group_tasks
from swarm_bench.core.status import Cause
from swarm_bench.core.treatment.overhead import Overhead
from swarm_bench.engine.group_store import GroupStore, Store
from swarm_bench.engine.plan import Block, drop_finished, select_part, set_id
from swarm_bench.engine.scoring import ScoringResult
from swarm_bench.retrieval.probes.registered import make_content
from swarm_bench.retrieval.witnesses.agreement import Finding, compare, gives_no_tool
from swarm_bench.runtime.files import write_whole

_OF_EMPTY_PROMPT = ("prompt_tokens", "prompt_cost", "problem")
"""Keys of an overhead that a swarm measures."""


@dataclass(frozen=True, kw_only=True)
class SwarmStore(Store[Task, SwarmJob, Delivery]):
    """Makes lines and files of an execution."""

    experiment: Experiment
    folder: SessionFolder
    overhead: OverheadLines
    trees: Trees
    """The files that the agents could see."""
    page: Callable[[TrialRecord, str | None], str]
    """Renders the readable page of a trial from its record and answer."""
    probes: Mapping[str, Probe]
    recorder: Recorder | None = None
    """Keeps what the agents print, to be played again."""
    ledger: Ledger | None = None
    """`None` when the session has no limit of its cost."""

    @property
    def has_limit(self) -> bool:
        return self.ledger is not None

    @cached_property
    def groups(self) -> Mapping[str, str]:
        """The group of each task, by its id."""
        return group_tasks(self.experiment.tasks, self.experiment.repository.clean_commit)

    @cached_property
    def interim_looks(self) -> InterimLooks:
        """Looks at the session after each block, where it is to end when its verdict stands."""
        return InterimLooks(self.folder, self.experiment, self.emit)

    def turns(self, block: Block[Task]) -> Iterator[Block[Task]]:
        """Yield the block as a whole; of a session that has a limit, as many tasks of all modes at
        a time as the rest of the money buys, so that it ends in a comparison. Raises
        `CostLimitReached` when it buys none; the last mode may run alone."""
        remainder = block
        while self.ledger is not None and len(remainder.groups) > 1:
            tasks = defaultdict[int, list[SwarmTrial]](list)
            for trial in (trial for swarm in remainder.groups for trial in swarm.trials):
                # A swarm of which somebody said the size is what is compared.
                tasks[trial.number if self.experiment.swarm_size is None else 0].append(trial)
            modes = [[trial.arm for trial in of_task] for of_task in tasks.values()]
            number = self.ledger.turn(modes, self.experiment.at_once)
            affordable = [trial for of_task in [*tasks.values()][:number] for trial in of_task]
            turn = {trial.id for trial in affordable}
            with self.ledger.reserve(affordable):
                yield _split_swarms(select_part(remainder, turn))
            (remainder,) = drop_finished([remainder], turn) or [replace(remainder, groups=())]
        if remainder.groups:
            trials = [trial for swarm in remainder.groups for trial in swarm.trials]
            with self.ledger.reserve(trials) if self.ledger else nullcontext():
                yield remainder

    def make_group_store(
        self, group: Swarm, node: str | None = None
    ) -> GroupStore[SwarmJob, Delivery]:
        """Make what stores the deliveries of one swarm. Raises `CostLimitReached` when none of its
        trials may start."""
        if self.ledger is not None:
            self.ledger.check(group.arm)
        swarm_store = OneSwarmStore(self, group, node)
        return GroupStore(job=swarm_store.job, keep=swarm_store.keep, check=swarm_store.check)


def _split_swarms(turn: Block[Task]) -> Block[Task]:
    """Give the swarms of a turn ids of their own: there may be others of the same block."""
    swarms = [set_id(swarm) for swarm in turn.groups]
    return replace(turn, groups=tuple(swarms))


class OneSwarmStore:
    """Stores what one swarm delivers."""

    def __init__(self, session: SwarmStore, swarm: Swarm, node: str | None = None) -> None:
        self._session = session
        self._swarm = swarm
        self._node = node
        self._due: Overhead | None = None
        """Overhead of the mode for which the swarm is to ask the empty prompt."""
        self._has_result = False
        self._pending = {trial.id: trial for trial in swarm.trials}
        self._artefacts = session.folder.artefacts(session.experiment)
        self.records: list[TrialRecord] = []
        """Records of the swarm's trials, as they were appended."""

    @cached_property
    def job(self) -> SwarmJob:
        """The swarm, with the empty prompt of its mode if that is due."""
        session, swarm = self._session, self._swarm
        self._due = session.overhead.take_due(swarm.arm)
        if self._node is not None:  # the files of earlier attempts are out of its reach
            for trial in swarm.trials:
                self._artefacts.make_room(trial)
            is_alone = len(session.experiment.agents_of_blocks) == 1
            folder = self._artefacts.mode_folder(swarm.run, swarm.arm)
            self._artefacts.set_aside(folder / name_service_log(swarm, is_alone=is_alone))
        ledger = session.ledger
        return SwarmJob(
            swarm=swarm,
            attempts={
                trial.id: session.attempts[trial.id]
                for trial in swarm.trials
                if trial.id in session.attempts
            },
            overhead=self._due,
            budget=None if ledger is None else ledger.copy_for(swarm.trials),
        )

    def check(self) -> None:
        """Raise `NotAuthorized` when the provider turned one of its agents away, and
        `CostLimitReached` when some could not start for what they may cost."""
        if self._due is not None:
            self._session.overhead.give_back(self._swarm.arm)
        check_authorized(self._session.experiment, self.records)
        ledger = self._session.ledger
        if ledger is not None and self._pending:
            ledger.check(self._swarm.arm)
            raise ledger.make_limit_error(self._swarm.arm)

    async def keep(self, delivery: Delivery) -> None:
        """Store it, before anything else of its swarm can be delivered. Raises `HarnessError` for
        what is not of it, and for a second end of a trial."""
        if not self._is_awaited(delivery):
            raise HarnessError(
                f"What ran {self._swarm.arm} in run {self._swarm.run} delivered a trial twice, or "
                "something of another swarm; fix it, and continue the session"
            )
        if isinstance(delivery, SwarmResult):
            self._keep_swarm(delivery)
        else:
            await self._keep_trial(delivery)

    def _is_awaited(self, delivery: Delivery) -> bool:
        if isinstance(delivery, SwarmResult):
            record, swarm = delivery.record, self._swarm
            is_of_it = (record.mode, record.run) == (swarm.arm, swarm.run)
            was_asked = delivery.overhead is None or self._due is not None
            return is_of_it and was_asked and (self._node is None or self._is_as_sent(record))
        is_attempt = delivery.measured.attempt == self._find_attempt([delivery.trial])
        is_pending = self._pending.get(delivery.trial.id) == delivery.trial
        return is_pending and (self._node is None or is_attempt)

    def _is_as_sent(self, record: SwarmRecord) -> bool:
        """Tell whether another machine says of the swarm what it was sent, and says it once."""
        session, swarm = self._session, self._swarm
        sent = (session.experiment.session, swarm.id, self._find_attempt(swarm.trials))
        numbers = {trial.number for trial in swarm.trials}
        is_same = (record.session, record.swarm, record.attempt) == sent
        return is_same and numbers.issuperset(record.agents) and not self._has_result

    def _find_attempt(self, trials: Iterable[SwarmTrial]) -> int:
        """Return the number of the attempt that this is."""
        return 1 + max(self._session.attempts.get(trial.id, 0) for trial in trials)

    async def _keep_trial(self, execution: Execution) -> None:
        session = self._session
        del self._pending[execution.trial.id]  # a second end meanwhile is refused
        record = await session.append(lambda: self._write_trial(execution))
        self.records.append(record)
        if session.ledger is not None:
            session.ledger.add_new(record)

    def _write_trial(self, execution: Execution) -> tuple[TrialRecord, tuple[str, ...]]:
        """Write the files of a trial. Returns its record, and what went wrong."""
        session, trial, outcome = self._session, execution.trial, execution.outcome
        scored = self._score(execution)
        record = make_record(session.experiment, execution, scored)
        record = record.model_copy(update={"node": self._node})
        self._artefacts.make_mode_folder(trial.run, trial.arm)
        if session.recorder is not None:
            session.recorder.keep(
                make_recorded_trial(execution, record), self._list_printed(execution)
            )
        if outcome.payload is not None:
            write_whole(self._artefacts.agent_file(trial, "json"), outcome.payload)
        write_whole(self._artefacts.agent_file(trial, "md"), session.page(record, outcome.text))
        return record, scored.troubles

    def _list_printed(self, execution: Execution) -> PrintedFiles:
        return PrintedFiles(
            stdout=self._artefacts.agent_file(execution.trial, STDOUT),
            stderr=self._artefacts.agent_file(execution.trial, STDERR),
            home_files=execution.leaves,
        )

    def _score(self, execution: Execution) -> ScoringResult:
        session = self._session
        answer = ScorableAnswer(
            outcome=execution.outcome,
            task=execution.trial.case,
            tasks=session.experiment.tasks,
            groups=session.groups,
            workspace=execution.workspace,
            commit=self._swarm.commit,
        )
        return score_answer(session.scorers, answer, session.trees, session.secrets)

    def _keep_swarm(self, result: SwarmResult) -> None:
        """Compare its counters with the transcripts. Trials that ran again after that swarm belong
        to a later one."""
        session, self._has_result = self._session, True
        swarm = result.record.model_copy(update={"node": self._node})
        self._write_counters(swarm)
        of_it = [
            record
            for record in self.records
            if record.agent in swarm.agents and record.attempt <= swarm.attempt
        ]
        proved, labelled = prove(session.experiment, swarm, of_it, session.probes)
        session.folder.records.append(*find_changed(of_it, labelled))
        if session.recorder is not None:
            session.recorder.keep_swarm(proved)
        session.folder.append_swarm(proved)
        if result.overhead is not None:
            prompt_values = {name: getattr(result.overhead, name) for name in _OF_EMPTY_PROMPT}
            line = (self._due or result.overhead).model_copy(update=prompt_values)
            self._due = None
            session.overhead.keep(line)
            if session.ledger is not None:
                session.ledger.pay(line.prompt_cost)

    def _write_counters(self, swarm: SwarmRecord) -> None:
        """Put the counters of a swarm beside its agents' files, in the shape existing scripts
        read."""
        experiment = self._session.experiment
        has_several = len(experiment.agents_of_blocks) > 1
        number = f"-{self._swarm.trials[0].number}" if has_several else ""
        for name, change in swarm.difference.items():
            probe = self._session.probes.get(name)
            if probe is None:
                continue
            first, last = swarm.before.get(name), swarm.after.get(name)
            file_content = make_content(probe, first, last, change)
            if file_content is not None:
                folder = self._artefacts.make_mode_folder(swarm.run, swarm.mode)
                file = folder / f"{probe.file}{number}.json"
                self._artefacts.set_aside(file)
                write_whole(file, json.dumps({"mode": swarm.mode, **file_content}, indent=2) + "\n")


def check_authorized(experiment: Experiment, records: Iterable[TrialRecord]) -> None:
    """Raise `NotAuthorized`, or `NoCredit`, before every other agent is turned away as well; a
    rehearsal may play that."""
    turned_away = (Cause.NOT_AUTHORIZED, Cause.NO_CREDIT)
    first = next((record for record in records if record.cause in turned_away), None)
    if first is None or experiment.rehearsal:
        return
    reason = f"({first.detail or 'no reason given'}), so the session was stopped"
    if first.cause is Cause.NO_CREDIT:
        raise NoCredit(
            f"Agent {first.agent} has no credit or quota left with the provider {reason}; add to it"
        )
    raise NotAuthorized(
        f"Agent {first.agent} failed to authenticate with the provider {reason}; set a key that it "
        "accepts"
    )


_USED_ALONE = "It shows no calls, and it was alone while the tool was asked: it used the tool."
_UNSEEN = "The tool itself saw none of the calls that the transcript has: the use is not proved."
_ONE_OF = "It cannot be told which of the swarm's agents it was: all of them count as contaminated."


def prove(
    experiment: Experiment,
    swarm: SwarmRecord,
    trials: Sequence[TrialRecord],
    probes: Mapping[str, Probe],
) -> tuple[SwarmRecord, list[TrialRecord]]:
    """Add what the counters show to the record of a swarm and to those of its trials, as far as
    they exist; the trials get their final label."""
    mode = experiment.mode(swarm.mode)
    external = experiment.service_url is not None
    finding = compare(mode, swarm, trials, probes, external=external)
    untouched = gives_no_tool(mode)
    proved = swarm.model_copy(
        update={"counters": finding.agreement, "counters_why": finding.reasons}
    )
    is_alone = len(swarm.agents) == 1
    return proved, [
        _add_counters(
            trial, finding, *_relabel(trial, finding, is_alone=is_alone, untouched=untouched)
        )
        for trial in trials
        if trial.started_at is not None
    ]


def find_changed(old: Sequence[TrialRecord], new: Sequence[TrialRecord]) -> list[TrialRecord]:
    """Return the records that differ from those `before`."""
    old_records = {record.key: record for record in old}
    return [record for record in new if record != old_records.get(record.key)]


def _relabel(
    trial: TrialRecord, finding: Finding, *, is_alone: bool, untouched: bool
) -> tuple[Treatment | None, tuple[str, ...]]:
    """Return the final label of a trial, and why it differs from that of the transcript alone."""
    label = trial.retrieval
    if untouched and finding.moved:
        reasons = () if is_alone else (_ONE_OF,)
        return Treatment.CONTAMINATED, reasons if label is not Treatment.CONTAMINATED else ()
    if label is Treatment.UNKNOWN and is_alone and finding.moved:
        return Treatment.USED, (_USED_ALONE,)
    if label is Treatment.USED and finding.moved is False and finding.agreement == "contradict":
        return Treatment.UNKNOWN, (_UNSEEN,)
    return label, ()


def _add_counters(
    trial: TrialRecord, finding: Finding, label: Treatment | None, reasons: Sequence[str]
) -> TrialRecord:
    evidence = trial.evidence or Evidence()
    sentences = (*evidence.why, *finding.reasons, *reasons)
    new_evidence = evidence.model_copy(update={"counters": finding.agreement, "why": sentences})
    return trial.model_copy(update={"evidence": new_evidence, "retrieval": label})

"""The trials of a session of agents, as exports and its page have them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from swarm_bench.analysis.comparison.headline import make_headline
from swarm_bench.analysis.documents.matrix import MAX_ROWS, list_task_trials
from swarm_bench.analysis.documents.shown_trials import (
    Cited,
    check_key,
    describe_end,
    find_cited,
    list_changes,
    list_remarks,
    mark_cited,
    name_trial,
    write_figure,
)
from swarm_bench.analysis.selection import Selection
from swarm_bench.app.audit import Stream, find_streams, load_adapter, read_outcome
from swarm_bench.app.stored.exported import (
    RecordedRows,
    Row,
    list_rows,
    list_scores,
    read_claims,
    read_turns,
    read_usage,
)
from swarm_bench.app.stored.transcripts import show_trial
from swarm_bench.benchmarks.swarm.artefacts import Artefacts
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.benchmarks.swarm.run_plan import build_prompt
from swarm_bench.core.errors import Refused
from swarm_bench.core.metric import Metric
from swarm_bench.core.outcome import Outcome
from swarm_bench.core.ports import Agent
from swarm_bench.core.report.exported import (
    ExportedSession,
    ExportedTrial,
    Message,
    TranscriptState,
)
from swarm_bench.core.report.page import ShownTask, ShownTrial
from swarm_bench.core.session.audit import Key
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.session.tasks import Task
from swarm_bench.reports.trial_page import find_answer
from swarm_bench.runtime.untrusted import read_inside, tail

MOST_TRANSCRIPT_BYTES = 64 * 1024 * 1024
"""Bytes of the streams of a trial whose conversation is read."""
_MOST_BYTES = 256 * 1024 * 1024
"""Bytes of all streams that are read for a page."""
_PAGE_BYTES = 8 * 1024 * 1024
_ERRORS = 8 * 1024
_NO_ANSWER = "The answer that its figures are of is not in its stored output."
_CITED = ("citations", "citations_invented", "lines_invented", "symbols_misplaced")
"""Keys of counts of what an answer points to."""


def read_exported(folder: SessionFolder, selection: Selection) -> ExportedSession:
    """Read a session of agents. Starts nothing, and loads nothing that it names but a registered
    agent."""
    from swarm_bench.analysis.export_table import make_swarm_table

    data, experiment = selection.data, selection.data.experiment
    table = make_swarm_table(selection)
    standings = make_headline(selection).standings
    claims = read_claims(standing.answer for standing in standings if standing.answer)
    reasons = {standing.mode: standing.no_verdict for standing in standings}
    reader = _open_reader(folder, selection)
    paired = RecordedRows(rows=list_rows(table), records=selection.trials, build=reader.build)
    return ExportedSession(
        id=experiment.session,
        benchmark=experiment.design.name,
        kind="agent",
        created_at=experiment.created_at,
        version=experiment.versions.get("swarm-bench"),
        runs=experiment.runs,
        planned=data.planned,
        models=_find_models(selection),
        verdicts={**claims, **{mode: reason for mode, reason in reasons.items() if reason}},
        caveats=table.caveats,
        data=experiment.suite,
        score_title=table.scored.title if table.scored else None,
        rows=paired.rows,
        read_trials=paired.read_trials,
    )


def _find_models(selection: Selection) -> dict[str, str]:
    """Return the model of each mode: the one that was asked for, or that alone answered."""
    models = dict[str, str]()
    for mode in selection.modes:
        answering = {trial.model for trial in selection.trials if trial.mode == mode}
        model = selection.data.experiment.model or (
            answering.pop() if len(answering) == 1 else None
        )
        if model is not None:
            models[mode] = model
    return models


class TranscriptReader:
    """Reads the trials of a session for its page, one task after the other."""

    def __init__(self, folder: SessionFolder, selection: Selection) -> None:
        self._selection = selection
        self._reader = _open_reader(folder, selection)
        self._room = _MOST_BYTES

    def read_tasks(self) -> Iterator[ShownTask]:
        """Yield the tasks that have a row in the matrix."""
        tasks = {task.id: task for task in self._selection.data.experiment.tasks}
        for name, trials in islice(list_task_trials(self._selection).items(), MAX_ROWS):
            task = tasks.get(name)
            yield ShownTask(
                title=task.title if task else name,
                prompt=task.prompt if task else "",
                trials=tuple(mark_cited([self._read_trial(trial, task) for trial in trials])),
            )

    def _read_trial(
        self, record: TrialRecord, task: Task | None
    ) -> tuple[ShownTrial, Cited | None]:
        stream = self._reader.streams.get(record.key)
        trial = self._reader.build({}, record, min(self._room, MOST_TRANSCRIPT_BYTES))
        if stream is not None and trial.transcript != "too-large":
            self._room -= stream.size
        view = ShownTrial(
            name=name_trial(record),
            arm=record.mode,
            run=record.run,
            outcome=describe_end(record),
            figures=tuple(
                (_label(metric, record), write_figure(metric, value))
                for metric in self._selection.metrics
                if metric.page or metric.key in _CITED
                if metric.read and (value := metric.read(record)) is not None
            ),
            is_markdown=True,
            remarks=(
                *list_remarks(record),
                *list_changes(self._selection.data.audit, record.key),
                *([_NO_ANSWER] if record.result_lines and not trial.answer else []),
            ),
            key=tuple(check_key(self._selection.metrics, record, task, trial.answer or "")),
            errors=_read_errors(stream) if stream else "",
        )
        return show_trial(trial, view), find_cited(record, trial.answer)


def _label(metric: Metric, record: TrialRecord) -> str:
    label = metric.page or metric.title
    return f"{label}, not billed" if metric.key == "cost" and not record.is_billed else label


def _read_errors(stream: Stream) -> str:
    try:
        content = tail(stream.stderr, _ERRORS)
    except (OSError, Refused):
        return ""
    omission = f"(Only the last {_ERRORS:,} bytes are shown.)\n" if len(content) == _ERRORS else ""
    return f"{omission}{content.decode('utf-8', 'replace')}"


def _open_reader(folder: SessionFolder, selection: Selection) -> "_TrialReader":
    experiment = selection.data.experiment
    return _TrialReader(
        experiment=experiment,
        artefacts=folder.artefacts(experiment),
        adapter=load_adapter(experiment),
        streams={s.trial.key: s for s in find_streams(folder, experiment, selection.trials)},
        prompts={
            (mode.name, task.id): build_prompt(experiment, mode, task)
            for mode in experiment.modes
            for task in experiment.tasks
        },
    )


@dataclass(frozen=True, kw_only=True)
class _TrialReader:
    """Reads trials from what lies in the folder of a session."""

    experiment: Experiment
    artefacts: Artefacts
    adapter: Agent | None
    streams: Mapping[Key, Stream]
    prompts: Mapping[tuple[str, str], str]

    def build(
        self, row: Row, record: TrialRecord, most_bytes: int = MOST_TRANSCRIPT_BYTES
    ) -> ExportedTrial:
        """Read a trial, with what its stream shows unless it is larger than `most_bytes`."""
        experiment, stream = self.experiment, self.streams.get(record.key)
        outcome, state = _read_conversation(self.adapter, experiment, record, stream, most_bytes)
        prompt = self.prompts.get((record.mode, record.task_key), record.task)
        answer = outcome.text if outcome else self._read_page(record)
        return ExportedTrial(
            row=row,
            prompt=(Message(role="user", text=prompt),) if prompt else (),
            answer=answer,
            usage=read_usage(record),
            cost=record.cost,
            is_billed=record.is_billed,
            agent=record.program or experiment.agent.name,
            agent_version=record.program_version or experiment.agent.version,
            model=record.model,
            requested_model=experiment.model,
            scores=list_scores(record.scores),
            turns=read_turns(record.turn_usage or ()),
            conversation=outcome.conversation if outcome else None,
            transcript=state,
            extra=_list_evidence(record),
        )

    def _read_page(self, record: TrialRecord) -> str | None:
        if record.mode not in {mode.name for mode in self.experiment.modes}:
            return None
        return read_page_answer(self.artefacts, record.run, record.mode, record.agent)


def _list_evidence(record: TrialRecord) -> dict[str, object]:
    """List the mode, and what the witnesses say of its tool."""
    evidence = None if record.evidence is None else record.evidence.model_dump(mode="json")
    return {
        "mode": record.mode,
        "retrieval": record.retrieval,
        "evidence": evidence,
        "backend": record.backend,
        "cost_estimated": record.cost_estimated,
        "cost_unreliable": record.cost_unreliable,
        "price_table": record.price_table,
        "token_counter": record.token_counter,
        "fixed_rules": record.fixed_rules,
        "rehearsal": record.rehearsal,
        "replayed": record.replayed,
        "node": record.node,
    }


def _read_conversation(
    agent: Agent | None,
    experiment: Experiment,
    trial: TrialRecord,
    stream: Stream | None,
    most_bytes: int,
) -> tuple[Outcome | None, TranscriptState]:
    """Read what the agent of a trial said and called, and whether that could be read."""
    if stream is None:
        return None, "none" if trial.wall_seconds is None else "missing"
    if agent is None:
        return None, "not-shown"
    if stream.size > most_bytes:
        return None, "too-large"
    try:
        outcome = read_outcome(agent, experiment, stream, with_conversation=True)
    except (Exception, SystemExit):  # noqa: BLE001  # an adapter may raise anything
        return None, "unreadable"
    return outcome, "not-shown" if outcome.conversation is None else "read"


def read_page_answer(artefacts: Artefacts, run: int, mode: str, number: int) -> str | None:
    """Read what an agent answered in its page: those of any agent have one, also of agents whose
    adapters a session must not load."""
    folder = artefacts.mode_folder(run, mode).relative_to(artefacts.root)
    page = read_inside(artefacts.root, str(folder / f"agent-{number}.md"), _PAGE_BYTES)
    return None if page is None else find_answer(page.decode("utf-8", "replace"))

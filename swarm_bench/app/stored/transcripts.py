"""What the agents of a session did, as their adapters read it from what they left."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from swarm_bench.analysis.comparison.correctness import RECALL
from swarm_bench.analysis.documents.matrix import (
    MAX_ROWS,
    describe_end,
    list_task_trials,
    name_trial,
)
from swarm_bench.analysis.selection import Selection
from swarm_bench.app.audit import Stream, find_streams, load_adapter, read_outcome
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.core.errors import Refused
from swarm_bench.core.outcome import CallContent, Outcome
from swarm_bench.core.ports import Agent, ScoreContext
from swarm_bench.core.report.document import Value
from swarm_bench.core.report.page import ShownTask, ShownTrial
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.session.tasks import Task
from swarm_bench.reports.trial_page import find_answer
from swarm_bench.runtime.untrusted import read, tail
from swarm_bench.source.naming import files_named

MOST_BYTES = 256 * 1024 * 1024
"""Bytes of all streams that are read for a page."""
_STREAM_BYTES = 32 * 1024 * 1024
"""Bytes of a stream; one that is larger is left to its file."""
_TEXT = 20_000
"""Characters of one text."""
_TRIAL = 200_000
"""Characters of all calls of a trial; from there on each text is cut to its beginning."""
_BEGINNING = 500
_ERRORS = 8 * 1024
_PAGE_BYTES = 8 * 1024 * 1024
_TOLERANCE = 1e-6


class TranscriptReader:
    """Reads the trials of a session one task after the other."""

    def __init__(self, folder: SessionFolder, selection: Selection) -> None:
        self._experiment = selection.data.experiment
        self._selection = selection
        self._agent = load_adapter(self._experiment)
        ran = [trial for trial in selection.trials if trial.wall_seconds is not None]
        ran.sort(key=lambda trial: (trial.run, trial.mode))
        streams = find_streams(folder, self._experiment, ran)
        self._streams = {stream.trial.key: stream for stream in streams}
        self._room = MOST_BYTES

    def read_tasks(self) -> Iterator[ShownTask]:
        """Yield the tasks that have a row in the matrix."""
        tasks = {task.id: task for task in self._experiment.tasks}
        for name, trials in islice(list_task_trials(self._selection).items(), MAX_ROWS):
            task = tasks.get(name)
            trial_views = tuple(self._read_trial(trial, task) for trial in trials)
            title, prompt = (task.title, task.prompt) if task else (name, "")
            yield ShownTask(title=title, prompt=prompt, trials=trial_views)

    def _read_trial(self, trial: TrialRecord, task: Task | None) -> ShownTrial:
        view = ShownTrial(
            name=name_trial(trial),
            outcome=describe_end(trial),
            figures=tuple(self._list_figures(trial)),
        )
        stream = self._streams.get(trial.key)
        if stream is None:
            return replace(view, remark="The output of this trial is not in the session's folder.")
        answer = _read_answer(stream)
        view = replace(view, answer=_cut(answer), errors=_read_errors(stream))
        if stream.size > min(_STREAM_BYTES, self._room):
            remark = f"Its transcript is too large for this page; it is in {stream.stdout.name}."
            return replace(view, remark=remark)
        self._room -= stream.size
        outcome = _read_outcome(self._agent, self._experiment, stream)
        text = answer if outcome is None else (outcome.text or answer)
        key = tuple(self._check_key(trial, task, text or ""))
        view = replace(view, answer=_cut(text), key=key)
        if outcome is None or outcome.contents is None:
            return replace(view, remark="The calls of this agent cannot be read here.")
        turns = tuple(usage.effective for usage in outcome.turn_usage or ())
        return replace(view, turns=turns, calls=tuple(_cut_calls(outcome.contents)))

    def _list_figures(self, trial: TrialRecord) -> Iterator[tuple[str, Value]]:
        for metric in self._selection.metrics:
            if metric.page and metric.read and (value := metric.read(trial)) is not None:
                yield metric.page, Value(scale=metric.style, value=value)

    def _check_key(
        self, trial: TrialRecord, task: Task | None, text: str
    ) -> Iterator[tuple[str, bool]]:
        """Yield the files of the answer key, each with whether the answer names it; none where that
        is not what the scorer counted, which had all files of the repository."""
        files = task.key.files if task and task.key else ()
        metric = self._selection.metrics.get(RECALL)
        recall = metric.reader(trial) if metric else None
        if not files or recall is None:
            return
        if recall in (0, 1):
            yield from ((file, recall == 1) for file in files)
            return
        context = ScoreContext(text=text, workspace="", files=frozenset(files))
        found_files = {*files_named(context)}
        if abs(len(found_files) / len({*files}) - recall) < _TOLERANCE:
            yield from ((file, file in found_files) for file in files)


def _read_outcome(agent: Agent | None, experiment: Experiment, stream: Stream) -> Outcome | None:
    """Read a stream; `None` where nothing of ours can, or it cannot be read."""
    if agent is None:
        return None
    try:
        return read_outcome(agent, experiment, stream, with_contents=True)
    except (Exception, SystemExit):  # noqa: BLE001  # an adapter may raise anything
        return None


def _read_answer(stream: Stream) -> str | None:
    """Read the answer that stands in the page of a trial; `None` where there is none."""
    page = stream.folder / f"agent-{stream.trial.agent}.md"
    try:
        return find_answer(read(page, _PAGE_BYTES).decode("utf-8", "replace"))
    except (OSError, Refused):
        return None


def _read_errors(stream: Stream) -> str:
    try:
        return tail(stream.stderr, _ERRORS).decode("utf-8", "replace")
    except (OSError, Refused):
        return ""


def _cut_calls(calls: Sequence[CallContent]) -> Iterator[CallContent]:
    """Cut long texts, and with all the more of them each one."""
    room = _TRIAL
    for call in calls:
        limit = _TEXT if room > 0 else _BEGINNING
        arguments, result = _cut(call.arguments, limit), _cut(call.result, limit)
        room -= len(arguments or "") + len(result or "")
        yield replace(call, arguments=arguments or "", result=result)


def _cut(text: str | None, limit: int = _TEXT) -> str | None:
    if text is None or len(text) <= limit:
        return text
    return f"{text[:limit]}\n… {len(text) - limit:,} characters more"

"""Single trials as a page shows them: how each ended, its figures, and what its answer names."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.comparison.correctness import RECALL
from swarm_bench.core.metric import Metric, Metrics
from swarm_bench.core.ports import ScoreContext
from swarm_bench.core.report.document import Value
from swarm_bench.core.report.page import ShownTrial
from swarm_bench.core.session.audit import Audit, Key
from swarm_bench.core.session.cases import CaseRecord
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.session.tasks import Task
from swarm_bench.core.status import name_end
from swarm_bench.scoring.references import list_citations
from swarm_bench.source.naming import files_named

_CHECK = "true or false"
"""Unit of what a trial is or is not."""
_TOLERANCE = 1e-6
_MOST_CITED = 200
"""Files that an answer names, in its order."""


def name_trial(trial: TrialRecord) -> str:
    """Write `canopy, run 2, agent 3`."""
    return f"{trial.mode}, run {trial.run}, agent {trial.agent}"


def name_case_trial(record: CaseRecord) -> str:
    """Write `gpt, run 2`."""
    return f"{record.arm}, run {record.run}"


def describe_end(trial: TrialRecord | CaseRecord) -> str:
    """Say how a trial ended."""
    return name_end(trial.cause, trial.status)


def list_remarks(trial: TrialRecord | CaseRecord) -> Iterator[str]:
    """Yield what went wrong in a trial, or with its scorers."""
    if trial.detail:
        yield trial.detail
    for name, reason in (trial.score_failures or {}).items():
        yield f"The scorer {name} failed: {reason}."


def list_changes(audit: Audit | None, key: Key) -> Iterator[str]:
    """Yield why the figures of a trial may not be those that it had; nothing without an audit."""
    if audit is None:
        return
    if key in audit.edited:
        yield "Its record was changed after the session wrote it."
    if key in audit.differing:
        yield "Its stored output gives other figures than its record: one of the two was changed."


def list_missing_scores(trial: CaseRecord, metrics: Metrics) -> Iterator[str]:
    """Yield why a trial has no figure of its answer."""
    titles_by_reason = defaultdict[str, list[str]](list)
    for key, reason in (trial.missing_scores or {}).items():
        titles_by_reason[reason].append(metrics.title_of(key))
    for reason, titles in titles_by_reason.items():
        yield f"Without a score ({', '.join(titles)}): {reason}."


def list_case_figures(
    session: CaseSession, record: CaseRecord
) -> Iterator[tuple[str, Value | str]]:
    """Yield the figures of a trial that are no facts of it. Those of several answers to a case say
    nothing of one, and what is true or false is only said when it is true."""
    facts = {label for label, _ in session.list_facts(record)}
    for metric in session.metrics:
        value = metric.read(record) if metric.read and metric.of_case is None else None
        label = metric.column.title if metric.column else metric.title
        if value is None or label.lower() in facts:
            continue
        if metric.unit != _CHECK or value:
            yield label, write_figure(metric, value)


def write_figure(metric: Metric, value: float) -> Value | str:
    """Write the figure of a single trial: of a check whether it holds."""
    if metric.unit == _CHECK:
        return "yes" if value else "no"
    return Value(scale=metric.style, value=value)


def check_key(
    metrics: Metrics, record: TrialRecord, task: Task | None, text: str
) -> Iterator[tuple[str, bool]]:
    """Yield the files of the answer key, each with whether the answer names it; none where that is
    not what the scorer counted, which had all files of the repository."""
    files = task.key.files if task and task.key else ()
    metric = metrics.get(RECALL)
    yield from mark_named(files, metric.reader(record) if metric else None, text)


def mark_named(
    files: Collection[str], recall: float | None, text: str
) -> Iterator[tuple[str, bool]]:
    """Yield files, each with whether a text names it; none where that is not their share which was
    measured when all files of the repository were known."""
    if not files or recall is None:
        return
    context = ScoreContext(text=text, workspace="", files=frozenset(files))
    found_files = {*files_named(context)}
    if abs(len(found_files) / len({*files}) - recall) < _TOLERANCE:
        yield from ((file, file in found_files) for file in files)


@dataclass(frozen=True, kw_only=True)
class Cited:
    """What an answer points to, as its scorer counted it."""

    counts: Mapping[str, int]
    """References by the file that they name."""
    invented: int
    """References to files that the repository does not have."""


def find_cited(record: TrialRecord, answer: str | None) -> Cited | None:
    """Find the files that an answer names; `None` where these are not what the scorer counted,
    which had all files of the repository."""
    scores = record.scores or {}
    number, invented = scores.get("citations"), scores.get("citations_invented")
    if not answer or not number or not isinstance(invented, int):
        return None
    context = ScoreContext(text=answer, workspace="", files=frozenset())
    counts = Counter(reference.mention for reference in list_citations(context))
    return Cited(counts=counts, invented=invented) if counts.total() == number else None


def mark_cited(trials: Sequence[tuple[ShownTrial, Cited | None]]) -> Iterator[ShownTrial]:
    """Add the files that the answers to a task name, each with whether the repository has it. It is
    known for all files of an answer that invents none, so for the same files in other answers; and
    for the rest of an answer, where the scorer counted as many that are not there."""
    existing = {
        file for _, cited in trials if cited and not cited.invented for file in cited.counts
    }
    for view, cited in trials:
        counts = cited.counts if cited else {}
        invented = sum(count for file, count in counts.items() if file not in existing)
        is_known = cited is not None and invented == cited.invented
        marks = ((file, file in existing or (False if is_known else None)) for file in counts)
        yield replace(view, cited=tuple(islice(marks, _MOST_CITED)))

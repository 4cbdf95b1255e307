"""The summary of a benchmark whose trials are pairs of an arm and a case, as a document: medians
over runs by arm, each arm against its reference case by case, and what went wrong."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from swarm_bench.analysis.cases.beforehand import (
    edited,
    exploratory,
    extended,
    named_beforehand,
)
from swarm_bench.analysis.cases.judging import case_matches
from swarm_bench.analysis.cases.losses import failed_counts
from swarm_bench.analysis.cases.results import alone, over
from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.cases.verdicts import case_answers, primary_metric, verdict_words
from swarm_bench.analysis.caveats.package_metrics import failed_on_trials
from swarm_bench.analysis.comparison.judging import judging
from swarm_bench.analysis.comparison.ratios import divide, subtract
from swarm_bench.analysis.documents import judge
from swarm_bench.analysis.documents.blocks import (
    difference,
    explanation,
    paragraph,
    ratio,
    table,
    trials,
)
from swarm_bench.analysis.documents.opening import About, Opening, summary
from swarm_bench.analysis.metrics.aggregates import over_runs, reduced, table_of
from swarm_bench.analysis.statistics.pairing import Pairs
from swarm_bench.analysis.wording import amount, listed
from swarm_bench.core.metric import Confusion, Metric
from swarm_bench.core.report.document import (
    Answers,
    Cell,
    Document,
    Fact,
    Grid,
    Section,
    Value,
)
from swarm_bench.core.report.report import Figure, Row, Table
from swarm_bench.core.session.cases import CaseExperiment, CaseRecord

_SHOWN_RUNS = 6
_TIMED_OUT = "timed_out"
_LONGEST = 200
"""Characters of a property."""
_LABELS = ("Run", "Arm", "Case", "Outcome")
_NO_LABEL = "no label"
_LABELS_LEGEND = (
    "A row for each right label, a column for each answer: the number of trials, of all runs "
    "together. Labels that are neither right nor answered anywhere are omitted."
)


@dataclass(frozen=True, kw_only=True)
class Extras:
    """What the summaries of one kind of session have beside those of all."""

    banner: str | None = None
    facts: Sequence[Sequence[Fact]] = ()
    """Lines of the set-up."""
    notes: Sequence[str] = ()
    sections: Sequence[Section] = ()
    """Before the effects."""
    details: Sequence[Section] = ()


def case_document(session: CaseSession, extras: Extras = Extras()) -> Document:
    """Lay out what the session says. Any session has a summary, an empty one too."""
    about = About(
        title=f"{session.experiment.benchmark} Summary",
        banner=extras.banner,
        head=_head(session.experiment, extras.facts),
    )
    effects = _effects(session)
    answers = (*case_answers(session), *alone(session, primary_metric(session)))
    warned = tuple(case_warnings(session))
    first, *more = [*extras.sections, effects]
    grown = extended(session) if verdict_words(session) else ()
    opening = Opening(
        headline=(
            *map(paragraph, exploratory(session.experiment)),
            *((Answers(items=answers),) if answers else ()),
        ),
        warnings=warned,
        gravest=(*grown, *warned, *case_clauses(session)),
        table=first,
        notes=(*extended(session), *extras.notes),
        more=tuple(filter(None, more)),
    )
    return summary(about, opening, _details(session, extras))


def _head(
    experiment: CaseExperiment, facts: Iterable[Iterable[Fact]]
) -> tuple[tuple[Fact, ...], ...]:
    drawn = [f"run {run}: {', '.join(arms)}" for run, arms in enumerate(experiment.order, start=1)]
    further = ["further runs in experiment.json"] if len(drawn) > _SHOWN_RUNS else []
    order = "; ".join([*drawn[:_SHOWN_RUNS], *further])
    properties = [f"{name}={_shortened(value)}" for name, value in experiment.properties.items()]
    lines = [
        [("Benchmark", f"{experiment.benchmark} {experiment.benchmark_version}")],
        [
            ("Arms", listed(experiment.arms)),
            ("Cases", str(len(experiment.cases))),
            ("Runs", str(experiment.runs)),
        ],
        *([(fact.label, fact.value) for fact in line] for line in facts),
        [("Properties", ", ".join(properties) or "none")],
    ]
    return facts_of(experiment, lines, order)


def facts_of(
    experiment: CaseExperiment, lines: Iterable[Iterable[tuple[str, str]]], order: str
) -> tuple[tuple[Fact, ...], ...]:
    """Make the head of a summary: lines of its own, and what all have."""
    every = [
        *lines,
        *([("Named beforehand", named)] for named in [named_beforehand(experiment)] if named),
        [("Order", order), ("Seed", str(experiment.seed))],
        [
            ("Session", experiment.session),
            ("Date", experiment.created_at.strftime("%Y-%m-%d %H:%M:%S %Z").strip()),
        ],
    ]
    return tuple(tuple(Fact(label=label, value=value) for label, value in line) for line in every)


def _shortened(value: object) -> str:
    """Write a property; `experiment.json` has those that are long."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _details(session: CaseSession, extras: Extras) -> Iterator[Section]:
    experiment = session.experiment
    yield from _confusions(session)
    yield from extras.details
    for number, (title, rows) in enumerate(session.metrics.tables.items()):
        how = () if number else [*explanation(experiment.runs)]
        yield table(_table(session, title, rows), experiment.arms, how)
    references = {*session.references.values()}
    sole = references.pop() if len(references) == 1 else None
    if made := judging(case_matches(session), session.verdicts, sole):
        yield judge.section(made, "Arm")
    yield case_trials(session)


def _confusions(session: CaseSession) -> Iterator[Section]:
    """Make a section for each metric that has such a table."""
    for metric in session.metrics:
        if metric.confusion and (section := _confusion(session, metric, metric.confusion)):
            yield section


def _confusion(session: CaseSession, metric: Metric, confusion: Confusion) -> Section | None:
    arms = session.experiment.arms
    pairs = {
        arm: Counter(
            pair for it in session.counted(arm, metric) if (pair := confusion.read(it)) is not None
        )
        for arm in arms
    }
    every = sum(pairs.values(), Counter[tuple[str, str | None]]())
    if not every:
        return None
    occurring = {label for pair in every for label in pair}
    answers = [label for label in confusion.labels if label in occurring]
    right = [label for label in answers if any(label == pair[0] for pair in every)]
    columns = (*answers, *([None] if None in occurring else []))
    rows = tuple(
        (arm, label, *(str(pairs[arm][label, answer]) for answer in columns))
        for arm in arms
        for label in right
    )
    headers = ("Arm", "Right label", *(_NO_LABEL if it is None else it for it in columns))
    grid = Grid(headers=headers, labels=2, rows=rows)
    return Section(title="Answers by label", blocks=(grid, paragraph(_LABELS_LEGEND)))


def _applies(session: CaseSession, metric: Metric, arm: str) -> bool:
    """Tell whether a metric is of an arm: what answers cost is not where nobody is billed, unless
    the verdict is on it."""
    if metric.key != "cost" or metric is primary_metric(session):
        return True
    return any(it.is_billed for it in session.records_of(arm)) and not session.is_rehearsed(arm)


def case_trials(session: CaseSession) -> Section:
    """Make the section with a row for each trial."""
    rows = (_trial(session, record) for record in _sorted(session))
    columns = [metric.column.title for metric in session.metrics if metric.column]
    blocks = trials((*_LABELS, *columns), len(_LABELS), rows, len(session.records))
    return Section(title="Trials", blocks=blocks)


def _effects(session: CaseSession) -> Section | None:
    """Make the section that holds each arm against its reference, if there are several."""
    sides = session.references
    primary = primary_metric(session)
    compared = [it for it in session.metrics if it.compared or it is primary]
    if not sides or not compared:
        return None
    pairs = [(it, [session.pairs(*side, it) for side in sides.items()]) for it in compared]
    pairs = [(it, own) for it, own in pairs if it is primary or any(each.own for each in own)]
    rows = tuple(
        (
            f"{metric.title}, primary" if metric is primary else metric.title,
            *(_effect(each, metric, session.experiment.margin) for each in own),
        )
        for metric, own in pairs
    )
    marked = frozenset(at for at, (metric, _) in enumerate(pairs) if metric is primary)
    several = len(set(sides.values())) > 1
    arms = (f"{arm} against {it}" if several else arm for arm, it in sides.items())
    headers = ("Metric (95 % interval)", *arms)
    grid = Grid(headers=headers, labels=1, rows=rows, about=over(session), marked=marked)
    return Section(
        title="Effects", blocks=(grid, paragraph(_legend(session, [metric for metric, _ in pairs])))
    )


def _effect(pairs: Pairs, metric: Metric, margin: float) -> Cell:
    if pairs.relative:
        return ratio(divide(pairs), pairs.asked, "cases")
    change = subtract(pairs, margin, most=metric.most(_groups(pairs)))
    return difference(change, pairs.asked, "cases")


def _groups(pairs: Pairs) -> int:
    return pairs.effect.units if pairs.cases else 0


def _legend(session: CaseSession, metrics: Collection[Metric]) -> str:
    ratios = any(metric.relative for metric in metrics)
    scores = any(not metric.relative and not metric.is_of_many for metric in metrics)
    how = {
        "the ratio of the geometric means": ratios,
        "of scores the difference of the means": scores,
        "of figures of many cases the difference of these": any(it.is_of_many for it in metrics),
    }
    references = set(session.references.values())
    against = next(iter(references)) if len(references) == 1 else "its reference"
    return (
        f"Each arm against {against}, case by case: "
        f"{', '.join(text for text, there in how.items() if there)}, and in brackets its 95 % "
        f"interval over {session.intervals_over}, where enough differ for one. "
        f"{'Trials that failed are not in ratios. ' if ratios else ''}"
        "What no verdict names is exploratory: with several metrics and arms, some intervals lie "
        "on one side of no difference by chance."
    )


def _table(session: CaseSession, title: str, metrics: Iterable[Metric]) -> Table:
    rows = [
        Row(
            metric=metric,
            figures=tuple(
                _figure(session, metric, arm) if _applies(session, metric, arm) else None
                for arm in session.experiment.arms
            ),
        )
        for metric in metrics
    ]
    return table_of(title, rows)


def _figure(session: CaseSession, metric: Metric, arm: str) -> Figure:
    cases = set(session.asked(metric).ids)
    runs = (
        session.measured.get((arm, run), [])
        for run in range(1, session.experiment.count_runs(arm) + 1)
    )
    asked = ([record for record in run if record.case in cases] for run in runs)
    return over_runs(reduced(metric, run, len(cases)) for run in asked)


def case_warnings(session: CaseSession) -> Iterator[str]:
    """Yield a sentence on everything that went wrong."""
    if not session.measured:
        yield "Nothing could be measured: no trial ran to completion."
    for arm in session.experiment.arms:
        for caveat in session.caveats(arm):
            if caveat.warning:
                yield caveat.warning
    yield from session.faults
    yield from _more_timeouts(session)
    for metric in session.metrics:
        yield from failed_on_trials(metric, session.records)
        if metric.counts:
            yield from failed_counts(session, metric)
    yield from edited(session.experiment)
    yield from session.warnings


def _more_timeouts(session: CaseSession) -> Iterator[str]:
    """Name the arms of whose programs more timed out than of their reference's, as a share."""
    if _TIMED_OUT not in session.metrics:
        return
    metric = session.metrics[_TIMED_OUT]
    names = [it for it in session.experiment.properties if it.startswith("timeout")]
    more = f" ({', '.join(names)})" if names else ""
    for arm, reference in session.references.items():
        late, of = _timed_out(session, arm, metric)
        others, of_others = _timed_out(session, reference, metric)
        if late * of_others > others * of:
            yield (
                f"{arm}: the programs of {late} of {amount(of, 'answer')} timed out, and of "
                f"{others} of {of_others} of {reference}. Those that are only slow may pass with "
                f"a higher limit{more}."
            )


def _timed_out(session: CaseSession, arm: str, metric: Metric) -> tuple[int, int]:
    """Count the programs of an arm that timed out, and all of them."""
    read = metric.read
    assert read
    values = [read(record) for record in session.records_of(arm)]
    own = [value for value in values if value is not None]
    return int(sum(own)), len(own)


def case_clauses(session: CaseSession) -> Iterator[str]:
    """Yield the caveats that no warning is of."""
    for arm in session.experiment.arms:
        for caveat in session.caveats(arm):
            if caveat.warning is None:
                yield f"{arm}: {caveat.qualification}."


def _sorted(session: CaseSession) -> list[CaseRecord]:
    position = {arm: number for number, arm in enumerate(session.experiment.arms)}
    return sorted(
        session.records, key=lambda record: (record.run, position.get(record.arm, 0), record.number)
    )


def _trial(session: CaseSession, record: CaseRecord) -> tuple[Cell, ...]:
    cells: list[Cell] = [str(record.run), record.arm, record.case, record.cause]
    for metric in session.metrics:
        if metric.column and metric.read:
            style = metric.column.style or metric.style
            cells.append(Value(scale=style, value=metric.read(record)))
    return tuple(cells)

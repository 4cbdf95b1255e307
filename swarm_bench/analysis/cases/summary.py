"""The summary of a benchmark whose trials are pairs of an arm and a case, as a document: medians
over runs by arm, each arm against its reference case by case, and what went wrong."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from swarm_bench.analysis.aggregates import make_metrics_table, reduce_runs, reduce_trials
from swarm_bench.analysis.cases.caveats import (
    KINDS,
    describe_declaration,
    describe_extension,
    warn_edited,
    warn_exploratory,
)
from swarm_bench.analysis.cases.losses import describe_failed_counts
from swarm_bench.analysis.cases.results import (
    answer_without_reference,
    describe_cases,
    draw_costs,
)
from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.cases.verdicts import answer_cases, find_primary_metric, find_verdicts
from swarm_bench.analysis.caveats.missing_figures import describe_failed_trials
from swarm_bench.analysis.comparison.judging import make_case_matches
from swarm_bench.analysis.comparison.ratios import divide, subtract
from swarm_bench.analysis.documents.blocks import (
    explain_table,
    make_difference,
    make_ratio,
    make_table,
    make_trials_table,
    paragraph,
)
from swarm_bench.analysis.documents.judge import make_judge_section
from swarm_bench.analysis.documents.opening import Opening, make_summary
from swarm_bench.analysis.statistics.pairing import Pairs
from swarm_bench.analysis.wording import list_few, quantify
from swarm_bench.core.metric import Confusion, Metric
from swarm_bench.core.report.document import (
    Answer,
    Answers,
    Cell,
    Document,
    Fact,
    Grid,
    Section,
    Value,
)
from swarm_bench.core.report.report import Figure, Row, Table
from swarm_bench.core.report.standing import list_clauses
from swarm_bench.core.session.cases import CaseRecord
from swarm_bench.core.status import name_cause

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
    """Sections that stand before the effects."""
    details: Sequence[Section] = ()


class ComparedArms(CaseSession):
    """A session of any other benchmark."""

    kinds = KINDS

    @property
    def answers(self) -> tuple[Answer, ...]:
        return tuple(answer_cases(self))

    @property
    def document(self) -> Document:
        return make_case_document(self)


def make_case_document(session: CaseSession, extras: Extras = Extras()) -> Document:
    """Lay out what the session says. Any session has a summary, an empty one too."""
    effects = _make_effects(session)
    answers = (
        *answer_cases(session),
        *answer_without_reference(session, find_primary_metric(session)),
    )
    warnings = tuple(list_case_warnings(session))
    first, *further_sections = [*extras.sections, effects]
    extension = describe_extension(session) if find_verdicts(session) else ()
    opening = Opening(
        title=f"{session.experiment.benchmark} Summary",
        banner=extras.banner,
        head=_make_head(session, extras.facts),
        headline=(
            *map(paragraph, warn_exploratory(session)),
            *((Answers(items=answers, size=session.size),) if answers else ()),
        ),
        warnings=warnings,
        gravest=(*extension, *warnings, *list_clauses(session.all_caveats)),
        table=first,
        notes=(*describe_extension(session), *extras.notes),
        further_sections=tuple(filter(None, further_sections)),
    )
    return make_summary(opening, _make_details(session, extras))


def _make_head(
    session: CaseSession, facts: Iterable[Iterable[Fact]]
) -> tuple[tuple[Fact, ...], ...]:
    experiment = session.experiment
    run_orders = [
        f"run {run}: {', '.join(arms)}" for run, arms in enumerate(experiment.order, start=1)
    ]
    further = ["further runs in experiment.json"] if len(run_orders) > _SHOWN_RUNS else []
    order = "; ".join([*run_orders[:_SHOWN_RUNS], *further])
    properties = [f"{name}={_shorten(value)}" for name, value in experiment.properties.items()]
    lines = [
        [("Benchmark", f"{experiment.benchmark} {experiment.benchmark_version}")],
        [
            ("Arms", list_few(experiment.arms)),
            ("Cases", str(len(experiment.cases))),
            ("Runs", str(experiment.runs)),
        ],
        *([(fact.label, fact.value) for fact in line] for line in facts),
        [("Properties", ", ".join(properties) or "none")],
    ]
    return make_facts(session, lines, order)


def make_facts(
    session: CaseSession, lines: Iterable[Iterable[tuple[str, str]]], order: str
) -> tuple[tuple[Fact, ...], ...]:
    """Make the head of a summary: lines of its own, and what all have."""
    experiment = session.experiment
    all_lines = [
        *lines,
        *(
            [("Named beforehand", declaration)]
            for declaration in [describe_declaration(session)]
            if declaration
        ),
        [("Order", order), ("Seed", str(experiment.seed))],
        [
            ("Session", experiment.session),
            ("Date", experiment.created_at.strftime("%Y-%m-%d %H:%M:%S %Z").strip()),
        ],
    ]
    return tuple(
        tuple(Fact(label=label, value=value) for label, value in line) for line in all_lines
    )


def _shorten(value: object) -> str:
    """Write a property; `experiment.json` has those that are long."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _make_details(session: CaseSession, extras: Extras) -> Iterator[Section]:
    experiment = session.experiment
    yield from _make_confusions(session)
    yield from extras.details
    for number, (title, rows) in enumerate(session.metrics.tables.items()):
        how = () if number else [*explain_table(session.run_count)]
        yield make_table(_make_table(session, title, rows), experiment.arms, how)
    references = {*session.references.values()}
    sole = references.pop() if len(references) == 1 else None
    matches = make_case_matches(session)
    if section := make_judge_section(matches, session.verdicts, sole, "Arm"):
        yield section
    yield make_case_trials(session)


def _make_confusions(session: CaseSession) -> Iterator[Section]:
    """Make a section for each metric that has such a table."""
    for metric in session.metrics:
        if metric.confusion and (section := _make_confusion(session, metric, metric.confusion)):
            yield section


def _make_confusion(session: CaseSession, metric: Metric, confusion: Confusion) -> Section | None:
    arms = session.experiment.arms
    pairs = {
        arm: Counter(
            pair
            for record in session.select_counted(arm, metric)
            if (pair := confusion.read(record)) is not None
        )
        for arm in arms
    }
    all_pairs = sum(pairs.values(), Counter[tuple[str, str | None]]())
    if not all_pairs:
        return None
    occurring = {label for pair in all_pairs for label in pair}
    answers = [label for label in confusion.labels if label in occurring]
    right = [label for label in answers if any(label == pair[0] for pair in all_pairs)]
    columns = (*answers, *([None] if None in occurring else []))
    rows = tuple(
        (arm, label, *(str(pairs[arm][label, answer]) for answer in columns))
        for arm in arms
        for label in right
    )
    headers = ("Arm", "Right label", *(_NO_LABEL if label is None else label for label in columns))
    grid = Grid(headers=headers, labels=2, rows=rows)
    return Section(title="Answers by label", blocks=(grid, paragraph(_LABELS_LEGEND)))


def _applies(session: CaseSession, metric: Metric, arm: str) -> bool:
    """Tell whether a metric is of an arm: the cost of answers is not where there is no bill, unless
    the verdict is on it."""
    if metric.key != "cost" or metric is find_primary_metric(session):
        return True
    return any(
        record.is_billed for record in session.list_records(arm)
    ) and not session.is_rehearsed(arm)


def make_case_trials(session: CaseSession) -> Section:
    """Make the section with a row for each trial."""
    rows = (_make_trial_row(session, record) for record in _sort_records(session))
    columns = [metric.column.title for metric in session.metrics if metric.column]
    blocks = make_trials_table((*_LABELS, *columns), len(_LABELS), rows, len(session.records))
    return Section(title="Trials", blocks=blocks)


def _make_effects(session: CaseSession) -> Section | None:
    """Make the section that holds each arm against its reference, if there are several."""
    sides = session.references
    primary = find_primary_metric(session)
    metrics = [metric for metric in session.metrics if metric.compared or metric is primary]
    if not sides or not metrics:
        return None
    pairs = [
        (metric, [session.pair_arms(*side, metric) for side in sides.items()]) for metric in metrics
    ]
    pairs = [
        (metric, metric_pairs)
        for metric, metric_pairs in pairs
        if metric is primary or any(arm_pairs.arm_values for arm_pairs in metric_pairs)
    ]
    rows = tuple(
        (
            f"{metric.title}, primary" if metric is primary else metric.title,
            *(
                _make_effect(arm_pairs, metric, session.experiment.margin)
                for arm_pairs in metric_pairs
            ),
        )
        for metric, metric_pairs in pairs
    )
    marked = frozenset(at for at, (metric, _) in enumerate(pairs) if metric is primary)
    has_several = len(set(sides.values())) > 1
    arms = (
        f"{arm} against {reference}" if has_several else arm for arm, reference in sides.items()
    )
    headers = ("Metric (95 % interval)", *arms)
    grid = Grid(headers=headers, labels=1, rows=rows, about=describe_cases(session), marked=marked)
    return Section(
        title="Effects",
        blocks=(
            grid,
            paragraph(_write_legend(session, [metric for metric, _ in pairs])),
            *draw_costs(session, primary),
        ),
    )


def _make_effect(pairs: Pairs, metric: Metric, margin: float) -> Cell:
    if pairs.relative:
        return make_ratio(divide(pairs), pairs.total_cases, "cases")
    change = subtract(pairs, margin, max_value=metric.most(_count_groups(pairs)))
    return make_difference(change, pairs.total_cases, "cases")


def _count_groups(pairs: Pairs) -> int:
    return pairs.effect.units if pairs.cases else 0


def _write_legend(session: CaseSession, metrics: Collection[Metric]) -> str:
    ratios = any(metric.relative for metric in metrics)
    scores = any(not metric.relative and not metric.is_of_many for metric in metrics)
    how = {
        "the ratio of the geometric means": ratios,
        "of scores the difference of the means": scores,
        "of figures of many cases the difference of these": any(
            metric.is_of_many for metric in metrics
        ),
    }
    references = set(session.references.values())
    against = next(iter(references)) if len(references) == 1 else "its reference"
    return (
        f"Each arm against {against}, case by case: "
        f"{', '.join(text for text, is_present in how.items() if is_present)}, and in brackets "
        f"its 95 % interval over {session.intervals_over}, where enough differ for one. "
        f"{'Trials that failed are not in ratios. ' if ratios else ''}"
        "What no verdict names is exploratory: with several metrics and arms, some intervals lie "
        "on one side of no difference by chance."
    )


def _make_table(session: CaseSession, title: str, metrics: Iterable[Metric]) -> Table:
    rows = [
        Row(
            metric=metric,
            figures=tuple(
                _make_figure(session, metric, arm) if _applies(session, metric, arm) else None
                for arm in session.experiment.arms
            ),
        )
        for metric in metrics
    ]
    return make_metrics_table(title, rows)


def _make_figure(session: CaseSession, metric: Metric, arm: str) -> Figure:
    cases = set(session.select_cases(metric).ids)
    runs = (
        session.measured_trials.get((arm, run), [])
        for run in range(1, session.experiment.count_runs(arm) + 1)
    )
    case_records = ([record for record in run if record.case in cases] for run in runs)
    return reduce_runs(reduce_trials(metric, run, len(cases)) for run in case_records)


def list_case_warnings(session: CaseSession) -> Iterator[str]:
    """Yield a sentence on everything that went wrong."""
    if not session.measured_trials:
        yield "Nothing could be measured: no trial ran to completion."
    for arm in session.experiment.arms:
        for caveat in session.caveats(arm):
            if caveat.warning:
                yield caveat.warning
    yield from session.faults
    yield from _find_more_timeouts(session)
    for metric in session.metrics:
        yield from describe_failed_trials(metric, session.records)
        if metric.counts:
            yield from describe_failed_counts(session, metric)
    yield from warn_edited(session.experiment)
    yield from session.warnings


def _find_more_timeouts(session: CaseSession) -> Iterator[str]:
    """Name the arms of whose programs more timed out than of their reference's, as a share."""
    if _TIMED_OUT not in session.metrics:
        return
    metric = session.metrics[_TIMED_OUT]
    names = [name for name in session.experiment.properties if name.startswith("timeout")]
    options = f" ({', '.join(names)})" if names else ""
    for arm, reference in session.references.items():
        late, total_count = _count_timeouts(session, arm, metric)
        reference_late, of_others = _count_timeouts(session, reference, metric)
        if late * of_others > reference_late * total_count:
            yield (
                f"{arm}: the programs of {late} of {quantify(total_count, 'answer')} timed out, "
                f"and of {reference_late} of {of_others} of {reference}. Those that are only slow "
                f"may pass with a higher limit{options}."
            )


def _count_timeouts(session: CaseSession, arm: str, metric: Metric) -> tuple[int, int]:
    """Count the programs of an arm that timed out, and all of them."""
    values = [metric.reader(record) for record in session.list_records(arm)]
    outcomes = [value for value in values if value is not None]
    return int(sum(outcomes)), len(outcomes)


def _sort_records(session: CaseSession) -> list[CaseRecord]:
    position = {arm: number for number, arm in enumerate(session.experiment.arms)}
    return sorted(
        session.records, key=lambda record: (record.run, position.get(record.arm, 0), record.number)
    )


def _make_trial_row(session: CaseSession, record: CaseRecord) -> tuple[Cell, ...]:
    cells: list[Cell] = [str(record.run), record.arm, record.case, name_cause(record.cause)]
    for metric in session.metrics:
        if metric.column and metric.read:
            style = metric.column.style or metric.style
            cells.append(Value(scale=style, value=metric.read(record)))
    return tuple(cells)

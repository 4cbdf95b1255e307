"""The summary of a benchmark whose trials are pairs of an arm and a case, as a document: medians
over runs by arm, each arm against the first one case by case, and what went wrong."""

import json
from collections.abc import Iterable, Iterator, Sequence

from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.cases.verdicts import case_verdicts
from swarm_bench.analysis.comparison.ratios import divide
from swarm_bench.analysis.concerns.package_metrics import failed_on_trials
from swarm_bench.analysis.documents.blocks import (
    explanation,
    paragraph,
    ratio,
    table,
    trials,
)
from swarm_bench.analysis.documents.opening import About, Opening, summary
from swarm_bench.analysis.frame import by_case, frame
from swarm_bench.analysis.metrics.aggregates import over_runs, reduced, table_of
from swarm_bench.analysis.wording import amount, listed
from swarm_bench.core.metric import Metric
from swarm_bench.core.report.document import (
    Bullets,
    Cell,
    Document,
    Fact,
    Grid,
    Section,
    Value,
)
from swarm_bench.core.report.report import Figure, Row, Table
from swarm_bench.core.session.cases import CaseExperiment, CaseRecord
from swarm_bench.core.status import CONSEQUENCES, Status

_SHOWN_RUNS = 6
_LABELS = ("Run", "Arm", "Case", "Outcome")


def case_document(session: CaseSession) -> Document:
    """Lay out what the session says. Any session has a summary, an empty one too."""
    about = About(
        title=f"{session.experiment.benchmark} Summary",
        banner=None,
        head=_head(session.experiment),
    )
    ratios = _ratios(session)
    verdicts = tuple(case_verdicts(session)) if ratios else ()
    opening = Opening(
        headline=(Bullets(items=verdicts),) if verdicts else (),
        warnings=tuple(case_warnings(session)),
        table=ratios,
    )
    return summary(about, opening, _details(session))


def _head(experiment: CaseExperiment) -> tuple[tuple[Fact, ...], ...]:
    drawn = [f"run {run}: {', '.join(arms)}" for run, arms in enumerate(experiment.order, start=1)]
    further = ["further runs in experiment.json"] if len(drawn) > _SHOWN_RUNS else []
    order = "; ".join([*drawn[:_SHOWN_RUNS], *further])
    properties = [
        f"{name}={value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in experiment.properties.items()
    ]
    lines = [
        [("Benchmark", f"{experiment.benchmark} {experiment.benchmark_version}")],
        [
            ("Arms", listed(experiment.arms)),
            ("Cases", str(len(experiment.cases))),
            ("Runs", str(experiment.runs)),
        ],
        [("Properties", ", ".join(properties) or "none")],
        [("Order", order), ("Seed", str(experiment.seed))],
        [
            ("Session", experiment.session),
            ("Date", experiment.created_at.strftime("%Y-%m-%d %H:%M:%S %Z").strip()),
        ],
    ]
    return tuple(tuple(Fact(label=label, value=value) for label, value in line) for line in lines)


def _details(session: CaseSession) -> Iterator[Section]:
    experiment = session.experiment
    for number, (title, metrics) in enumerate(session.metrics.tables.items()):
        how = () if number else [*explanation(experiment.runs)]
        yield table(_table(session, title, metrics), experiment.arms, how)
    yield case_trials(session)


def case_trials(session: CaseSession) -> Section:
    """Make the section with a row for each trial."""
    rows = (_trial(session, record) for record in _sorted(session))
    columns = [metric.column.title for metric in session.metrics if metric.column]
    blocks = trials((*_LABELS, *columns), len(_LABELS), rows, len(session.records))
    return Section(title="Trials", blocks=blocks)


def _ratios(session: CaseSession) -> Section | None:
    """Make the section that holds each arm against the first one, if there are several."""
    reference, *others = session.experiment.arms
    metrics = [metric for metric in session.metrics if metric.compared and metric.relative]
    if not others or not metrics:
        return None
    number = len(session.experiment.cases)
    rows: list[tuple[Cell, ...]] = []
    for metric in metrics:
        base, *values = (
            by_case(frame(session.compared(arm), metric)) for arm in (reference, *others)
        )
        ratios = [divide(each, base) for each in values]
        rows.append((metric.title, *(ratio(compared, number, "cases") for compared in ratios)))
    grid = Grid(headers=("Metric (95 % interval)", *others), labels=1, rows=tuple(rows))
    legend = (
        f"Each arm against {reference}, case by case: the ratio of the geometric means, and in "
        "brackets its 95 % interval over cases. Trials that failed are not in them. Exploratory: "
        "with several metrics and arms, some intervals lie on one side of 1 by chance."
    )
    return Section(title="Effects", blocks=(grid, paragraph(legend)))


def _table(session: CaseSession, title: str, metrics: Iterable[Metric]) -> Table:
    rows = [
        Row(
            metric=metric,
            figures=tuple(_figure(session, metric, arm) for arm in session.experiment.arms),
        )
        for metric in metrics
    ]
    return table_of(title, rows)


def _figure(session: CaseSession, metric: Metric, arm: str) -> Figure:
    expected = len(session.experiment.cases)
    runs = range(1, session.experiment.runs + 1)
    parts = (session.measured.get((arm, run), []) for run in runs)
    return over_runs(reduced(metric, part, expected) for part in parts)


def case_warnings(session: CaseSession) -> Iterator[str]:
    """Yield a sentence on everything that went wrong."""
    if not session.measured:
        yield "Nothing could be measured: no trial ran to completion."
    for arm in session.experiment.arms:
        of_arm = [record for record in session.records if record.arm == arm]
        yield from _causes(arm, of_arm)
        yield from _failed_scorers(arm, of_arm)
        planned = len(session.experiment.cases) * session.experiment.runs
        if len(of_arm) < planned:
            yield (
                f"{arm}: there is no record of {planned - len(of_arm)} of "
                f"{amount(planned, 'planned trial')}; --continue runs them."
            )
    for metric in session.metrics:
        yield from failed_on_trials(metric, session.records)
    yield from session.warnings


def _causes(arm: str, records: Sequence[CaseRecord]) -> Iterator[str]:
    failed = [record for record in records if record.status is not Status.COMPLETED]
    for cause in dict.fromkeys(record.cause for record in failed):
        ended = [record for record in failed if record.cause is cause]
        detail = next((record.detail for record in ended if record.detail), None)
        yield (
            f"{arm}: {len(ended)} of {amount(len(records), 'trial')} "
            f"{CONSEQUENCES[cause].of(len(ended))}."
            + (f" The first says: {detail}" if detail else "")
        )


def _failed_scorers(arm: str, records: Sequence[CaseRecord]) -> Iterator[str]:
    failures = [record.score_failures for record in records if record.score_failures]
    for name in dict.fromkeys(name for failure in failures for name in failure):
        reasons = [failure[name] for failure in failures if name in failure]
        yield (
            f"{arm}: the scorer {name} failed on {amount(len(reasons), 'answer')}, whose scores "
            f"are missing. The first says: {reasons[0]}"
        )


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

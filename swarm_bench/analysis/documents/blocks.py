"""What the summaries of all benchmarks are made of."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from swarm_bench.core.metric import Metric, Style
from swarm_bench.core.report.document import (
    Answer,
    Banner,
    Block,
    Bullets,
    Cell,
    Grid,
    Paragraph,
    Scale,
    Section,
    Span,
    Text,
    Value,
)
from swarm_bench.core.report.pictures import Axis, Line
from swarm_bench.core.report.ratios import Difference, Ratio
from swarm_bench.core.report.report import Figure, Row, Table
from swarm_bench.core.report.standing import Standing

MAX_TRIALS = 300
"""Rows of the table of trials; the summary has no room for more."""
NOT_REPORTED = "not reported"
_QUOTED = 600


RULES_TITLE = "What the fixed rules spent"
_RULES_BANNER = (
    "These are no figures of a model: fixed rules decided how much the agents ask and read, and a "
    "placebo server, which answers every question with the same irrelevant places, can get low "
    "ones too."
)


def paragraph(*lines: Text) -> Paragraph:
    """Make a paragraph of lines."""
    return Paragraph(lines=lines)


def make_rules_section(*blocks: Block) -> Section:
    """Make the section on what fixed rules spent."""
    return Section(title=RULES_TITLE, blocks=(Banner(text=_RULES_BANNER), *blocks))


def quote_agent(text: str) -> Span:
    """Mark a sentence that can quote an agent, and agents can quote anything."""
    return Span(text=text, longest=_QUOTED)


def make_table(
    table: Table, arms: Sequence[str], explanation: Sequence[str] = (), *, digest: bool = False
) -> Section:
    """Make the section of a table of metrics by arm; the explanation says how to read it. A digest
    has no definitions, and only names what is 0 in every arm."""
    nothing = [row for row in table.rows if digest and _is_nothing(row)]
    rows = tuple(make_metric_row(row) for row in table.rows if row not in nothing)
    grid = Grid(headers=("Metric", *arms), labels=1, rows=rows)
    blocks: list[Block] = [grid] if rows else []
    blocks += [paragraph(f"0 in every mode: {_join_titles(nothing)}.")] if nothing else []
    blocks += map(paragraph, describe_not_reported(table.unknown, "session"))
    blocks += [paragraph(*explanation)] if explanation else []
    blocks += [] if digest else make_definitions(row.metric for row in table.rows)
    return Section(title=table.title, blocks=tuple(blocks))


def _is_nothing(row: Row) -> bool:
    """Tell whether every arm has 0, in every run."""
    return all(
        figure is None or figure.value == figure.high == figure.low == 0 == figure.missing
        for figure in row.figures
    )


def _join_titles(rows: Iterable[Row]) -> str:
    return ", ".join(row.metric.title for row in rows)


def make_metric_row(row: Row) -> tuple[Cell, ...]:
    """Make the row of a metric, with a figure for each arm."""
    title = f"{row.metric.title} (estimate)" if row.estimated else row.metric.title
    return (title, *(make_figure(row.metric.style, median) for median in row.figures))


def explain_table(runs: int) -> Iterator[str]:
    """Say how the first table of metrics is to be read."""
    if runs > 1:
        yield (
            f"Each value is that of one run, as the median over {runs} runs; in brackets the "
            "lowest and the highest run, where they differ."
        )
    yield (
        f'"n missing" counts{", over all runs," if runs > 1 else ""} the trials that should be in '
        'the figure and did not give it, so a total is too low by them; "-" means that the metric '
        "does not apply."
    )


def make_trials_table(
    headers: tuple[str, ...], labels: int, rows: Iterable[tuple[Cell, ...]], number: int
) -> tuple[Block, ...]:
    """Make the table of the single trials: the first rows of so many."""
    first = tuple(islice(rows, MAX_TRIALS))
    return (Grid(headers=headers, labels=labels, rows=first, omitted=number - len(first)),)


def describe_not_reported(metrics: Iterable[Metric], noun: str) -> list[str]:
    """Name the metrics that nothing gave, in at most one sentence."""
    titles = ", ".join(metric.title for metric in metrics)
    return [f"Not reported by anything in this {noun}: {titles}."] if titles else []


def make_definitions(metrics: Iterable[Metric]) -> list[Block]:
    """List what the metrics mean."""
    items = tuple(
        (Span(text=metric.title, strong=True), f", {metric.unit}: {metric.definition}")
        for metric in metrics
    )
    return [Bullets(items=items)] if items else []


def make_figure(style: Style, median: Figure | None) -> Value | None:
    """Make the cell of a median over runs."""
    if median is None:
        return None
    notes = (f"{median.missing} missing",) if median.missing else ()
    return Value(scale=style, value=median.value, low=median.low, high=median.high, notes=notes)


def make_ratio(estimate: Ratio | None, tasks: int, noun: str = "tasks") -> Value:
    """Make the cell of a ratio over so many tasks (or cases), or over fewer of them."""
    if estimate is None:
        return Value(scale=Scale.RATIO, value=None)
    notes = (f"{estimate.tasks} of {tasks} {noun}",) if estimate.tasks < tasks else ()
    low, high = estimate.interval or (None, None)
    return Value(scale=Scale.RATIO, value=estimate.estimate, low=low, high=high, notes=notes)


def make_difference(estimate: Difference | None, cases: int, noun: str = "tasks") -> Value:
    """Make the cell of a difference, as `make_ratio` makes that of a ratio."""
    if estimate is None:
        return Value(scale=Scale.DIFFERENCE, value=None)
    notes = (f"{estimate.tasks} of {cases} {noun}",) if estimate.tasks < cases else ()
    low, high = estimate.interval or (None, None)
    return Value(scale=Scale.DIFFERENCE, value=estimate.estimate, low=low, high=high, notes=notes)


def choose_scale(metric: Metric) -> Scale:
    """Return the scale of what compares two figures of a metric."""
    if metric.relative:
        return Scale.RATIO
    return Scale.POINTS if metric.style is Style.PERCENT else Scale.DIFFERENCE


def extend_answer(mode: Standing, suffix: str = "") -> Answer:
    """Return what is answered for a mode, and where, with what the witnesses say."""
    answer = mode.answer or Answer(subject=mode.mode, claim="")
    evidence = " ".join(filter(None, (answer.evidence, mode.treatment, mode.correctness)))
    lines = f"{answer.figures} {evidence}".lower()
    return replace(
        answer,
        subject=f"{mode.mode}{suffix}",
        evidence=evidence,
        use=mode.use,
        caveats=tuple(
            qualification
            for qualification in mode.qualifications
            if qualification.lower() not in lines
        ),
    )


def make_axis(metric: Metric) -> Axis:
    """Make the axis of a metric."""
    low, high = (0, 1) if metric.is_share else (None, None)
    return Axis(
        label=metric.title,
        style=metric.style,
        is_logarithmic=metric.relative and not metric.is_share,
        low=low,
        high=high,
    )


def list_absent(names: Iterable[str], lines: Iterable[Line]) -> str:
    """Say whom a chart does not show, after its other sentences; empty where it shows all."""
    visible = {line.label for line in lines}
    absent = [name for name in names if name not in visible]
    return f" Not shown: {', '.join(absent)}." if absent else ""

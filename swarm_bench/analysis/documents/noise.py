"""The summary of a calibration as a document."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from swarm_bench.analysis.comparison.legend import BY_RULES
from swarm_bench.analysis.documents.blocks import (
    describe_not_reported,
    make_rules_section,
    paragraph,
)
from swarm_bench.analysis.documents.opening import Opening, make_summary
from swarm_bench.analysis.wording import quantify
from swarm_bench.core.report.calibration import Calibration, Noise, Range
from swarm_bench.core.report.document import (
    Answer,
    Answers,
    Block,
    Bullets,
    Cell,
    Document,
    Grid,
    Interval,
    Scale,
    Section,
    Span,
    Text,
    Value,
)
from swarm_bench.core.report.report import Report

_EFFECT = (
    "For each task the medians over its runs are compared; shown is the mean over tasks (of ratios "
    "the geometric one), and in brackets its 95 % interval."
)
_LARGEST = "the task in which the two arms differ most, in either direction."
_SPREAD = (
    "the standard deviation of one task in one arm from run to run, and its 95 % interval. It is a "
    "factor: 1.08× means that most runs lie within a factor of 1.08 of the typical one. Of scores "
    "it is a difference."
)
_IDENTICAL = (
    "pairs of trials, of the same task in the same place of the same run, whose figures are equal; "
    '"all" where the figure never varied at all, neither between the arms nor between runs.'
)
_ZEROS = (
    ' "With 0": pairs in which a figure is 0; there is no ratio to 0, so they are left out of the '
    "other columns."
)
_SIZES = (
    "A column is an experiment of so many tasks × runs; the first one has the size of this "
    "session. A ratio (of scores, a difference) that lies outside the range is found in 80 of 100 "
    "such experiments, by a two-sided t test at 5 % over the tasks' differences. The figures hold "
    "for normal noise of the size that was measured here, on these tasks. They are lower bounds: a "
    "mode does not differ from itself by task, and a real tool helps with some tasks more than "
    "with others, which adds to the noise and which only more tasks average out."
)


def make_document(report: Report, calibration: Calibration) -> Document:
    """Lay out a calibration; the report has what stands before its figures."""
    opening = Opening(
        title=report.title,
        banner=report.banner,
        head=report.head,
        headline=(Answers(items=_qualify_answers(report, calibration), size=report.headline.size),),
        warnings=report.warnings,
        table=None if calibration.no_floor else _make_floor(calibration),
        notes=report.notes,
        aside=BY_RULES if calibration.spent_by_rules else "",
    )
    return make_summary(opening, _make_details(calibration))


def _make_details(calibration: Calibration) -> Iterator[Section]:
    if calibration.no_floor:
        return
    yield _make_findable(calibration)
    if calibration.spent_by_rules:
        yield make_rules_section(_make_noise(calibration.spent_by_rules))
    blocks_of_floor: tuple[Block, ...] = (
        Bullets(items=tuple(_write_legend(calibration))),
        *map(paragraph, describe_not_reported(calibration.unknown, "session")),
    )
    yield Section(title="How to read the noise floor", blocks=blocks_of_floor)


def _qualify_answers(report: Report, calibration: Calibration) -> tuple[Answer, ...]:
    """Qualify the first answer by what must be known of either arm."""
    first, *other_answers = calibration.answers
    qualified = [
        clause if mode.mode == calibration.mode else f"in {mode.mode}, {clause}"
        for mode in report.headline.standings
        for clause in mode.qualifications
    ]
    return replace(first, caveats=(*qualified, *first.caveats)), *other_answers


def _make_floor(calibration: Calibration) -> Section:
    mode, tasks = calibration.mode, quantify(calibration.tasks, "task")
    description = (
        f"{mode} was compared with itself: {tasks}, {quantify(calibration.runs, 'run')} of each in "
        "both arms, which took turns in orders drawn from the seed. Whatever differs here is noise."
    )
    over = f"Two arms of {mode}, over {tasks} and {quantify(calibration.runs, 'run')}"
    blocks = (paragraph(description), replace(_make_noise(calibration.rows), about=over))
    return Section(title=f"Noise floor of {mode}", blocks=blocks)


def _write_legend(calibration: Calibration) -> Iterator[Text]:
    zeros = any(row.zeros for row in calibration.rows if not row.still)
    omitted = calibration.excluded
    without = (
        f" {quantify(omitted, 'trial')} left out (failed, contaminated or not measured)."
        if omitted
        else ""
    )
    texts = {
        "Second arm": f"{calibration.again} against {calibration.mode}. {_EFFECT}",
        "Largest task": _LARGEST,
        "Spread of runs": _SPREAD,
        "Identical": f"{_IDENTICAL}{_ZEROS if zeros else ''}{without}",
    }
    for label, text in texts.items():
        yield (Span(text=label, strong=True), f": {text}")


def _make_findable(calibration: Calibration) -> Section:
    rows = calibration.rows
    moving = [row for row in rows if not row.still and any((row.planned, *row.grid))]
    still = [row.metric.title for row in rows if row.still]
    blocks: list[Block] = []
    if moving:
        blocks += [_make_grid(calibration, moving), paragraph(_SIZES)]
    else:
        repeated = rows and calibration.runs > 1
        reason = "no metric differed" if repeated else "there is no spread of runs"
        blocks.append(paragraph(f"Nothing can be said: {reason}."))
    if still:
        text = f"Never differed, so any difference is one of the modes: {', '.join(still)}."
        blocks.append(paragraph(text))
    return Section(title="What a planned experiment could find", blocks=tuple(blocks))


def _make_grid(calibration: Calibration, noise: Sequence[Noise]) -> Grid:
    planned_size = (calibration.tasks, calibration.runs)
    other_sizes = [at for at, size in enumerate(calibration.sizes) if size != planned_size]
    sizes = [planned_size, *(calibration.sizes[at] for at in other_sizes)]
    rows = tuple(
        (
            row.metric.title,
            *(
                _make_interval(row, size)
                for size in (row.planned, *(row.grid[at] for at in other_sizes))
            ),
        )
        for row in noise
    )
    headers = ("Metric", *(f"{tasks} × {runs}" for tasks, runs in sizes))
    return Grid(headers=headers, labels=1, rows=rows)


def _make_noise(noise: Sequence[Noise]) -> Grid:
    headers = ("Metric", "Second arm", "Largest task", "Spread of runs", "Identical")
    return Grid(headers=headers, labels=1, rows=tuple(map(_make_row, noise)))


def _make_row(noise: Noise) -> tuple[Cell, ...]:
    """Make a row. Of what never differed there is no effect, and no spread either."""
    direction = Scale.NOISE if noise.relative else Scale.DIFFERENCE
    size = Scale.NOISE if noise.relative else Scale.DEVIATION
    if noise.still:
        none = noise.null_value
        cells = (Value(scale=direction, value=none), *[Value(scale=size, value=none)] * 2)
        return (noise.metric.title, *cells, f"all {noise.pairs}")
    return (
        noise.metric.title,
        _make_value(direction, noise.effect, noise.interval),
        _make_value(size, noise.largest),
        _make_value(size, noise.spread, noise.spread_interval),
        _describe_pairs(noise),
    )


def _make_value(scale: Scale, value: float | None, interval: Range | None = None) -> Value:
    bounds = (interval.low, interval.high) if interval else (None, None)
    return Value(scale=scale, value=value, low=bounds[0], high=bounds[1])


def _make_interval(noise: Noise, findable: Range | None) -> Interval | None:
    if findable is None:
        return None
    scale = Scale.NOISE if noise.relative else Scale.DIFFERENCE
    return Interval(scale=scale, low=findable.low, high=findable.high)


def _describe_pairs(noise: Noise) -> str:
    parts = {"missing": noise.missing, "with 0": noise.zeros}
    notes = ", ".join(f"{number} {label}" for label, number in parts.items() if number)
    return f"{noise.identical} of {noise.pairs}" + (f" ({notes})" if notes else "")

"""The effects of a headline as a chart."""

from collections.abc import Iterator

from swarm_bench.analysis.documents.effects import make_ratio_cell
from swarm_bench.core.report.chart import Chart, Mark
from swarm_bench.core.report.document import Value
from swarm_bench.core.report.ratios import Ratios
from swarm_bench.core.report.report import Headline

_MAX_ROWS = 40
"""Rows; more cannot be told apart."""
_DESCRIPTION = "Ratio and its 95 % interval over tasks. Band: the margin."
_BOLD = " Bold: the primary metric."
_OF_WHAT_WAS_FOUND = " The verdicts are on what was found, which is no ratio."


def make_chart(headline: Headline) -> Chart | None:
    """Make the chart; `None` where no ratio can be shown."""
    ratios = headline.ratios
    marks = tuple(_make_marks(ratios))[:_MAX_ROWS] if ratios else ()
    if ratios is None or not marks:
        return None
    return Chart(
        title=f"Effects against {ratios.reference}",
        margin=ratios.margin,
        marks=marks,
        about=_DESCRIPTION
        + (_BOLD if any(mark.is_primary for mark in marks) else _OF_WHAT_WAS_FOUND),
    )


def _make_marks(ratios: Ratios) -> Iterator[Mark]:
    """Yield what the table shows too."""
    for at, column in enumerate(ratios.columns):
        for row in () if column.as_used else ratios.rows:
            estimate = row.ratios[at]
            if estimate is None or not isinstance(make_ratio_cell(ratios, row, at), Value):
                continue
            if estimate.estimate > 0:
                yield Mark(
                    mode=column.mode,
                    metric=row.metric.title,
                    is_primary=row.metric.key == ratios.primary,
                    estimate=estimate.estimate,
                    interval=estimate.interval,
                )

"""The effects of a headline as a chart."""

from collections.abc import Iterator

from swarm_bench.analysis.documents.effects import shown_ratio
from swarm_bench.core.report.chart import Chart, Mark
from swarm_bench.core.report.document import Value
from swarm_bench.core.report.ratios import Ratios
from swarm_bench.core.report.report import Headline

_MOST = 40
"""Rows; more cannot be told apart."""
_ABOUT = "Ratio and its 95 % interval over tasks. Band: the margin."
_BOLD = " Bold: the primary metric."
_OF_WHAT_WAS_FOUND = " The verdicts are on what was found, which is no ratio."


def chart(headline: Headline) -> Chart | None:
    """Make the chart; `None` where no ratio can be shown."""
    ratios = headline.ratios
    marks = tuple(_marks(ratios))[:_MOST] if ratios else ()
    if ratios is None or not marks:
        return None
    return Chart(
        title=f"Effects against {ratios.reference}",
        margin=ratios.margin,
        marks=marks,
        about=_ABOUT + (_BOLD if any(mark.is_primary for mark in marks) else _OF_WHAT_WAS_FOUND),
    )


def _marks(ratios: Ratios) -> Iterator[Mark]:
    """Yield what the table shows too."""
    for at, column in enumerate(ratios.columns):
        for row in () if column.as_used else ratios.rows:
            compared = row.ratios[at]
            if compared is None or not isinstance(shown_ratio(ratios, row, at), Value):
                continue
            if compared.estimate > 0:
                yield Mark(
                    mode=column.mode,
                    metric=row.metric.title,
                    is_primary=row.metric.key == ratios.primary,
                    estimate=compared.estimate,
                    interval=compared.interval,
                )

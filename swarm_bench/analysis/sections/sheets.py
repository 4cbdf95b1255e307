"""Tables with metrics as columns."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

from swarm_bench.core.metric import Metric
from swarm_bench.core.report.report import Figure, Line, Sheet

_T = TypeVar("_T")
Figures = Mapping[str, Figure | None]
"""By the key of the metric; `None` where it does not apply."""


def make_sheet(
    title: str,
    labels: tuple[str, ...],
    metrics: tuple[Metric, ...],
    rows: Iterable[tuple[tuple[str, ...], Figures]],
) -> Sheet:
    """Leave out the columns that no line has a value in; they are named instead."""
    lines = [
        Line(labels=names, figures=tuple(figures[metric.key] for metric in metrics))
        for names, figures in rows
    ]
    present = [
        any(figure is not None and figure.value is not None for figure in column)
        for column in zip(*(line.figures for line in lines), strict=True)
    ]
    return Sheet(
        title=title,
        labels=labels,
        metrics=_select(metrics, present),
        lines=tuple(
            Line(labels=line.labels, figures=_select(line.figures, present)) for line in lines
        ),
        unknown=_select(metrics, [not has_value for has_value in present]),
    )


def _select(items: tuple[_T, ...], which: list[bool]) -> tuple[_T, ...]:
    return tuple(item for item, keep in zip(items, which, strict=True) if keep)

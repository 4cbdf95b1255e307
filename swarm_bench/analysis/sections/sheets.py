"""Tables with metrics as columns."""

from collections.abc import Iterable
from typing import TypeVar

from swarm_bench.core.report.report import Line, Metric, Sheet

_T = TypeVar("_T")


def sheet(
    title: str, labels: tuple[str, ...], metrics: Iterable[Metric], lines: Iterable[Line]
) -> Sheet:
    """Without the columns that no line has a value in; they are named instead."""
    metrics, lines = tuple(metrics), tuple(lines)
    known = [
        any(one is not None and one.value is not None for one in column)
        for column in zip(*(line.figures for line in lines), strict=True)
    ]
    return Sheet(
        title=title,
        labels=labels,
        metrics=_kept(metrics, known),
        lines=tuple(Line(labels=line.labels, figures=_kept(line.figures, known)) for line in lines),
        unknown=_kept(metrics, [not one for one in known]),
    )


def _kept(items: tuple[_T, ...], which: list[bool]) -> tuple[_T, ...]:
    return tuple(item for item, keep in zip(items, which, strict=True) if keep)

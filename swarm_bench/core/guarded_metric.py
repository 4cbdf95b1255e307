"""Readers of figures that may be wrong: of another package, or of a file that was changed."""

from collections.abc import Callable
from dataclasses import replace
from math import isfinite
from typing import Generic, TypeVar

from swarm_bench.core.errors import described
from swarm_bench.core.metric import Metric

Record = TypeVar("Record")
_ROUNDING = 1e-9
"""Amount by which a sum of parts may exceed the whole, through rounding."""


class Guarded(Generic[Record]):
    """A reader of another package. What it raises, or gives that is no figure, is missing."""

    def __init__(self, read: Callable[[Record], float | None], *, share: bool = False) -> None:
        self._read = read
        self._share = share

    def __call__(self, record: Record) -> float | None:
        return self.attempt(record)[0]

    def attempt(self, record: Record) -> tuple[float | None, str | None]:
        """Read the figure, and say in a clause why it is missing when the reader failed."""
        try:
            value = self._read(record)
            if value is None:
                return None, None
            clause = self._describe_fault(value)
        except (Exception, SystemExit) as error:  # noqa: BLE001  # others are shown, whatever it is
            return None, described(error)
        return (None, f"it gave {value}, {clause}") if clause else (value, None)

    def _describe_fault(self, value: float) -> str:
        """Say in a clause why the value is none of its figures; empty where it is one."""
        if not isfinite(value):
            return "which is no figure"
        outside = self._share and not -_ROUNDING <= value <= 1 + _ROUNDING
        return "and a share lies between 0 and 1" if outside else ""


def guarded_metric(metric: Metric) -> Metric:
    """Return the metric with readers that cannot raise, and give no share outside 0 to 1."""
    row, share = metric.row, metric.is_share
    row = replace(row, read=Guarded(row.read, share=share)) if row and row.read else row
    return replace(
        metric,
        read=Guarded(metric.read, share=share) if metric.read else None,
        read_swarm=Guarded(metric.read_swarm, share=share) if metric.read_swarm else None,
        row=row,
    )

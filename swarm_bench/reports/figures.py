"""How a figure is written. What is missing is never written as 0."""

from swarm_bench.core.metric import Style
from swarm_bench.core.report.document import CombinedValue, ComparedValue, Interval, Scale, Value

NOT_APPLICABLE = "-"
NOT_REPORTED = "not reported"
_THOUSAND = 999.95
"""Least figure that is shown without decimals; with one decimal it would be rounded to 1,000."""
_LARGEST = 10.0
"""Ratios beyond it, where no larger one is to be believed."""


def format_cell(cell: Value | Interval | CombinedValue | ComparedValue) -> str:
    """Write the figures of a cell."""
    match cell:
        case Value():
            return format_figure(cell)
        case Interval():
            return format_interval(cell)
        case CombinedValue():
            return format_parts(cell)
        case ComparedValue():
            return format_comparison(cell)


def format_figure(value: Value) -> str:
    """Write `12.5s (11.0–14.2; 1 missing)`: the range if there is one, and what is not in it."""
    if value.value is None:
        return NOT_REPORTED
    brackets = [*_format_range(value), *value.notes]
    if value.beside:
        brackets.insert(0, format_figure(value.beside))
    return format_number(value.scale, value.value) + (
        f" ({'; '.join(brackets)})" if brackets else ""
    )


def format_interval(value: Interval) -> str:
    """Write `0.91–1.10`."""
    if value.scale is Scale.NOISE and value.high > _LARGEST:
        return f"beyond {_LARGEST:g}×"
    return _format_bounds(value.scale, value.low, value.high)


def format_parts(value: CombinedValue) -> str:
    """Write `60.30s before the agents; 1 missing`."""
    if not value.parts:
        return NOT_REPORTED
    amounts = [f"{format_number(value.style, part)} {label}" for part, label in value.parts]
    return "; ".join([*amounts, *value.notes])


def format_comparison(value: ComparedValue) -> str:
    """Write `8,490, 0.69× (0.58–0.82)`; of what is missing there is no change."""
    if value.own.value is None:
        return format_figure(value.own)
    change = value.change if isinstance(value.change, str) else format_figure(value.change)
    return f"{format_figure(value.own)}, {change}"


def format_number(scale: Style | Scale, value: float) -> str:
    """Write it with its unit, where the unit is a sign."""
    number = _format_digits(scale, value)
    match scale:
        case Style.SECONDS:
            return f"{number}s"
        case Style.MILLISECONDS:
            return f"{number} ms"
        case Style.PERCENT:
            return f"{number} %"
        case Style.DOLLARS | Style.CENTS:
            return f"${number}"
        case Scale.RATIO | Scale.NOISE:
            return f"{number}×"
        case Scale.POINTS:
            return f"{number} points"
        case _:
            return number


def _format_range(value: Value) -> list[str]:
    """Write the range, if any: none where both ends read alike."""
    if value.low is None or value.high is None:
        return []
    bounds = {_format_digits(value.scale, end) for end in (value.low, value.high)}
    return [] if len(bounds) == 1 else [_format_bounds(value.scale, value.low, value.high)]


def _format_bounds(scale: Style | Scale, low: float, high: float) -> str:
    word = " to " if scale in (Scale.DIFFERENCE, Scale.POINTS, Scale.DEVIATION) else "–"
    return f"{_format_digits(scale, low)}{word}{_format_digits(scale, high)}"


def _format_digits(scale: Style | Scale, value: float) -> str:
    return (
        _format_change(scale, value) if isinstance(scale, Scale) else _format_measure(scale, value)
    )


def _format_measure(style: Style, value: float) -> str:
    match style:
        case Style.SECONDS:
            return f"{value:.2f}"
        case Style.PERCENT:
            return f"{value * 100:.1f}"
        case Style.FRACTION:
            return _drop_zero_sign(f"{value:.2f}")
        case Style.AVERAGE | Style.WHOLE if value >= _THOUSAND:
            return f"{value:,.0f}"
        case Style.AVERAGE:
            return f"{value:.1f}"
        case Style.DOLLARS:
            # As awk prints a sum, but without an exponent.
            return f"{value:.6g}" if value >= 0.0001 or value == 0 else f"{value:.8f}"
        case Style.CENTS:
            return f"{value:.4f}"
        case Style.MILLISECONDS:
            return f"{value * 1000:,.0f}"
        case Style.WHOLE:
            return f"{value:.0f}" if value == int(value) else f"{value:.1f}"


def _drop_zero_sign(number: str) -> str:
    """Take the sign from what is rounded to nothing."""
    return number if float(number) else number.lstrip("+-")


def _format_change(scale: Scale, value: float) -> str:
    match scale:
        case Scale.RATIO:
            return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"
        case Scale.NOISE if not 1 / _LARGEST <= value <= _LARGEST:
            return f">{_LARGEST:g}" if value > 1 else f"<{1 / _LARGEST:g}"
        case Scale.NOISE:
            return f"{value:.2f}"
        case Scale.DIFFERENCE:
            return _drop_zero_sign(f"{value:+.2f}") if value else "0"
        case Scale.POINTS:
            return _drop_zero_sign(f"{value * 100:+.1f}") if value else "0"
        case Scale.PROBABILITY:
            return f"{value:.2g}" if value >= 0.0001 else "<0.0001"
        case Scale.DEVIATION:
            return f"{value:.2f}" if value else "0"

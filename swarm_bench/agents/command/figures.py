"""Figures as programs print them for people, of whatever country: read right, or not at all."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from swarm_bench.agents.reading.json_lines import as_amount

_GAP = "[ \u00a0\u2009\u202f]?"
_PLAIN = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_GROUPED = re.compile(
    r"([1-9]\d{0,2})([,.'’_ \u00a0\u2009\u202f])\d{3}(?:\2\d{3})*(?:([.,])\d+)?", re.ASCII
)
_DECIMAL_COMMA = re.compile(r"\d+,\d+", re.ASCII)
_DOUBTFUL = re.compile(r"[1-9]\d{0,2}[.,]\d{3}", re.ASCII)
"""Thousands in one country, and a fraction in another."""
_DOLLAR = r"(?:US ?\$|USD|\$)"
_PART_BEFORE = re.compile(
    rf"\d[.,:'’_٬٫\u00a0\u2009\u202f]$|(?:[~≈<>≤≥]|(?:^|[\s:=(])[-−]){_GAP}{_DOLLAR}?{_GAP}$"
    rf"|(?:^|[^\w.])[.,]$|\d[eE][+-]?$|\b0[xX][0-9a-fA-F]*$|\d(?:{_GAP}[–—]{_GAP}|-){_DOLLAR}?$",
    re.ASCII,
)
_PART_AFTER = re.compile(
    rf"[.,'’_٬٫\u00a0\u2009\u202f][\d٠-٩]|:\d\d(?!\d)|[eE][+-]?\d|[xX][0-9a-fA-F]|{_GAP}%|\+"
    rf"|(?:{_GAP}[–—]{_GAP}|-){_DOLLAR}?\d|[kKMGBT]tok"
    rf"|{_GAP}(?:[kKMGBT]|[mb]n|mil|Mio|Mrd|Tsd|thousand|million|lakh|crore|[万億亿千])(?![A-Za-z])",
    re.ASCII,
)
"""Text that makes a figure a part of another one, or a rounded one."""
_DOLLARS = re.compile(rf"{_DOLLAR}?{_GAP}(.*?){_GAP}{_DOLLAR}?")
_DOLLARS_BEFORE = re.compile(rf"{_DOLLAR}{_GAP}$")
_DOLLARS_AFTER = re.compile(rf"{_GAP}(?:{_DOLLAR}|(?:US )?dollars?\b)")
_LETTER_AFTER = re.compile(rf"{_GAP}(?:[^\W\d_]|[″′\"'])")
"""The first character of an unknown unit."""
_MONEY = "[€£¥₹₩₽¢元₿₺₫₱₦₴₪฿]|S/|EUR|GBP|CHF|CNY|RMB|JPY|INR|KRW|CAD|AUD|NZD|SEK|NOK|DKK|PLN|BRL"
_OTHER_MONEY_BEFORE = re.compile(rf"(?:{_MONEY}|(?!US)\b[A-Z]{{1,3}}\$){_GAP}$")
_OTHER_MONEY_AFTER = re.compile(rf"{_GAP}(?:{_DOLLAR}{_GAP})?(?:{_MONEY}|cents?\b|ct\b)")
_MILLISECONDS = {
    "ns": 1e-6, "us": 1e-3, "µs": 1e-3, "μs": 1e-3,
    **dict.fromkeys(("ms", "msec", "msecs", "millisecond", "milliseconds"), 1.0),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1e3),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 6e4),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3.6e6),
}  # fmt: skip
_UNIT = rf"{_GAP}({'|'.join(sorted(_MILLISECONDS, key=len, reverse=True))})(?![A-Za-z])"
_UNIT_BEFORE = re.compile(
    rf"\d{_GAP}(?:h|hrs?|hours?|m|mins?|minutes?),?(?: and)?{_GAP}$", re.ASCII
)
_UNIT_AFTER = re.compile(rf"{_UNIT}(?!(?:,|{_GAP}and)?{_GAP}\d)")
_UNIT_BEHIND = re.compile(rf"(?:,|{_GAP}and)?{_GAP}\d[\d.,]*{_UNIT}")
_UNIT_WITHIN = re.compile(rf"(\d[\d.,]*?){_UNIT},?{_GAP}", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Printed:
    """A value, and what a pattern did not take that stands around it."""

    value: object
    text_before: str = ""
    text_after: str = ""

    @property
    def is_part(self) -> bool:
        """Whether something beside it belongs to it."""
        if _PART_BEFORE.search(self.text_before) or _PART_AFTER.match(self.text_after):
            return True
        # A blank separates columns too; it is thousands only where the digits can be groups.
        text = str(self.value)
        follows = re.search(r"(?<![\d.,])\d{1,3} $", self.text_before) and re.match(
            r"\d{3}\b", text
        )
        leads = re.fullmatch(r"\d{1,3}", text) and re.match(r" \d{3}\b", self.text_after)
        return bool(follows or leads)


Reader = Callable[[Printed], float | None]


def read_count(printed: Printed) -> float | None:
    """Read a number of things. A dot before three digits separates thousands, or a fraction."""
    if not isinstance(printed.value, str):
        return as_amount(printed.value)
    text = printed.value.strip()
    if printed.is_part or (_DOUBTFUL.fullmatch(text) and "." in text):
        return None
    return _parse_figure(text.replace(",", "") if _DOUBTFUL.fullmatch(text) else text)


def read_amount(printed: Printed) -> float | None:
    """Read a figure that can have a fraction. A comma before three digits separates either."""
    if not isinstance(printed.value, str):
        return as_amount(printed.value)
    return None if printed.is_part else _parse_figure(printed.value.strip())


def read_dollars(printed: Printed) -> float | None:
    """Read US dollars, and no other money."""
    if _OTHER_MONEY_BEFORE.search(printed.text_before) or _OTHER_MONEY_AFTER.match(
        printed.text_after
    ):
        return None
    if not isinstance(printed.value, str):
        return as_amount(printed.value)
    text = printed.value.strip()
    match = _DOLLARS.fullmatch(text)
    if match is None or printed.is_part:
        return None
    is_stated = match[1] != text or _DOLLARS_BEFORE.search(printed.text_before)
    is_stated = is_stated or _DOLLARS_AFTER.match(printed.text_after)
    is_other = not is_stated and _LETTER_AFTER.match(printed.text_after)
    return None if is_other else _parse_figure(match[1])


def read_milliseconds(printed: Printed) -> float | None:
    """Read a time in the unit that stands with it, or else in milliseconds."""
    if not isinstance(printed.value, str):
        return as_amount(printed.value)
    text = printed.value.strip()
    if _UNIT_BEFORE.search(printed.text_before):
        return None
    if unit := _UNIT_AFTER.match(printed.text_after):
        return _scale(read_amount(Printed(value=text, text_before=printed.text_before)), unit[1])
    if (
        re.match(_UNIT, printed.text_after)
        or printed.is_part
        or _UNIT_BEHIND.match(printed.text_after)
    ):
        return None
    if _LETTER_AFTER.match(printed.text_after) and text[-1:].isdigit():
        return None
    parts = list(_UNIT_WITHIN.finditer(text))
    if "".join(part[0] for part in parts) != text:
        return _parse_figure(text)
    times = [_scale(_parse_figure(part[1]), part[2]) for part in parts]
    scales = [_MILLISECONDS[part[2]] for part in parts]
    if scales != sorted(set(scales), reverse=True) or None in times:
        return None
    return sum(filter(None, times))


def _scale(figure: float | None, unit: str) -> float | None:
    return None if figure is None else figure * _MILLISECONDS[unit]


def _parse_figure(text: str) -> float | None:
    """Read a number whose signs leave no doubt."""
    if _PLAIN.fullmatch(text):
        return as_amount(float(text))
    if _DOUBTFUL.fullmatch(text):
        return None
    if match := _GROUPED.fullmatch(text):
        separator, point = match[2], match[3]
        if separator == point:
            return None
        digits = text.replace(separator, "")
        return as_amount(float(digits.replace(point, ".") if point else digits))
    return as_amount(float(text.replace(",", "."))) if _DECIMAL_COMMA.fullmatch(text) else None

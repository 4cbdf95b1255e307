"""What is read from a probe, whose code may be somebody else's: it is checked, and a failure is a
missing reading."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import anyio

from swarm_bench.core.errors import described
from swarm_bench.core.ports import Probe, ProbeContext
from swarm_bench.core.treatment.counting import Expected, Transcripts

Reading = dict[str, Any] | None
FAILED: Reading = {}
"""A reading that failed. `None` is that of a tool that has made no counters yet."""
READING_SECONDS = 10
"""How long a probe may take, also one whose service sends its answer byte by byte."""


@dataclass(frozen=True, kw_only=True)
class ProbeReading:
    """What a probe read."""

    is_there: bool
    """Whether there was something to read."""
    reading: Reading = None
    problem: str = ""
    """Why there is no reading, where that is a failure."""


async def read_probe(probe: Probe, context: ProbeContext) -> ProbeReading:
    """Read the counters now."""
    try:
        if not probe.reads(context):
            return ProbeReading(is_there=False)
        with anyio.move_on_after(READING_SECONDS):
            reading = await probe.snapshot(context)
            return ProbeReading(
                is_there=True, reading=None if reading is None else _convert(reading)
            )
        return ProbeReading(is_there=True, problem=f"no answer within {READING_SECONDS} s")
    except (Exception, SystemExit) as error:  # noqa: BLE001  # somebody else's code may raise anything
        return ProbeReading(is_there=True, problem=described(error))


def compute_figures(probe: Probe, old: Reading, new: Reading) -> Reading:
    """Compute what happened between two readings; what is no figure is missing."""
    if FAILED in (old, new):
        return None
    try:
        change = probe.difference(old, new)
        return None if change is None else {str(key): _check_figure(change[key]) for key in change}
    except (Exception, SystemExit):  # noqa: BLE001  # somebody else's code may raise anything
        return None


def make_content(probe: Probe, old: Reading, new: Reading, change: Reading) -> Reading:
    """Make the content of its file; `None` without figures, or when it cannot be written."""
    try:
        return None if change is None else _convert(probe.content(old, new, change))
    except (Exception, SystemExit):  # noqa: BLE001  # somebody else's code may raise anything
        return None


def expect_counts(probe: Probe, transcripts: Transcripts) -> Mapping[str, Expected]:
    """Ask what its counters may show for the calls; nothing, and no comparison, if it fails."""
    try:
        return probe.expected(transcripts)
    except (Exception, SystemExit):  # noqa: BLE001  # somebody else's code may raise anything
        return {}


def _convert(reading: Any) -> dict[str, Any]:
    """Convert it to what can be stored. Raises `ValueError` and `TypeError`."""
    converted = json.loads(json.dumps(reading, allow_nan=False))
    if not isinstance(converted, dict):
        raise TypeError("a reading has names")
    return converted


def _check_figure(value: object) -> int | float | None:
    sound = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return value if sound and isinstance(value, int | float) else None

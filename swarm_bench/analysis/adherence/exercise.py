"""Whether the retrieval tool was used at all, by its own counters where it has any."""

from swarm_bench.analysis.metrics.reading import finite
from swarm_bench.analysis.selection import Selection, Slice
from swarm_bench.core.session.records import SwarmRecord, Treatment

COUNTERS = {
    "service": ("queries", "expands"),
    "feedback": ("query_events", "expand_events"),
}
"""What a probe counts when somebody uses the tool, the most telling probe first."""
TOOLS = {"service": "the service", "feedback": "the feedback database"}
"""Who counts what a probe reads."""


def exercised(selection: Selection) -> bool | None:
    """True when each mode with a tool used it in each of its runs; `None` when no mode has a tool,
    or for one of them nothing can tell."""
    verdicts = [
        exercised_in(part, selection.probes(mode) - _of_others(selection))
        for mode in selection.modes
        if selection.has_tool(mode) and not selection.is_placebo(mode)
        for part in selection.slices(mode)
        if part.trials
    ]
    if False in verdicts:
        return False
    return None if not verdicts or None in verdicts else True


def _of_others(selection: Selection) -> frozenset[str]:
    """Probes whose counts may be those of others."""
    experiment = selection.data.experiment
    return frozenset({"service"} if experiment and experiment.service_url else ())


def exercised_in(part: Slice, probes: frozenset[str]) -> bool | None:
    for probe in COUNTERS:
        uses = counted(part.swarms, probe) if probe in probes else None
        if uses is not None:
            return uses > 0
    labels = {trial.retrieval for trial in part.trials}
    if Treatment.USED in labels:
        return True
    return None if labels & {None, Treatment.UNKNOWN} else False


def counted(swarms: tuple[SwarmRecord, ...], probe: str) -> float | None:
    """Uses that the probe counted in these swarms; `None` when none of them has the counter.
    Counters that went down began anew in between, and tell nothing."""
    each = [
        [
            value
            for key in COUNTERS[probe]
            if (value := finite((swarm.difference.get(probe) or {}).get(key))) is not None
        ]
        for swarm in swarms
    ]
    found = [sum(values) for values in each if values and min(values) >= 0]
    return sum(found) if found else None

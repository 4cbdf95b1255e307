"""Which counters of a swarm can be compared, and which were lost."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from swarm_bench.core.session.records import SwarmRecord
from swarm_bench.core.treatment.counters import Counters


@dataclass(frozen=True, kw_only=True)
class CounterReading:
    """What was counted around a swarm."""

    counts: Mapping[tuple[str, str], int]
    counters: Mapping[str, Counters]
    external: bool

    @property
    def moved_counters(self) -> list[tuple[str, str]]:
        """The counters that did not stand still."""
        return [key for key, count in self.counts.items() if count]

    def may_be_of_others(self, probe: str) -> bool:
        """Tell whether calls of others may have been counted."""
        return self.external and self.counters[probe].shared


def explain_unread(swarm: SwarmRecord, probe: str, counters: Counters) -> str | None:
    """Say why the transcripts were not compared with all that the probe counts."""
    if _no_file(swarm, probe, counters):
        return None
    change = swarm.difference.get(probe) or {}
    if _was_reset(change, counters):
        return (
            f"The {probe} counters are lower than before the agents began, so they were reset in "
            "between and cannot be compared."
        )
    needed = set(counters.nouns) - set(counters.may_lack)
    if not all(isinstance(change.get(name), int) for name in needed):
        return f"The {probe} counters could not be read, before the agents or after them."
    return None


def _was_reset(change: Mapping[str, Any], counters: Counters) -> bool:
    """Tell whether a counter went down, as after a restart of a service."""
    values = map(change.get, counters.nouns)
    return any(isinstance(value, int) and value < 0 for value in values)


def _no_file(swarm: SwarmRecord, probe: str, counters: Counters) -> bool:
    """Tell whether the tool wrote no file, before or after."""
    readings = (swarm.before.get(probe), swarm.after.get(probe))
    return counters.file is not None and readings == (None, None)


def read_counts(swarm: SwarmRecord, probes: Mapping[str, Counters]) -> dict[tuple[str, str], int]:
    """Collect the counters that can be compared, by probe and name."""
    counts = {}
    for probe, counters in probes.items():
        change = swarm.difference.get(probe) or {}
        for name in counters.nouns:
            value = 0 if _no_file(swarm, probe, counters) else change.get(name)
            if isinstance(value, int) and not _was_reset(change, counters):
                counts[probe, name] = value
    return counts

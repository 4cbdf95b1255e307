"""Which counters of a swarm can be compared, and which were lost."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from swarm_bench.core.session.records import SwarmRecord
from swarm_bench.core.treatment.counters import Counters


@dataclass(frozen=True, kw_only=True)
class Counted:
    """What was counted around a swarm."""

    counts: Mapping[tuple[str, str], int]
    about: Mapping[str, Counters]
    external: bool

    @property
    def moved(self) -> list[tuple[str, str]]:
        """The counters that did not stand still."""
        return [key for key, count in self.counts.items() if count]

    def is_anybodys(self, probe: str) -> bool:
        """Whether others may have been counted."""
        return self.external and self.about[probe].shared


def unread(swarm: SwarmRecord, probe: str, about: Counters) -> str | None:
    """Why the transcripts were not compared with all that the probe counts."""
    if _no_file(swarm, probe, about):
        return None
    change = swarm.difference.get(probe) or {}
    if _began_anew(change, about):
        return (
            f"The {probe} counters are lower than before the agents began, so they began anew in "
            "between and cannot be compared."
        )
    needed = set(about.nouns) - set(about.may_lack)
    if not all(isinstance(change.get(name), int) for name in needed):
        return f"The {probe} counters could not be read, before the agents or after them."
    return None


def _began_anew(change: Mapping[str, Any], about: Counters) -> bool:
    """Whether a counter went down, as those of a service do that was started again."""
    counted = map(change.get, about.nouns)
    return any(isinstance(value, int) and value < 0 for value in counted)


def _no_file(swarm: SwarmRecord, probe: str, about: Counters) -> bool:
    """The tool had nothing to write into one."""
    readings = (swarm.before.get(probe), swarm.after.get(probe))
    return about.file is not None and readings == (None, None)


def counts_of(swarm: SwarmRecord, probes: Mapping[str, Counters]) -> dict[tuple[str, str], int]:
    """The counters that can be compared, by probe and name."""
    counts = {}
    for probe, about in probes.items():
        change = swarm.difference.get(probe) or {}
        for name in about.nouns:
            value = 0 if _no_file(swarm, probe, about) else change.get(name)
            if isinstance(value, int) and not _began_anew(change, about):
                counts[probe, name] = value
    return counts

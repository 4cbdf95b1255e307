"""What the headlines of a series' sizes say, size by size."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from swarm_bench.analysis.adherence.treated import Treated
from swarm_bench.analysis.comparison.headline import headline, reasons
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.wording import amount
from swarm_bench.core.report.report import Headline, Standing
from swarm_bench.core.report.series import Sizes

Said = TypeVar("Said")


@dataclass(frozen=True)
class Verdicts:
    """Of sessions by size, the smallest first."""

    selections: Mapping[int, Selection]

    @cached_property
    def _headlines(self) -> dict[int, Headline]:
        return {size: headline(one) for size, one in self.selections.items()}

    def nothing(self) -> dict[str, Sizes]:
        """Why there is no verdict at all, and of which sizes."""
        return _by_what(
            (one.no_verdict, size) for size, one in self._headlines.items() if one.no_verdict
        )

    def standings(self, mode: str) -> dict[Standing, Sizes]:
        """Without what qualifies them, and without those that say nothing then."""
        bare = ((replace(one, qualifications=()), size) for one, size in self._of(mode))
        return _by_what((one, size) for one, size in bare if one.treatment or one.no_verdict)

    def qualifications(self, mode: str) -> dict[str, Sizes]:
        return _by_what((said, size) for one, size in self._of(mode) for said in one.qualifications)

    def barred(self, mode: str) -> Sizes:
        """The sizes of which there is no verdict on the mode."""
        by_itself = {size for one, size in self._of(mode) if one.no_verdict}
        return tuple(
            size for size, one in self._headlines.items() if one.no_verdict or size in by_itself
        )

    def _of(self, mode: str) -> list[tuple[Standing, int]]:
        return [
            (standing, size)
            for size, one in self._headlines.items()
            for standing in one.standings
            if standing.mode == mode
        ]


def left_out(mode: str, selections: Mapping[int, Selection]) -> tuple[str, ...]:
    """`1 at a time: 2 of 4 trials (2 contaminated)`."""
    found = []
    for size, selection in selections.items():
        treated = Treated(selection, mode)
        counts = reasons(treated)
        said = [f"{count} {reason}" for reason, count in counts.items()]
        if said:
            out = f"{sum(counts.values())} of {amount(len(treated.all), 'trial')}"
            found.append(f"{size} at a time: {out} ({', '.join(said)})")
    return tuple(found)


def _by_what(said: Iterable[tuple[Said, int]]) -> dict[Said, Sizes]:
    found = dict[Said, Sizes]()
    for what, size in said:
        found[what] = (*found.get(what, ()), size)
    return found

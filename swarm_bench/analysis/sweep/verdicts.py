"""What the headlines of a series' sizes say, size by size."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from swarm_bench.analysis.adherence.treated import treated_in
from swarm_bench.analysis.caveats.left_out import reasons
from swarm_bench.analysis.comparison.headline import headline
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.wording import amount
from swarm_bench.core.report.report import Headline
from swarm_bench.core.report.series import Sizes
from swarm_bench.core.report.standing import Standing

Subject = TypeVar("Subject")


@dataclass(frozen=True)
class Verdicts:
    """Of sessions by size, the smallest first."""

    selections: Mapping[int, Selection]

    @cached_property
    def _headlines(self) -> dict[int, Headline]:
        return {size: headline(selection) for size, selection in self.selections.items()}

    def nothing(self) -> dict[str, Sizes]:
        """Say why there is no verdict at all, and for which sizes."""
        return _by_what(
            (headline.no_verdict, size)
            for size, headline in self._headlines.items()
            if headline.no_verdict
        )

    def standings(self, mode: str) -> dict[Standing, Sizes]:
        """Return the standings without what qualifies them, and without those that say nothing
        then."""
        bare = ((replace(standing, qualifications=()), size) for standing, size in self._of(mode))
        return _by_what(
            (standing, size)
            for standing, size in bare
            if standing.concluded is not None
            or replace(standing, answer=None) != Standing(mode=mode)
        )

    def qualifications(self, mode: str) -> dict[str, Sizes]:
        return _by_what(
            (qualification, size)
            for standing, size in self._of(mode)
            for qualification in standing.qualifications
        )

    def barred(self, mode: str) -> Sizes:
        """Return the sizes for which there is no verdict on the mode."""
        by_itself = {size for standing, size in self._of(mode) if standing.no_verdict}
        return tuple(
            size
            for size, headline in self._headlines.items()
            if headline.no_verdict or size in by_itself
        )

    def _of(self, mode: str) -> list[tuple[Standing, int]]:
        return [
            (standing, size)
            for size, headline in self._headlines.items()
            for standing in headline.standings
            if standing.mode == mode
        ]


def excluded(mode: str, selections: Mapping[int, Selection]) -> tuple[str, ...]:
    """Say `1 at a time: 2 of 4 trials (2 contaminated)`."""
    sentences = []
    for size, selection in selections.items():
        treated = treated_in(selection, mode)
        counts = reasons(treated)
        listed = [f"{count} {reason}" for reason, count in counts.items()]
        if listed:
            out = f"{sum(counts.values())} of {amount(len(treated.all), 'trial')}"
            sentences.append(f"{size} at a time: {out} ({', '.join(listed)})")
    return tuple(sentences)


def _by_what(subjects: Iterable[tuple[Subject, int]]) -> dict[Subject, Sizes]:
    sizes = dict[Subject, Sizes]()
    for what, size in subjects:
        sizes[what] = (*sizes.get(what, ()), size)
    return sizes

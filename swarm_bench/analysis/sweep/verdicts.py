"""What the headlines of a series' sizes say, size by size."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from swarm_bench.analysis.adherence.treated import get_mode_trials
from swarm_bench.analysis.caveats.left_out import count_reasons
from swarm_bench.analysis.comparison.headline import make_headline
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.wording import quantify
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
        return {size: make_headline(selection) for size, selection in self.selections.items()}

    def explain_nothing(self) -> dict[str, Sizes]:
        """Say why there is no verdict at all, and for which sizes."""
        return _group_sizes(
            (headline.no_verdict, size)
            for size, headline in self._headlines.items()
            if headline.no_verdict
        )

    def list_standings(self, mode: str) -> dict[Standing, Sizes]:
        """Return the standings without what qualifies them, and without those that say nothing
        then."""
        unqualified = (
            (replace(standing, qualifications=()), size)
            for standing, size in self._list_standings(mode)
        )
        return _group_sizes(
            (standing, size)
            for standing, size in unqualified
            if standing.concluded is not None
            or replace(standing, answer=None) != Standing(mode=mode)
        )

    def list_qualifications(self, mode: str) -> dict[str, Sizes]:
        return _group_sizes(
            (qualification, size)
            for standing, size in self._list_standings(mode)
            for qualification in standing.qualifications
        )

    def find_excluded(self, mode: str) -> Sizes:
        """Return the sizes for which there is no verdict on the mode."""
        by_itself = {size for standing, size in self._list_standings(mode) if standing.no_verdict}
        return tuple(
            size
            for size, headline in self._headlines.items()
            if headline.no_verdict or size in by_itself
        )

    def _list_standings(self, mode: str) -> list[tuple[Standing, int]]:
        return [
            (standing, size)
            for size, headline in self._headlines.items()
            for standing in headline.standings
            if standing.mode == mode
        ]


def describe_excluded(mode: str, selections: Mapping[int, Selection]) -> tuple[str, ...]:
    """Say `1 at a time: 2 of 4 trials (2 contaminated)`."""
    sentences = []
    for size, selection in selections.items():
        mode_trials = get_mode_trials(selection, mode)
        counts = count_reasons(mode_trials)
        clauses = [f"{count} {reason}" for reason, count in counts.items()]
        if clauses:
            count_text = f"{sum(counts.values())} of {quantify(len(mode_trials.all), 'trial')}"
            sentences.append(f"{size} at a time: {count_text} ({', '.join(clauses)})")
    return tuple(sentences)


def _group_sizes(subjects: Iterable[tuple[Subject, int]]) -> dict[Subject, Sizes]:
    sizes = dict[Subject, Sizes]()
    for subject, size in subjects:
        sizes[subject] = (*sizes.get(subject, ()), size)
    return sizes

"""Scorers that failed: their scores are missing, and those of the others are there."""

from collections import defaultdict
from collections.abc import Iterator

from swarm_bench.analysis.adherence.treated import Treated
from swarm_bench.analysis.wording import amount, places
from swarm_bench.core.report.standing import Caveat
from swarm_bench.core.session.records import TrialRecord


def failed_scorers(treated: Treated) -> Iterator[Caveat]:
    """Find the scorers that failed on answers of the mode."""
    failed: dict[str, list[TrialRecord]] = defaultdict(list)
    for trial in treated.all:
        for name in trial.score_failures or {}:
            failed[name].append(trial)
    for name, trials in failed.items():
        some = f"{len(trials)} of {amount(len(treated.all), 'trial')}"
        why = (trials[0].score_failures or {})[name]
        yield Caveat(
            qualification=f"the scorer {name} failed in {some}",
            warning=f"{treated.mode}: the scorer {name} failed in {some} "
            f"{places(trials, treated.selection)}, and its scores are missing there. "
            f"The first says: {why}",
        )

"""Scorers that failed: their scores are missing, and those of the others are there."""

from collections import defaultdict
from collections.abc import Iterator

from swarm_bench.analysis.adherence.treated import ModeTrials
from swarm_bench.analysis.wording import format_places, quantify
from swarm_bench.core.report.standing import Caveat
from swarm_bench.core.session.records import TrialRecord


def find_failed_scorers(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Find the scorers that failed on answers of the mode."""
    trials_by_scorer: dict[str, list[TrialRecord]] = defaultdict(list)
    for trial in mode_trials.all:
        for name in trial.score_failures or {}:
            trials_by_scorer[name].append(trial)
    for name, trials in trials_by_scorer.items():
        count_text = f"{len(trials)} of {quantify(len(mode_trials.all), 'trial')}"
        reason = (trials[0].score_failures or {})[name]
        yield Caveat(
            qualification=f"the scorer {name} failed in {count_text}",
            warning=f"{mode_trials.mode}: the scorer {name} failed in {count_text} "
            f"{format_places(trials, mode_trials.selection)}, and its scores are missing there. "
            f"The first says: {reason}",
        )

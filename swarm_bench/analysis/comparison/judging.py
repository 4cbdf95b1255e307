"""What a judge made of the answers of a mode, beside those of the reference."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from swarm_bench.analysis.selection import Selection, counts
from swarm_bench.core.report.judging import Judged, JudgeSpending, Judging
from swarm_bench.core.session.later.verdicts import Side, Verdict
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.status import Cause
from swarm_bench.core.totals import total

Judge = tuple[str, str]
Identity = tuple[str, str | None, int, str | None, int]
"""The mode of a pair, and its two trials."""
Latest = Mapping[tuple[Judge, Identity, Side], Verdict]


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two trials on the same task in the same run."""

    of_mode: TrialRecord
    of_reference: TrialRecord

    @property
    def identity(self) -> Identity:
        mode, other = self.of_mode, self.of_reference
        return mode.mode, mode.trial, mode.attempt, other.trial, other.attempt

    @property
    def answered(self) -> bool:
        """Whether both agents gave an answer, as their modes are meant."""
        trials = (self.of_mode, self.of_reference)
        return all(trial.cause is Cause.FINISHED and counts(trial) for trial in trials)


def pairs(selection: Selection, mode: str) -> tuple[Pair, ...]:
    """Pair the trials of a mode with those of the reference."""
    others = {_position(trial): trial for trial in selection.of(selection.modes[0])}
    return tuple(
        Pair(of_mode=trial, of_reference=others[_position(trial)])
        for trial in selection.of(mode)
        if _position(trial) in others
    )


def _position(trial: TrialRecord) -> tuple[int, int, str]:
    return trial.run, trial.agent, trial.task_key


def judging(selection: Selection) -> Judging | None:
    """Sum up what was stored; `None` when nobody judged."""
    verdicts = selection.data.verdicts
    if not verdicts:
        return None
    latest = {(line.judge, identity(line), line.first): line for line in verdicts}
    judges = sorted({verdict.judge for verdict in verdicts})
    return Judging(
        reference=selection.modes[0],
        modes=tuple(
            _judged(selection, mode, judge, latest)
            for judge in judges
            for mode in selection.modes[1:]
        ),
        spending=tuple(
            _spent(judge, [verdict for verdict in verdicts if verdict.judge == judge])
            for judge in judges
        ),
    )


def identity(verdict: Verdict) -> Identity:
    """Return that of the pair that it is about."""
    return (
        verdict.mode,
        verdict.trial,
        verdict.attempt,
        verdict.reference_trial,
        verdict.reference_attempt,
    )


def _judged(selection: Selection, mode: str, judge: Judge, latest: Latest) -> Judged:
    answered = [pair.identity for pair in pairs(selection, mode) if pair.answered]
    reference = selection.modes[0]
    positions = {_position(trial) for arm in (reference, mode) for trial in selection.of(arm)}
    lines = [_both(latest, judge, of_pair) for of_pair in answered]
    results = Counter(_result(both) for both in lines)
    decided = [both for both in lines if _result(both) in ("win", "tie", "loss")]
    asked = [both for both in decided if all(line.requests for line in both)]
    return Judged(
        mode=mode,
        judge=_named(judge),
        wins=results["win"],
        ties=results["tie"],
        losses=results["loss"],
        unreadable=results["unreadable"],
        unjudged=results["unjudged"],
        unpaired=len(positions) - len(answered),
        same=len(decided) - len(asked),
        agreeing=sum(len({line.winner for line in both}) == 1 for both in asked),
    )


def _both(latest: Latest, judge: Judge, of_pair: Identity) -> tuple[Verdict, ...]:
    """Return the verdicts on a pair, at most one for each order."""
    sides: tuple[Side, Side] = ("mode", "reference")
    lines = (latest.get((judge, of_pair, first)) for first in sides)
    return tuple(line for line in lines if line is not None)


def _result(lines: Sequence[Verdict]) -> str:
    """Return what the verdicts on a pair come to. Where the two orders differ it is a tie, also
    when one of them said so."""
    if len(lines) < 2:
        return "unjudged"
    if any(line.verdict is None for line in lines):
        return "unreadable"
    winners = {line.winner for line in lines}
    if winners == {"mode"}:
        return "win"
    return "loss" if winners == {"reference"} else "tie"


def _spent(judge: Judge, lines: Sequence[Verdict]) -> JudgeSpending:
    def summed(key: str) -> int | float | None:
        return total(value for line in lines if (value := getattr(line, key)) is not None)

    return JudgeSpending(
        judge=_named(judge),
        requests=sum(line.requests for line in lines),
        input_tokens=summed("input_tokens"),
        cache_read=summed("cache_read"),
        output_tokens=summed("output_tokens"),
        cost=summed("cost"),
        without_tokens=sum(line.output_tokens is None for line in lines),
        without_cost=sum(line.cost is None for line in lines),
    )


def _named(judge: Judge) -> str:
    model, url = judge
    return f"{model} at {url}"

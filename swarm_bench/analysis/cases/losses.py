"""Trials of an arm that are not in a figure: lost to a provider or the harness, never run, failed,
or without a value. What is compared without them may be the easier part."""

from collections.abc import Collection
from dataclasses import dataclass

from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.concerns.losses import FEWEST, TELLING, differ
from swarm_bench.analysis.wording import amount
from swarm_bench.core.metric import Metric
from swarm_bench.core.session.cases import CaseRecord
from swarm_bench.core.status import Status


@dataclass(frozen=True, kw_only=True)
class Losses:
    """How much of an arm a figure omits."""

    who: str
    """The arm, as a sentence names it."""
    lost: int
    planned: int
    """Trials that could be in it."""

    def __str__(self) -> str:
        """Say `3 of 60 trials of qwen`."""
        return f"{self.lost} of {amount(self.planned, 'trial')} of {self.who}"


def lost(
    session: CaseSession,
    arm: str,
    metric: Metric,
    cases: Collection[str] | None = None,
    who: str = "",
) -> Losses:
    """Count what the figure of an arm omits, in all cases or in some. A trial that ended by itself
    in a case where no arm has a value is none of it: there was nothing to measure."""
    asked = {case.id for case in session.experiment.cases if cases is None or case.id in cases}
    sides = {side: session.values(side, metric) for side in session.experiment.arms}
    measured = {case for values in sides.values() for case, some in values.items() if some}
    nothing = asked - measured
    records = [it for it in session.records if it.arm == arm and it.case in nothing]
    empty = sum(it.status is Status.COMPLETED for it in records)
    inside = sum(len(some) for case, some in sides[arm].items() if case in asked)
    planned = len(asked) * session.experiment.runs - empty
    return Losses(who=who or arm, lost=planned - inside, planned=planned)


def omitted(*sides: Losses) -> str:
    """Count the trials that are not in a figure; empty where all are."""
    if not any(side.lost for side in sides):
        return ""
    verb = "is" if len(sides) == sides[0].lost == 1 else "are"
    return f"{' and '.join(map(str, sides))} {verb} not in it."


def uneven(own: Losses, reference: Losses) -> bool:
    """Tell whether two arms lost such different shares that this could make up a difference."""
    return differ((own.lost, own.planned), (reference.lost, reference.planned))


def too_many(own: Losses) -> bool:
    """Tell whether an arm lost so much that its own figure says little."""
    return own.lost >= FEWEST and own.lost >= TELLING * own.planned


def unfinished(records: Collection[CaseRecord]) -> int:
    """Count the records of trials that did not come to an end of their own."""
    return sum(not record.conclusive for record in records)

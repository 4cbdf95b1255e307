"""What stands against the figures of an arm in any benchmark of cases. It is decided once, for
headline, gate, diff and exports."""

from collections.abc import Iterator

from swarm_bench.analysis.cases.beforehand import edited
from swarm_bench.analysis.cases.session import ArmKind, CaseSession
from swarm_bench.analysis.caveats.afterwards import by_hand
from swarm_bench.analysis.wording import amount
from swarm_bench.core.report.standing import Caveat
from swarm_bench.core.status import CONSEQUENCES, Cause, Status


def changed(session: CaseSession, _arm: str) -> Iterator[Caveat]:
    """Find records, or an experiment, that are not as they were written; warnings name them."""
    if session.changed:
        yield Caveat(qualification="records were changed after they were written", is_void=True)
    yield from by_hand(edited(session.experiment))


def ended(session: CaseSession, arm: str) -> Iterator[Caveat]:
    """Find trials without an answer, by cause. An arm without a single one was not measured."""
    records = session.records_of(arm)
    failed = [record for record in records if record.status is not Status.COMPLETED]
    measured = {record.cause for record in records if record.conclusive}
    for cause in dict.fromkeys(record.cause for record in failed):
        of_cause = [record for record in failed if record.cause is cause]
        detail = next((record.detail for record in of_cause if record.detail), None)
        some = f"{len(of_cause)} of {amount(len(records), 'trial')}"
        ends = f"{some} {CONSEQUENCES[cause].of(len(of_cause))}"
        yield Caveat(
            qualification=ends,
            warning=f"{arm}: {ends}." + (f" The first says: {detail}" if detail else ""),
            is_void=cause in measured and Cause.FINISHED not in measured,
        )


def failed_scorers(session: CaseSession, arm: str) -> Iterator[Caveat]:
    """Find scorers that failed on answers of the arm."""
    failures = [it.score_failures for it in session.records_of(arm) if it.score_failures]
    for name in dict.fromkeys(name for failure in failures for name in failure):
        reasons = [failure[name] for failure in failures if name in failure]
        some = f"the scorer {name} failed on {amount(len(reasons), 'answer')}"
        yield Caveat(
            qualification=some,
            warning=f"{arm}: {some}, whose scores are missing. The first says: {reasons[0]}",
        )


def not_run(session: CaseSession, arm: str) -> Iterator[Caveat]:
    """Count planned trials that have no record."""
    planned = len(session.experiment.cases) * session.experiment.count_runs(arm)
    if (absent := planned - len(session.records_of(arm))) > 0:
        some = f"{absent} of {amount(planned, 'planned trial')}"
        yield Caveat(
            qualification=f"no record of {some}",
            warning=f"{arm}: there is no record of {some}; --continue runs them.",
        )


GRAVEST: tuple[ArmKind, ...] = (changed, ended)
KINDS: tuple[ArmKind, ...] = (*GRAVEST, failed_scorers, not_run)
"""The gravest first."""

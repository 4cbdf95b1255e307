"""What stands against the figures of an arm in any benchmark of cases. It is decided once, for
headline, gate, diff and exports."""

from collections.abc import Iterator

from swarm_bench.analysis.cases.beforehand import warn_edited
from swarm_bench.analysis.cases.session import ArmKind, CaseSession
from swarm_bench.analysis.caveats.afterwards import make_edit_caveats
from swarm_bench.analysis.wording import quantify
from swarm_bench.core.report.standing import Caveat
from swarm_bench.core.status import CONSEQUENCES, Cause, Status


def find_changed_records(session: CaseSession, _arm: str) -> Iterator[Caveat]:
    """Find records, or an experiment, that are not as they were written; warnings name them."""
    if session.changed:
        yield Caveat(qualification="records were changed after they were written", is_void=True)
    yield from make_edit_caveats(warn_edited(session.experiment))


def find_failed_trials(session: CaseSession, arm: str) -> Iterator[Caveat]:
    """Find trials without an answer, by cause. An arm without a single one was not measured."""
    records = session.list_records(arm)
    failed = [record for record in records if record.status is not Status.COMPLETED]
    conclusive_causes = {record.cause for record in records if record.conclusive}
    for cause in dict.fromkeys(record.cause for record in failed):
        of_cause = [record for record in failed if record.cause is cause]
        detail = next((record.detail for record in of_cause if record.detail), None)
        count_text = f"{len(of_cause)} of {quantify(len(records), 'trial')}"
        clause = f"{count_text} {CONSEQUENCES[cause].of(len(of_cause))}"
        yield Caveat(
            qualification=clause,
            warning=f"{arm}: {clause}." + (f" The first says: {detail}" if detail else ""),
            is_void=cause in conclusive_causes and Cause.FINISHED not in conclusive_causes,
        )


def find_failed_scorers(session: CaseSession, arm: str) -> Iterator[Caveat]:
    """Find scorers that failed on answers of the arm."""
    failures = [
        record.score_failures for record in session.list_records(arm) if record.score_failures
    ]
    for name in dict.fromkeys(name for failure in failures for name in failure):
        reasons = [failure[name] for failure in failures if name in failure]
        clause = f"the scorer {name} failed on {quantify(len(reasons), 'answer')}"
        yield Caveat(
            qualification=clause,
            warning=f"{arm}: {clause}, whose scores are missing. The first says: {reasons[0]}",
        )


def find_not_run(session: CaseSession, arm: str) -> Iterator[Caveat]:
    """Count planned trials that have no record."""
    planned = len(session.experiment.cases) * session.experiment.count_runs(arm)
    if (absent := planned - len(session.list_records(arm))) > 0:
        count_text = f"{absent} of {quantify(planned, 'planned trial')}"
        yield Caveat(
            qualification=f"no record of {count_text}",
            warning=f"{arm}: there is no record of {count_text}; --continue runs them.",
        )


GRAVEST: tuple[ArmKind, ...] = (find_changed_records, find_failed_trials)
KINDS: tuple[ArmKind, ...] = (*GRAVEST, find_failed_scorers, find_not_run)
"""The gravest first."""

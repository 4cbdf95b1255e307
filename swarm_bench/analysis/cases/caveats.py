"""What stands against the figures of an arm in a benchmark of cases. It is decided once, for
headline, gate, diff and exports."""

from collections.abc import Callable, Iterator
from shlex import quote

from swarm_bench.analysis.cases.answered import OF_ANSWERS, counted, records_of
from swarm_bench.analysis.cases.asked import answers_of, omitted_parts
from swarm_bench.analysis.cases.beforehand import edited
from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.caveats.afterwards import by_hand
from swarm_bench.analysis.caveats.clones import had_keys, with_keys
from swarm_bench.analysis.once import once
from swarm_bench.analysis.retrieve.caveats import of_searches
from swarm_bench.analysis.retrieve.figures import Answers
from swarm_bench.analysis.wording import amount, joined, lowered
from swarm_bench.core.report.standing import Caveat, void_clauses
from swarm_bench.core.session.experiment import REHEARSAL
from swarm_bench.core.session.models import ModelExperiment, ModelRecord
from swarm_bench.core.session.retrieving import RetrieveExperiment
from swarm_bench.core.status import CONSEQUENCES, Cause, Status

ArmKind = Callable[[CaseSession, str], Iterator[Caveat]]
"""Looks for one kind of caveat in an arm."""


@once
def arm_caveats(session: CaseSession, arm: str) -> tuple[Caveat, ...]:
    """Collect what stands against believing the figures of an arm."""
    return tuple(caveat for kind in ARM_KINDS for caveat in kind(session, arm))


def no_arm_evidence(session: CaseSession, arm: str, reference: str | None = None) -> str:
    """Say why nothing can be concluded from the figures of an arm, or from those of the reference
    that it is held against; empty where something can."""
    return void_clauses({side: arm_caveats(session, side) for side in (arm, reference or arm)})


def changed(session: CaseSession, _arm: str) -> Iterator[Caveat]:
    """Find records, or an experiment, that are not as they were written; warnings name them."""
    if session.changed:
        yield Caveat(qualification="records were changed after they were written", is_void=True)
    yield from by_hand(edited(session.experiment))


def ended(session: CaseSession, arm: str) -> Iterator[Caveat]:
    """Find trials without an answer, by cause. An arm without a single one was not measured."""
    records = records_of(session, arm)
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


def rehearsed(session: CaseSession, arm: str) -> Iterator[Caveat]:
    """Find an agent that asked no model: fixed rules answered, of whose answers nothing follows."""
    experiment = session.experiment
    if not isinstance(experiment, ModelExperiment):
        return
    is_agent = experiment.arm(arm).model.startswith("agent:")
    if is_agent and any(
        record.model == REHEARSAL for record in answers_of(records_of(session, arm))
    ):
        yield Caveat(qualification="it is a rehearsal, in which no model was asked", is_void=True)


def of_earlier_versions(session: CaseSession, arm: str) -> Iterator[Caveat]:
    """Find trials that the version which ran them counted as wrong answers, and that are none."""
    records = [record for record in records_of(session, arm) if isinstance(record, ModelRecord)]
    if again := [record for record in records if record.earlier_cause is not None]:
        was = "was" if len(again) == 1 else "were"
        clause = (
            f"{len(again)} of {amount(len(records), 'trial')} {was} counted as wrong when the "
            "session was run, and are missing now: the server failed, and not the model"
        )
        yield Caveat(qualification=clause, warning=f"{arm}: {clause}; --continue runs them again.")


def scored_by_rules(session: CaseSession, _arm: str) -> Iterator[Caveat]:
    """Find scores of an earlier version, whose rules are others. Together with those of this one
    they show nothing."""
    if session.rules <= {session.rules_now}:
        return
    several = len(session.rules) > 1
    of = "some answers were" if several else "the answers were"
    clause = f"{of} scored by the rules of another version of swarm-bench"
    yield Caveat(qualification=clause, is_void=several)


def scored_by_others(session: CaseSession) -> Iterator[str]:
    """Count the answers that were scored so."""
    records = [it for it in session.records if isinstance(it, ModelRecord)]
    scored = [it.scored_by for it in records if it.scored_by is not None]
    if others := sum(number != session.rules_now for number in scored):
        yield (
            f"{others} of {amount(len(scored), 'answer')} {'was' if others == 1 else 'were'} "
            "scored by the rules of another version of swarm-bench; swarm-bench rescore "
            f"{quote(session.folder)} scores all of them by those of this one."
        )


def understated(session: CaseSession, arm: str) -> Iterator[Caveat]:
    """Find answers whose server states fewer tokens than their text has."""
    records = [record for record in records_of(session, arm) if isinstance(record, ModelRecord)]
    fewer = [record for record in records if record.understated]
    if fewer:
        names = joined(sorted({name for record in fewer for name in record.understated}))
        clause = (
            f"its server states fewer {names} tokens than the text has in {len(fewer)} of "
            f"{amount(len(records), 'trial')}, where they and the cost are missing"
        )
        yield Caveat(
            qualification=clause,
            warning=f"{arm}: {clause}; --max-cost counts what the text can cost at most.",
        )


def contaminated(session: CaseSession, arm: str) -> Iterator[Caveat]:
    """Find answers of agents that have read those of the data set, as far as they show it."""
    records = [record for record in records_of(session, arm) if isinstance(record, ModelRecord)]
    if some := [record for record in records if record.answers_read]:
        counts = "counts" if len(some) == 1 else "count"
        clause = (
            f"{len(some)} of {amount(len(records), 'trial')} contaminated, and {counts} as wrong, "
            "since the agent named what holds the answers"
        )
        first = some[0].answers_read[0]
        yield Caveat(qualification=clause, warning=f"{arm}: {clause}. The first: {first}")


def failed_scorers(session: CaseSession, arm: str) -> Iterator[Caveat]:
    """Find scorers that failed on answers of the arm."""
    failures = [it.score_failures for it in records_of(session, arm) if it.score_failures]
    for name in dict.fromkeys(name for failure in failures for name in failure):
        reasons = [failure[name] for failure in failures if name in failure]
        some = f"the scorer {name} failed on {amount(len(reasons), 'answer')}"
        yield Caveat(
            qualification=some,
            warning=f"{arm}: {some}, whose scores are missing. The first says: {reasons[0]}",
        )


def asked_otherwise(session: CaseSession, arm: str) -> Iterator[Caveat]:
    """Find requests from which parts were omitted."""
    for clause in omitted_parts(records_of(session, arm)):
        yield Caveat(qualification=clause, warning=f"{arm}: {clause}.")


def not_run(session: CaseSession, arm: str) -> Iterator[Caveat]:
    """Count planned trials that have no record."""
    planned = len(session.experiment.cases) * session.experiment.runs_of(arm)
    if (absent := planned - len(records_of(session, arm))) > 0:
        some = f"{absent} of {amount(planned, 'planned trial')}"
        yield Caveat(
            qualification=f"no record of {some}",
            warning=f"{arm}: there is no record of {some}; --continue runs them.",
        )


def held_keys(session: CaseSession, arm: str) -> Iterator[Caveat]:
    """Find searches in workspaces that had files with answer keys."""
    if not isinstance(session.experiment, RetrieveExperiment):
        return
    repository, records = session.experiment.repository, records_of(session, arm)
    exposed = [record for record in records if had_keys(repository, record.started_at)]
    if exposed:
        what = with_keys(repository, len(exposed), len(records))
        yield Caveat(qualification=what, warning=f"{arm}: {what}; a new session has none.")


def searched(session: CaseSession, arm: str) -> Iterator[Caveat]:
    """Find searches whose answers say nothing."""
    if isinstance(session.experiment, RetrieveExperiment):
        yield from of_searches(Answers(session), arm)


def unjudged(session: CaseSession, arm: str) -> Iterator[Caveat]:
    """Find answers about which the judge did not want to say anything, or nothing that can be
    read. Those that it will be asked about again have ended so."""
    records = [record for record in records_of(session, arm) if isinstance(record, ModelRecord)]
    asked = [record for record in records if record.judge_requests and record.conclusive]
    if failed := sum(bool(it.judge_failed) for it in asked):
        clause = f"the judge gave no answer about {counted(failed, asked)}"
        yield Caveat(qualification=clause, warning=f"{arm}: {clause}.")
    heard = [record for record in asked if record.scores and not record.judge_failed]
    for metric in session.metrics:
        if metric.judged and metric.read:
            unread = sum(metric.read(record) is None for record in heard)
            if unread:
                clause = (
                    f"{lowered(metric.title)} cannot be read in what the judge said about "
                    f"{counted(unread, heard)}"
                )
                yield Caveat(qualification=clause, warning=f"{arm}: {clause}.")


def asked_alike(session: CaseSession, arm: str) -> Iterator[Caveat]:
    """Find arms that ask their model the same as the ones that they are held against, as a prompt
    does that is for none of the cases."""
    experiment, reference = session.experiment, session.references.get(arm)
    if reference is None or not isinstance(experiment, ModelExperiment):
        return
    requests = [
        {
            it.case: it.prompt_sha256
            for it in records_of(session, name)
            if isinstance(it, ModelRecord)
        }
        for name in (arm, reference)
    ]
    one_model = experiment.arm(arm).model == experiment.arm(reference).model
    if one_model and requests[0] == requests[1] and any(requests[0].values()):
        clause = f"its requests are those of {reference}, word for word"
        yield Caveat(qualification=clause, warning=f"{arm}: {clause}.")


ARM_KINDS: tuple[ArmKind, ...] = (
    changed,
    ended,
    rehearsed,
    contaminated,
    of_earlier_versions,
    scored_by_rules,
    *OF_ANSWERS,
    failed_scorers,
    unjudged,
    asked_alike,
    asked_otherwise,
    understated,
    not_run,
    held_keys,
    searched,
)
"""The gravest first."""

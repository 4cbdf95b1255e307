"""What stands against the figures of a model: what its answers say, and how it was asked."""

from collections.abc import Iterator, Sequence

from swarm_bench.analysis.cases.caveats import GRAVEST, failed_scorers, not_run
from swarm_bench.analysis.cases.models import ModelSession
from swarm_bench.analysis.cases.session import ArmKind
from swarm_bench.analysis.wording import amount, joined, lowered
from swarm_bench.core.report.standing import Caveat
from swarm_bench.core.session.cases import LONGEST_ANSWER
from swarm_bench.core.session.experiment import REHEARSAL
from swarm_bench.core.session.models import ModelRecord

REFERENCE = "reference"
"""The model that gives the answers of the data set."""


def answered_elsewhere(session: ModelSession, arm: str) -> Iterator[Caveat]:
    """Find answers that are empty, since their text is elsewhere: in another field, or in thoughts
    without an end. An arm that has no others was not measured."""
    answers = session.answers_of(arm)
    empty = [record for record in answers if record.elsewhere]
    if not empty:
        return
    some = f"{_counted(len(empty), answers)} {'was' if len(empty) == 1 else 'were'}"
    fields = joined(sorted({str(record.elsewhere) for record in empty}))
    clause = f"{some} empty: the text is in {fields}"
    yield Caveat(
        qualification=clause,
        warning=f"{arm}: {clause}; see how it parses thoughts and calls, or allow more tokens.",
        is_void=len(empty) == len(answers),
    )


def answered_nothing(session: ModelSession, arm: str) -> Iterator[Caveat]:
    """Find answers that are empty and count as they are: nobody says that the model did not end
    them."""
    answers = session.answers_of(arm)
    empty = sum(is_empty(record) and not record.elsewhere for record in answers)
    if empty:
        clause = f"{_counted(empty, answers)} {'was' if empty == 1 else 'were'} empty"
        yield Caveat(qualification=clause, warning=f"{arm}: {clause}, and counted as they are.")


def ended_for_no_reason(session: ModelSession, arm: str) -> Iterator[Caveat]:
    """Find answers of which nobody knows whether they are whole. Those of a file are."""
    answers = session.answers_of(arm)
    if unsaid := sum(not (record.finish or record.whole) for record in answers):
        clause = f"its server did not say why the answer ended in {_counted(unsaid, answers)}"
        yield Caveat(qualification=clause, warning=f"{arm}: {clause}, which may be cut.")


def cut(session: ModelSession, arm: str) -> Iterator[Caveat]:
    """Find answers of which only the beginning is stored and scored."""
    answers = session.answers_of(arm)
    long = sum(len(record.answer or "") >= LONGEST_ANSWER for record in answers)
    if long:
        clause = f"{_counted(long, answers)} {'was' if long == 1 else 'were'} cut"
        warning = f"{arm}: {clause}: what follows {LONGEST_ANSWER:,} characters is not scored."
        yield Caveat(qualification=clause, warning=warning)


def wrong_reference(session: ModelSession, arm: str) -> Iterator[Caveat]:
    """Find answers of the data set that do not pass: other figures show nothing of those cases."""
    if session.experiment.arm(arm).model != REFERENCE:
        return
    answers = session.answers_of(arm)
    wrong = [it for it in answers if it.scores and it.scores.get("passed") is False]
    if wrong:
        clause = (
            f"{_counted(len(wrong), answers)} of the data set {'does' if len(wrong) == 1 else 'do'}"
        )
        yield Caveat(
            qualification=f"{clause} not pass",
            warning=f"{arm}: {clause} not pass: rows or the environment are broken. Of tests that "
            "ran, their records have what was printed (scores, output).",
        )


def rehearsed(session: ModelSession, arm: str) -> Iterator[Caveat]:
    """Find an agent that asked no model: fixed rules answered, of whose answers nothing follows."""
    is_agent = session.experiment.arm(arm).model.startswith("agent:")
    if is_agent and any(record.model == REHEARSAL for record in session.answers_of(arm)):
        yield Caveat(qualification="it is a rehearsal, in which no model was asked", is_void=True)


def contaminated(session: ModelSession, arm: str) -> Iterator[Caveat]:
    """Find answers of agents that have read those of the data set, as far as they show it."""
    records = session.records_of(arm)
    if some := [record for record in records if record.answers_read]:
        counts = "counts" if len(some) == 1 else "count"
        clause = (
            f"{len(some)} of {amount(len(records), 'trial')} contaminated, and {counts} as wrong, "
            "since the agent named what holds the answers"
        )
        first = some[0].answers_read[0]
        yield Caveat(qualification=clause, warning=f"{arm}: {clause}. The first: {first}")


def of_earlier_versions(session: ModelSession, arm: str) -> Iterator[Caveat]:
    """Find trials that the version which ran them counted as wrong answers, and that are none."""
    records = session.records_of(arm)
    if again := [record for record in records if record.earlier_cause is not None]:
        was = "was" if len(again) == 1 else "were"
        clause = (
            f"{len(again)} of {amount(len(records), 'trial')} {was} counted as wrong when the "
            "session was run, and are missing now: the server failed, and not the model"
        )
        yield Caveat(qualification=clause, warning=f"{arm}: {clause}; --continue runs them again.")


def scored_by_rules(session: ModelSession, _arm: str) -> Iterator[Caveat]:
    """Find scores of an earlier version, whose rules are others. Together with those of this one
    they show nothing."""
    if session.rules <= {session.rules_now}:
        return
    several = len(session.rules) > 1
    of = "some answers were" if several else "the answers were"
    clause = f"{of} scored by the rules of another version of swarm-bench"
    yield Caveat(qualification=clause, is_void=several)


def unjudged(session: ModelSession, arm: str) -> Iterator[Caveat]:
    """Find answers about which the judge did not want to say anything, or nothing that can be
    read. Those that it will be asked about again have ended so."""
    records = session.records_of(arm)
    asked = [record for record in records if record.judge_requests and record.conclusive]
    if failed := sum(bool(it.judge_failed) for it in asked):
        clause = f"the judge gave no answer about {_counted(failed, asked)}"
        yield Caveat(qualification=clause, warning=f"{arm}: {clause}.")
    heard = [record for record in asked if record.scores and not record.judge_failed]
    for metric in session.metrics:
        if metric.judged and metric.read:
            unread = sum(metric.read(record) is None for record in heard)
            if unread:
                clause = (
                    f"{lowered(metric.title)} cannot be read in what the judge said about "
                    f"{_counted(unread, heard)}"
                )
                yield Caveat(qualification=clause, warning=f"{arm}: {clause}.")


def asked_alike(session: ModelSession, arm: str) -> Iterator[Caveat]:
    """Find arms that ask their model the same as the ones that they are held against, as a prompt
    does that is for none of the cases."""
    experiment, reference = session.experiment, session.references.get(arm)
    if reference is None:
        return
    requests = [
        {it.case: it.prompt_sha256 for it in session.records_of(name)} for name in (arm, reference)
    ]
    one_model = experiment.arm(arm).model == experiment.arm(reference).model
    if one_model and requests[0] == requests[1] and any(requests[0].values()):
        clause = f"its requests are those of {reference}, word for word"
        yield Caveat(qualification=clause, warning=f"{arm}: {clause}.")


def asked_otherwise(session: ModelSession, arm: str) -> Iterator[Caveat]:
    """Find requests of which a provider refuses parts: an arm may differ in nothing else."""
    records = session.records_of(arm)
    if names := sorted({name for record in records for name in record.omitted}):
        number = sum(bool(record.omitted) for record in records)
        clause = (
            f"its provider refuses {', '.join(names)}, without which "
            f"{amount(number, 'request')} of {len(records)} were sent"
        )
        yield Caveat(qualification=clause, warning=f"{arm}: {clause}.")


def understated(session: ModelSession, arm: str) -> Iterator[Caveat]:
    """Find answers whose server states fewer tokens than their text has."""
    records = session.records_of(arm)
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


KINDS: tuple[ArmKind, ...] = (
    *GRAVEST,
    rehearsed,
    contaminated,
    of_earlier_versions,
    scored_by_rules,
    wrong_reference,
    answered_elsewhere,
    answered_nothing,
    cut,
    ended_for_no_reason,
    failed_scorers,
    unjudged,
    asked_alike,
    asked_otherwise,
    understated,
    not_run,
)
"""The gravest first."""


def _counted(number: int, answers: Sequence[ModelRecord]) -> str:
    """Say how many of the answers."""
    return f"{number} of {amount(len(answers), 'answer')}"


def is_empty(record: ModelRecord) -> bool:
    """Tell whether the answer of a server is empty, wherever it put its text."""
    blank = record.answer is not None and not record.answer.strip()
    return bool(record.elsewhere) or (blank and not record.whole)

"""What the texts of answers say against the figures of an arm."""

from collections.abc import Callable, Iterator, Sequence

from swarm_bench.analysis.cases.asked import answers_of, is_empty
from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.wording import amount, joined
from swarm_bench.core.report.standing import Caveat
from swarm_bench.core.session.cases import LONGEST_ANSWER, CaseRecord
from swarm_bench.core.session.models import ModelExperiment

REFERENCE = "reference"
"""The model that gives the answers of the data set."""


def answered_elsewhere(session: CaseSession, arm: str) -> Iterator[Caveat]:
    """Find answers that are empty, since their text is elsewhere: in another field, or in thoughts
    without an end. An arm that has no others was not measured."""
    answers = answers_of(records_of(session, arm))
    empty = [record for record in answers if record.elsewhere]
    if not empty:
        return
    some = f"{counted(len(empty), answers)} {'was' if len(empty) == 1 else 'were'}"
    fields = joined(sorted({str(record.elsewhere) for record in empty}))
    clause = f"{some} empty: the text is in {fields}"
    yield Caveat(
        qualification=clause,
        warning=f"{arm}: {clause}; see how it parses thoughts and calls, or allow more tokens.",
        is_void=len(empty) == len(answers),
    )


def answered_nothing(session: CaseSession, arm: str) -> Iterator[Caveat]:
    """Find answers that are empty and count as they are: nobody says that the model did not end
    them."""
    answers = answers_of(records_of(session, arm))
    empty = sum(is_empty(record) and not record.elsewhere for record in answers)
    if empty:
        clause = f"{counted(empty, answers)} {'was' if empty == 1 else 'were'} empty"
        yield Caveat(qualification=clause, warning=f"{arm}: {clause}, and counted as they are.")


def ended_for_no_reason(session: CaseSession, arm: str) -> Iterator[Caveat]:
    """Find answers of which nobody knows whether they are whole. Those of a file are."""
    answers = answers_of(records_of(session, arm))
    if unsaid := sum(not (record.finish or record.whole) for record in answers):
        clause = f"its server did not say why the answer ended in {counted(unsaid, answers)}"
        yield Caveat(qualification=clause, warning=f"{arm}: {clause}, which may be cut.")


def cut(session: CaseSession, arm: str) -> Iterator[Caveat]:
    """Find answers of which only the beginning is stored and scored."""
    answers = answers_of(records_of(session, arm))
    long = sum(len(record.answer or "") >= LONGEST_ANSWER for record in answers)
    if long:
        clause = f"{counted(long, answers)} {'was' if long == 1 else 'were'} cut"
        warning = f"{arm}: {clause}: what follows {LONGEST_ANSWER:,} characters is not scored."
        yield Caveat(qualification=clause, warning=warning)


def wrong_reference(session: CaseSession, arm: str) -> Iterator[Caveat]:
    """Find answers of the data set that do not pass: other figures show nothing of those cases."""
    experiment = session.experiment
    if not isinstance(experiment, ModelExperiment) or experiment.arm(arm).model != REFERENCE:
        return
    answers = answers_of(records_of(session, arm))
    wrong = [it for it in answers if it.scores and it.scores.get("passed") is False]
    if wrong:
        clause = (
            f"{counted(len(wrong), answers)} of the data set {'does' if len(wrong) == 1 else 'do'}"
        )
        yield Caveat(
            qualification=f"{clause} not pass",
            warning=f"{arm}: {clause} not pass: rows or the environment are broken. Of tests that "
            "ran, their records have what was printed (scores, output).",
        )


OF_ANSWERS: tuple[Callable[[CaseSession, str], Iterator[Caveat]], ...] = (
    wrong_reference,
    answered_elsewhere,
    answered_nothing,
    cut,
    ended_for_no_reason,
)
"""The gravest first."""


def counted(number: int, answers: Sequence[CaseRecord]) -> str:
    """Say how many of the answers."""
    return f"{number} of {amount(len(answers), 'answer')}"


def records_of(session: CaseSession, arm: str) -> list[CaseRecord]:
    """Return the records of an arm."""
    return [record for record in session.records if record.arm == arm]

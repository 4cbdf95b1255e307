"""What the summary of `retrieve` says first: each mode against the plain search, and who was
silent."""

from collections.abc import Iterator

from swarm_bench.analysis.retrieve.figures import Answers, Difference, values
from swarm_bench.analysis.wording import amount
from swarm_bench.core.report.document import Span, Text
from swarm_bench.core.session.retrieving import PLAIN, Form, figures_of

MAIN = "recall_5"
"""The figure that modes are compared by."""
ASKED: dict[Form, str] = {"sentence": "in sentences", "keywords": "in keywords"}


def headline(answers: Answers) -> Iterator[Text]:
    """Say of each mode what it found, and whether that is more than the plain search finds."""
    arms = answers.experiment.arms
    for arm in arms:
        clauses = [
            f"{ASKED[form]}{_clause(answers, arm, form)}"
            for form in answers.forms
            if answers.mean(answers.of(arm, form), MAIN) is not None
        ]
        sentence = "; ".join(clauses) or "no answer was measured"
        yield Span(text=arm, strong=True), f": {sentence}."
    if PLAIN not in arms:
        yield (
            f"{PLAIN} is not among the modes, so nothing shows whether a plain search finds as "
            f"much; add it with --continue and --modes."
        )


def _clause(answers: Answers, arm: str, form: Form) -> str:
    """Say what a mode found in one form of the questions, and whether it beats the plain search."""
    records = answers.of(arm, form)
    compared = None if arm == PLAIN else answers.difference(arm, PLAIN, MAIN, form)
    failed = sum(values(records, "failed"))
    beside = f", and {failed:g} of {amount(len(records), 'call')} failed" if failed else ""
    if compared is None:
        return f" recall@5 {answers.mean(records, MAIN):.2f}{beside}"
    return f" it {_verdict(compared)}{beside}"


def _verdict(compared: Difference) -> str:
    """Say whether a mode beats the plain search."""
    if compared.low is None or compared.high is None or compared.low <= 0 <= compared.high:
        verdict = f"is not shown to find more than {PLAIN}"
        if compared.mean > 0:
            verdict = f"may find more than {PLAIN}, or not"
    elif compared.mean < 0:
        verdict = f"finds less than {PLAIN}"
    else:
        verdict = f"finds more than {PLAIN}"
    ends = (
        f", 95 % interval {compared.low:+.2f} to {compared.high:+.2f}"
        if compared.low is not None and compared.high is not None
        else ""
    )
    return (
        f"{verdict}, recall@5 {compared.own:.2f} against {compared.other:.2f} over "
        f"{amount(compared.tasks, 'task')} ({compared.mean:+.2f}{ends})"
    )


def silent(answers: Answers) -> Iterator[str]:
    """Say which modes did not answer, and how that begins: they may have been asked wrongly."""
    for arm in answers.experiment.arms:
        for form in answers.forms:
            records = answers.of(arm, form)
            failed = [record for record in records if figures_of(record, "failed")]
            if failed:
                detail = " ".join((failed[0].answer or "").split())
                yield (
                    f"{arm}: {len(failed)} of {amount(len(records), 'call')} {ASKED[form]} failed "
                    f"and found nothing. The first says: {detail}"
                )
            elif records and all(figures_of(record, "empty") for record in records):
                yield (
                    f"{arm}: no answer to {amount(len(records), 'question')} {ASKED[form]} names "
                    "a file of the repository. See in metrics.jsonl whether the tool found nothing "
                    "or its mode file asks or reads it wrongly."
                )

"""The verdict on an arm in one line: what it did, beside its reference, how sure that is, and what
comes next."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from swarm_bench.analysis.sentences.contrast import (
    Contrast,
    describe_sides,
    describe_sureness,
    make_effect,
)
from swarm_bench.analysis.statistics.pairing import LEAST_PAIRED
from swarm_bench.analysis.wording import make_sentence, quantify
from swarm_bench.core.report.document import Answer, Tone

CANNOT_TELL = ": cannot tell yet"
NO_VERDICT = ": no verdict"
IS_REFERENCE = " is the reference"
UNCHANGED = " is unchanged in B"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What was found out about an arm, for its line."""

    subject: str
    reference: str
    claim: str
    tone: Tone | None = None
    main: Contrast | None = None
    """The figures of the line; `None` where none decided."""
    first: str = ""
    """Text before them: `used 30 % fewer tokens but`."""
    sure: str = ""
    """Clause on how sure it is, where that is not of its figures alone."""
    addition: str = ""
    """Text on the other figure: `, with answers as good`."""
    but: str = ""
    """Reason why the figures do not count, in the place of how sure they are."""
    explanation: str = ""
    """A sentence in the place of figures."""


def make_answer(finding: Finding) -> Answer:
    """Make the answer, with nothing but its line."""
    return Answer(
        subject=finding.subject,
        claim=finding.claim,
        tone=finding.tone,
        figures=_write_figures(finding),
        effect=make_effect(finding.main) if finding.main else None,
    )


def add_comparison(answer: Answer, reference: str, contrast: Contrast, but: str) -> Answer:
    """Add the figures of an arm beside its reference."""
    finding = Finding(
        subject=answer.subject, claim=answer.claim, reference=reference, main=contrast, but=but
    )
    return replace(answer, figures=_write_figures(finding), effect=make_effect(contrast))


def add_reasons(answer: Answer, reasons: Iterable[str]) -> Answer:
    """Add why there is none: the gravest in the line, the other clauses below it."""
    first, *others_below = map(make_sentence, filter(None, reasons))
    return replace(answer, figures=first, evidence=" ".join(others_below))


def answer_not_compared(subject: str, reason: str) -> Answer:
    """Answer that two sessions tell nothing of an arm; `reason` is a sentence."""
    return Answer(subject=subject, claim=": not compared", tone=Tone.OPEN, figures=reason)


def explain_too_few_compared(
    total: int, available: int, case: str, state: str = "measured on both sides"
) -> str:
    """Say in a sentence that too few cases have the figure."""
    number = f"Only {available}" if available else "None"
    verb = "were" if available > 1 else "was"
    return (
        f"{number} of {quantify(total, case)} {verb} {state}, where "
        f"{LEAST_PAIRED * 100:.0f} % are needed."
    )


def _write_figures(finding: Finding) -> str:
    if finding.main is None:
        return finding.explanation
    opening = f"It {finding.first} " if finding.first else "It "
    text = f"{opening}{describe_sides(finding.main, finding.reference)}"
    text = (
        f"{text}, {finding.but}"
        if finding.but
        else f"{text} ({finding.sure or describe_sureness(finding.main)})"
    )
    return f"{text}{finding.addition}."

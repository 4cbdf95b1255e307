"""What the summary of `retrieve` says first: each mode against the plain search, by the form of the
questions."""

from collections.abc import Iterator
from dataclasses import replace

from swarm_bench.analysis.losses import doubt, omitted
from swarm_bench.analysis.once import once
from swarm_bench.analysis.retrieve.caveats import (
    ASKED,
    hardly_more,
    of_form,
    of_searches,
    unmeasured,
)
from swarm_bench.analysis.retrieve.figures import Answers
from swarm_bench.analysis.sentences.contrast import Contrast, achieved
from swarm_bench.analysis.sentences.evidence import rests_on
from swarm_bench.analysis.sentences.next_steps import (
    detectable_differences,
    more_cases,
    with_tasks,
)
from swarm_bench.analysis.sentences.verdict_line import (
    CANNOT_TELL,
    IS_REFERENCE,
    NO_VERDICT,
    held_against,
    too_few_compared,
    without_verdict,
)
from swarm_bench.analysis.statistics.effects import holm_levels
from swarm_bench.analysis.statistics.rule import Change, score_shown
from swarm_bench.analysis.wording import sentence
from swarm_bench.core.report.document import Answer, Tone
from swarm_bench.core.session.retrieving import PLAIN, Form

SEARCHES = (PLAIN, "grep")
"""Plain ones, beside which tools are asked."""
_CLAIMS = {
    Change.HIGHER: " finds more",
    Change.LOWER: " finds less",
    Change.SAME: " finds as much",
    Change.UNCLEAR: CANNOT_TELL,
}
_TONES = {Change.HIGHER: Tone.GOOD, Change.LOWER: Tone.BAD, Change.UNCLEAR: Tone.OPEN}


def headline(answers: Answers) -> Iterator[Answer]:
    """Answer for each mode, and each form of the questions, whether it finds more than the plain
    search; the plain ones come last."""
    for arm in sorted(answers.experiment.arms, key=SEARCHES.__contains__):
        of_forms = [*of_searches(answers, arm)]
        others = [it.qualification for it in answers.caveats(arm) if it not in of_forms]
        forms = [form for form in answers.forms if answers.of(arm, form)]
        if not forms:
            why = "No answer was measured."
            yield Answer(
                subject=arm, claim=NO_VERDICT, tone=Tone.OPEN, figures=why, caveats=tuple(others)
            )
        own = [_answer(answers, arm, form) for form in forms]
        if len({replace(it, subject=arm) for it in own}) == 1:  # said of all forms at once
            own = [replace(own[0], subject=arm)]
        for answer in own:
            is_aside = arm in SEARCHES and not {*answers.experiment.arms} <= {*SEARCHES}
            yield replace(answer, caveats=(*answer.caveats, *others), is_aside=is_aside)
            others = []  # they are of all forms


def about_plain(answers: Answers) -> Iterator[str]:
    """Say that nothing can be compared without a plain search."""
    if PLAIN not in answers.experiment.arms:
        yield (
            f"{PLAIN} is not among the modes, so nothing shows whether a plain search finds as "
            "much; add it with --continue and --modes."
        )


def _answer(answers: Answers, arm: str, form: Form) -> Answer:
    compared = arm != PLAIN and PLAIN in answers.experiment.arms
    of_this = tuple(it.qualification for it in of_form(answers, arm, form) if not it.is_void)
    subject = f"{arm} (asked {ASKED[form]})" if len(answers.forms) > 1 else arm
    answer = Answer(subject=subject, claim=NO_VERDICT, tone=Tone.OPEN, caveats=of_this)
    sides = answers.missing_in((arm, PLAIN) if compared else (arm,), form)
    if why := _why(answers, arm, form, compared=compared):
        return without_verdict(answer, [*why.split("; "), omitted(sides)])
    if not compared:
        mean = answers.mean(answers.of(arm, form), answers.main.key)
        assert mean is not None
        own = f"It {achieved(answers.main, mean)}."
        is_plain = IS_REFERENCE if arm == PLAIN else ": no reference"
        return replace(
            answer, claim=is_plain, tone=None, figures=own, evidence=sentence(omitted(sides))
        )
    return _held_against(answers, answer, (arm, form))


def _why(answers: Answers, arm: str, form: Form, *, compared: bool) -> str:
    """Say in clauses why there is no verdict, the gravest first; empty where there is one."""
    if why := unmeasured(answers, arm, form):
        return why
    if answers.mean(answers.of(arm, form), answers.main.key) is None:
        return "no answer was measured"
    if not compared:
        return ""
    if unmeasured(answers, PLAIN, form):
        return f"nothing could be measured of {PLAIN}"
    pairs = answers.pairs_in(arm, PLAIN, answers.main.key, form)
    return "" if pairs.suffice else too_few_compared(pairs.asked, len(pairs.cases), "question")


def _held_against(answers: Answers, answer: Answer, asked: tuple[str, Form]) -> Answer:
    """Hold a mode against the plain search; what a constant list finds too, is no gain."""
    arm, form = asked
    sides = answers.missing_in((arm, PLAIN), form)
    contrast, lost = _contrast(answers, arm, form), doubt(sides)
    idle = hardly_more(answers, arm, form) and contrast.shown is not Change.LOWER
    shown = Change.UNCLEAR if lost or idle else contrast.shown
    but = "which a constant list has too" if idle else ""
    but = "but lost answers could change that" if lost else but
    answer = replace(answer, claim=_CLAIMS[shown], tone=_TONES.get(shown))
    needed = more_cases(contrast) if shown is Change.UNCLEAR and not lost and not idle else None
    runs, arms = answers.experiment.runs, len(_levels(answers))
    evidence = [*rests_on(contrast, arms, runs, lost or omitted(sides))]
    evidence += detectable_differences(contrast) if needed else []
    return replace(
        held_against(answer, PLAIN, contrast, but),
        next=with_tasks(needed, answers.experiment) if needed and arm not in SEARCHES else None,
        evidence=" ".join(evidence),
        is_settled=shown is not Change.UNCLEAR,
    )


def _contrast(answers: Answers, arm: str, form: Form) -> Contrast:
    margin, level = answers.experiment.margin, _levels(answers)[arm, form]
    pairs = answers.pairs_in(arm, PLAIN, answers.main.key, form)
    return Contrast(
        metric=answers.main,
        pairs=pairs,
        shown=score_shown(pairs.effect, margin, level),
        margin=margin,
        level=level,
        case="question",
    )


@once
def _levels(answers: Answers) -> dict[tuple[str, Form], float]:
    """Return the level of the hypothesis on each mode in each form, among all of them."""
    tests = {
        (arm, form): _test(answers, arm, form)
        for arm in answers.experiment.arms
        for form in answers.forms
        if arm != PLAIN
    }
    return holm_levels(tests)


def _test(answers: Answers, arm: str, form: Form) -> float:
    """Return the p of the hypothesis; nothing is shown by a single task, or too few, or without
    answers that one of the two has lost."""
    pairs = answers.pairs_in(arm, PLAIN, answers.main.key, form)
    void = unmeasured(answers, arm, form) or unmeasured(answers, PLAIN, form)
    return pairs.p(holds=not void and not doubt(answers.missing_in((arm, PLAIN), form)))

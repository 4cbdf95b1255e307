"""What the summary of `retrieve` says first: each mode against the plain search, by the form of the
questions."""

from collections.abc import Iterator
from dataclasses import replace

from swarm_bench.analysis.caching import once
from swarm_bench.analysis.losses import describe_omitted, explain_doubt
from swarm_bench.analysis.retrieve.caveats import (
    FORM_PHRASES,
    explain_unmeasured,
    find_search_caveats,
    is_near_constant,
    list_form_caveats,
)
from swarm_bench.analysis.retrieve.figures import Answers
from swarm_bench.analysis.sentences.contrast import Contrast, describe_figure, make_contrast
from swarm_bench.analysis.sentences.evidence import describe_basis
from swarm_bench.analysis.sentences.next_steps import (
    advise_tasks,
    count_more_cases,
    describe_detectable,
)
from swarm_bench.analysis.sentences.verdict_line import (
    CANNOT_TELL,
    IS_REFERENCE,
    NO_VERDICT,
    add_comparison,
    add_reasons,
    explain_too_few_compared,
)
from swarm_bench.analysis.statistics.effects import compute_holm_levels
from swarm_bench.analysis.statistics.verdict_rule import Change
from swarm_bench.analysis.wording import make_sentence
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


def make_headline(answers: Answers) -> Iterator[Answer]:
    """Answer for each mode, and each form of the questions, whether it finds more than the plain
    search; the plain ones come last."""
    for arm in sorted(answers.experiment.arms, key=SEARCHES.__contains__):
        of_forms = [*find_search_caveats(answers, arm)]
        other_clauses = [
            caveat.qualification for caveat in answers.caveats(arm) if caveat not in of_forms
        ]
        forms = [form for form in answers.forms if answers.select_records(arm, form)]
        if not forms:
            reason = "No answer was measured."
            yield Answer(
                subject=arm,
                claim=NO_VERDICT,
                tone=Tone.OPEN,
                figures=reason,
                caveats=tuple(other_clauses),
            )
        arm_answers = [_make_answer(answers, arm, form) for form in forms]
        # What is the same of all forms is said at once.
        if len({replace(answer, subject=arm, effect=None) for answer in arm_answers}) == 1:
            arm_answers = [replace(arm_answers[0], subject=arm)]
        for answer in arm_answers:
            is_aside = arm in SEARCHES and not {*answers.experiment.arms} <= {*SEARCHES}
            yield replace(answer, caveats=(*answer.caveats, *other_clauses), is_aside=is_aside)
            other_clauses = []  # they are of all forms


def describe_missing_plain(answers: Answers) -> Iterator[str]:
    """Say that nothing can be compared without a plain search."""
    if PLAIN not in answers.experiment.arms:
        yield (
            f"{PLAIN} is not among the modes, so nothing shows whether a plain search finds as "
            "much; add it with --continue and --modes."
        )


def _make_answer(answers: Answers, arm: str, form: Form) -> Answer:
    is_compared = arm != PLAIN and PLAIN in answers.experiment.arms
    of_this = tuple(
        caveat.qualification
        for caveat in list_form_caveats(answers, arm, form)
        if not caveat.is_void
    )
    subject = f"{arm} (asked {FORM_PHRASES[form]})" if len(answers.forms) > 1 else arm
    answer = Answer(subject=subject, claim=NO_VERDICT, tone=Tone.OPEN, caveats=of_this)
    sides = answers.count_missing((arm, PLAIN) if is_compared else (arm,), form)
    if reason := _explain_no_verdict(answers, arm, form, is_compared=is_compared):
        return add_reasons(answer, [*reason.split("; "), describe_omitted(sides)])
    if not is_compared:
        mean = answers.compute_mean(answers.select_records(arm, form), answers.main.key)
        assert mean is not None
        figure_text = f"It {describe_figure(answers.main, mean)}."
        is_plain = IS_REFERENCE if arm == PLAIN else ": no reference"
        return replace(
            answer,
            claim=is_plain,
            tone=None,
            figures=figure_text,
            evidence=make_sentence(describe_omitted(sides)),
        )
    return _compare_with_plain(answers, answer, (arm, form))


def _explain_no_verdict(answers: Answers, arm: str, form: Form, *, is_compared: bool) -> str:
    """Say in clauses why there is no verdict, the gravest first; empty where there is one."""
    if reason := explain_unmeasured(answers, arm, form):
        return reason
    if answers.compute_mean(answers.select_records(arm, form), answers.main.key) is None:
        return "no answer was measured"
    if not is_compared:
        return ""
    if explain_unmeasured(answers, PLAIN, form):
        return f"nothing could be measured of {PLAIN}"
    pairs = answers.pair_modes(arm, PLAIN, answers.main.key, form)
    return (
        ""
        if pairs.suffice
        else explain_too_few_compared(pairs.total_cases, len(pairs.cases), "question")
    )


def _compare_with_plain(answers: Answers, answer: Answer, question: tuple[str, Form]) -> Answer:
    """Hold a mode against the plain search; what a constant list finds too, is no gain."""
    arm, form = question
    sides = answers.count_missing((arm, PLAIN), form)
    contrast, reason = _make_contrast(answers, arm, form), explain_doubt(sides)
    is_constant = is_near_constant(answers, arm, form) and contrast.change is not Change.LOWER
    change = Change.UNCLEAR if reason or is_constant else contrast.change
    but = "which a constant list has too" if is_constant else ""
    but = "but lost answers could change that" if reason else but
    answer = replace(answer, claim=_CLAIMS[change], tone=_TONES.get(change))
    needed = (
        count_more_cases(contrast)
        if change is Change.UNCLEAR and not reason and not is_constant
        else None
    )
    runs, arms = answers.experiment.runs, len(_compute_levels(answers))
    evidence = [*describe_basis(contrast, arms, runs, reason or describe_omitted(sides))]
    evidence += describe_detectable(contrast) if needed else []
    return replace(
        add_comparison(answer, PLAIN, contrast, but),
        next=advise_tasks(needed, answers.experiment) if needed and arm not in SEARCHES else None,
        evidence=" ".join(evidence),
        is_settled=change is not Change.UNCLEAR,
    )


def _make_contrast(answers: Answers, arm: str, form: Form) -> Contrast:
    margin, level = answers.experiment.margin, _compute_levels(answers)[arm, form]
    pairs = answers.pair_modes(arm, PLAIN, answers.main.key, form)
    return make_contrast(answers.main, pairs, margin, level, "question")


@once
def _compute_levels(answers: Answers) -> dict[tuple[str, Form], float]:
    """Return the level of the hypothesis on each mode in each form, among all of them."""
    tests = {
        (arm, form): _compute_p(answers, arm, form)
        for arm in answers.experiment.arms
        for form in answers.forms
        if arm != PLAIN
    }
    return compute_holm_levels(tests)


def _compute_p(answers: Answers, arm: str, form: Form) -> float:
    """Return the p of the hypothesis; nothing is shown by a single task, or too few, or without
    answers that one of the two has lost."""
    pairs = answers.pair_modes(arm, PLAIN, answers.main.key, form)
    void = explain_unmeasured(answers, arm, form) or explain_unmeasured(answers, PLAIN, form)
    return pairs.compute_p(
        holds=not void and not explain_doubt(answers.count_missing((arm, PLAIN), form))
    )

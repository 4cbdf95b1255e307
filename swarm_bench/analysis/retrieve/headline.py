"""What the summary of `retrieve` says first: each mode against the plain search."""

from collections.abc import Iterator

from swarm_bench.analysis.cases.caveats import arm_caveats, beside
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
from swarm_bench.analysis.statistics.changes import worth
from swarm_bench.analysis.statistics.effects import holm_levels
from swarm_bench.analysis.statistics.formulas import ALPHA
from swarm_bench.analysis.statistics.pairing import LEAST_PAIRED, Pairs
from swarm_bench.analysis.statistics.rule import Verdict, verdict_on_quality
from swarm_bench.analysis.wording import amount
from swarm_bench.core.report.document import Span, Text
from swarm_bench.core.session.retrieving import PLAIN, Form

_BEGINS = {
    Verdict.HELPS: "finds more than",
    Verdict.HURTS: "finds less than",
    Verdict.EQUIVALENT: "finds as much as",
    Verdict.INCONCLUSIVE: "is not shown to differ from",
}


def headline(answers: Answers) -> Iterator[Text]:
    """Say of each mode what it found, and whether that is more than the plain search finds."""
    arms = answers.experiment.arms
    for arm in arms:
        of_forms = [*of_searches(answers, arm)]
        others = [it for it in arm_caveats(answers.session, arm) if it not in of_forms]
        clauses: dict[str, list[str]] = {}
        for form in answers.forms:
            if answers.mean(answers.of(arm, form), answers.main.key) is not None:
                clauses.setdefault(_clause(answers, arm, form), []).append(ASKED[form])
        findings = [f"{' and '.join(forms)}{clause}" for clause, forms in clauses.items()]
        sentence = "; ".join(findings) or "no answer was measured"
        yield Span(text=arm, strong=True), f": {sentence}.{beside(others)}"
    if PLAIN not in arms:
        yield (
            f"{PLAIN} is not among the modes, so nothing shows whether a plain search finds as "
            f"much; add it with --continue and --modes."
        )


def _clause(answers: Answers, arm: str, form: Form) -> str:
    """Say what a mode found in one form of the questions, and whether it beats the plain search."""
    compared = arm != PLAIN and PLAIN in answers.experiment.arms
    if why := unmeasured(answers, arm, form):
        return f" it could not be measured: {why}"
    if compared and unmeasured(answers, PLAIN, form):
        mean = answers.mean(answers.of(arm, form), answers.main.key)
        return f" {answers.main.title} {mean:.2f}, and no verdict: {PLAIN} could not be measured"
    sides = answers.missing((arm, PLAIN) if compared else (arm,), form)
    if not compared:
        mean = answers.mean(answers.of(arm, form), answers.main.key)
        return f" {answers.main.title} {mean:.2f}{_beside(answers, arm, form, omitted(sides))}"
    pairs = answers.pairs(arm, PLAIN, answers.main.key, form)
    if not pairs.suffice:
        return f" {_too_few(pairs)}{_beside(answers, arm, form, omitted(sides))}"
    why, level = doubt(sides), _levels(answers)[arm, form]
    idle = hardly_more(answers, arm, form)
    against = _against_plain(answers, pairs, level, doubtful=bool(why), idle=idle)
    return f" it {against}{_beside(answers, arm, form, why or omitted(sides))}"


def _beside(answers: Answers, arm: str, form: Form, absent: str) -> str:
    """Add the caveats of a mode, and what is not in the figures."""
    clauses = [caveat.qualification for caveat in of_form(answers, arm, form)]
    return "".join(f", and {clause}" for clause in (*clauses, *([absent] if absent else [])))


def _too_few(pairs: Pairs) -> str:
    asked = amount(pairs.asked, "task")
    return (
        f"no verdict: both answered {len(pairs.cases)} of {asked}, and it takes "
        f"{LEAST_PAIRED * 100:.0f} %"
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
    pairs = answers.pairs(arm, PLAIN, answers.main.key, form)
    void = unmeasured(answers, arm, form) or unmeasured(answers, PLAIN, form)
    holds = pairs.suffice and not void and not doubt(answers.missing((arm, PLAIN), form))
    p = pairs.effect.t_p if holds else None
    return 1.0 if p is None else p


def _against_plain(
    answers: Answers, pairs: Pairs, level: float, *, doubtful: bool, idle: bool
) -> str:
    """Say whether a mode beats the plain search, with enough tasks to tell; what a constant list
    finds too, is no gain."""
    effect = pairs.effect
    bounds = effect.interval(1 - level)
    adjusted = ", adjusted for all modes and forms," if level < ALPHA else ""
    interval = f", 95 % interval{adjusted} {_range(bounds)}" if bounds else ""
    means = f"{pairs.own_mean:.2f} against {pairs.reference_mean:.2f}"
    shown = verdict_on_quality(effect, answers.experiment.margin, level)
    open_ = doubtful or (idle and shown is not Verdict.HURTS)
    begins = _BEGINS[Verdict.INCONCLUSIVE if open_ else shown]
    return (
        f"{begins} {PLAIN}, {answers.main.title} {means} over "
        f"{amount(effect.cases, 'task')}{worth(effect)} ({effect.estimate:+.2f}{interval})"
    )


def _range(bounds: tuple[float, float]) -> str:
    """Write an interval; no difference of shares is beyond 1."""
    return f"{max(bounds[0], -1):+.2f} to {min(bounds[1], 1):+.2f}"

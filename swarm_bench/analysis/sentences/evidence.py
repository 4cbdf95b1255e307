"""What a verdict rests on: a figure, and the interval or test that decided."""

from collections.abc import Iterator

from swarm_bench.analysis.sentences.contrast import (
    Contrast,
    choose_comparatives,
    describe_change,
    describe_span,
    format_points,
    name_unit,
)
from swarm_bench.analysis.statistics.changes import describe_size as size_of
from swarm_bench.analysis.statistics.changes import format_percent, format_worth_of
from swarm_bench.analysis.statistics.formulas import ALPHA
from swarm_bench.analysis.statistics.verdict_rule import EQUIVALENCE, FEWEST, Change
from swarm_bench.analysis.wording import make_sentence, quantify


def describe_decision(contrast: Contrast, arms: int = 1) -> str:
    """Say `Effective tokens: 31 % fewer (95 % interval 18 to 42 % fewer, sign-flip p 0.002)`; the
    level is shared out to so many arms."""
    return (
        f"{contrast.metric.title}: {describe_change(contrast)} ({_describe_test(contrast, arms)})."
    )


def describe_basis(contrast: Contrast, arms: int, runs: int, missing: str) -> Iterator[str]:
    """Say what decided, how much was asked, and in a clause what is not in the figures."""
    yield describe_decision(contrast, arms)
    yield f"{size_of(contrast.effect, contrast.case, runs)}."
    if missing:
        yield make_sentence(missing)


def _describe_test(contrast: Contrast, arms: int) -> str:
    """Say what decided."""
    effect, shown_change = contrast.effect, contrast.change
    cases = f"{quantify(effect.units, name_unit(contrast))}{format_worth_of(effect, effect.units)}"
    differ = sum(effect.differing)
    if effect.independent_cases < FEWEST:
        return f"{cases}, and nothing can be shown with fewer than {FEWEST} independent ones"
    if not differ and shown_change is Change.SAME:
        return f"0 of {cases} differ"
    if not differ or contrast.is_few:
        return f"{differ} of {cases} differ, so no interval can be relied on"
    if contrast.bounds is None:
        return "no interval yet"
    if shown_change is Change.SAME and contrast.one_sided:
        return _describe_bound(contrast)
    interval = f"{_name_interval(contrast, arms)} {describe_span(contrast, contrast.bounds)}"
    if contrast.bounds[0] == contrast.bounds[1]:
        interval = f"in every {name_unit(contrast)}"
    if shown_change is Change.SAME:
        return interval
    if effect.at_every_look:
        return f"{interval}, holding at every look"
    excludes_zero = contrast.bounds[0] > 0 or contrast.bounds[1] < 0
    needed = (
        f", where {ALPHA:g} is needed" if excludes_zero and shown_change is Change.UNCLEAR else ""
    )
    return f"{interval}, sign-flip p {effect.sign_flip_p:.2g}{needed}"


def _name_interval(contrast: Contrast, arms: int) -> str:
    if contrast.change is Change.SAME:
        return f"{EQUIVALENCE * 100:.0f} % interval"
    adjusted = f", adjusted for {arms} verdicts," if contrast.level < ALPHA and arms > 1 else ""
    return f"95 % interval{adjusted}"


def _describe_bound(contrast: Contrast) -> str:
    """Say how much worse it is at most."""
    low, _ = contrast.bounds or (0.0, 0.0)
    if contrast.metric.relative:
        return (
            f"with 95 % confidence at most "
            f"{format_percent(low, *choose_comparatives(contrast.metric))}"
        )
    if low >= 0:
        return "with 95 % confidence no worse at all"
    worst, allowed = (format_points(contrast.metric, size) for size in (abs(low), contrast.margin))
    return f"with 95 % confidence at most {worst} worse, where {allowed} are allowed"

"""Trials that a limit stopped, or that were lost: what they would have spent is not known."""

from collections.abc import Iterator

from swarm_bench.analysis.comparison.pairs import (
    count_planned_trials,
    list_lost,
    list_stopped,
    list_unmeasured,
)
from swarm_bench.analysis.comparison.verdicts import Conclusion, conclude, list_hypotheses
from swarm_bench.analysis.mode_trials import ModeTrials
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.statistics.verdict_rule import Change, Verdict, find_verdict
from swarm_bench.analysis.wording import join, lowercase, quantify
from swarm_bench.core.metric import Metric
from swarm_bench.core.report.standing import Caveat

CONTINUE = "--continue runs lost trials again"


def find_stopped_as_worst(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Say that a verdict stands where stopped trials count as the worst; where it does not, its
    sentence says so."""
    selection, mode = mode_trials.selection, mode_trials.mode
    conclusion = conclude(selection, mode)
    if (
        conclusion is None
        or conclusion.is_hidden
        or conclusion.too_narrow
        or conclusion.uncertainty
    ):
        return
    if conclusion.censored and _list_stopped(selection, mode):
        signs_text = _describe_signs(selection, conclusion, mode)
        yield Caveat(qualification=f"{signs_text}, which agrees with the verdict")


def explain_hidden(selection: Selection, mode: str) -> str:
    """Say why a verdict is without what the primary metric shows."""
    conclusion = conclude(selection, mode)
    assert conclusion
    assert conclusion.cost
    limited, lacking = (
        _list_stopped(selection, mode),
        _describe_missing(selection, mode, conclusion.cost.metric),
    )
    clauses = [f"a limit stopped {join(limited)}"] if limited else []
    clauses += [lacking] if lacking else []
    reason = " and ".join(clauses)
    return (
        f"{reason[:1].upper()}{reason[1:]}, so what they would have taken is not known; "
        f"{_describe_signs(selection, conclusion, mode)}, so it is not shown "
        f"{CHANGE_CLAUSES[conclusion.spends]}"
        f"{f'; {CONTINUE}' if may_continue(selection, mode) else ''}."
    )


def explain_unproved(selection: Selection, mode: str) -> str:
    """Say why a verdict is without what was found."""
    conclusion = conclude(selection, mode)
    assert conclusion
    lacking = _describe_missing(selection, mode, conclusion.quality.metric)
    return (
        f"{lacking[:1].upper()}{lacking[1:]}: with these at their worst, the quality of the "
        f"answers does not show the same{f'; {CONTINUE}' if may_continue(selection, mode) else ''}."
    )


def may_continue(selection: Selection, mode: str) -> bool:
    """Tell whether trials of the two modes were lost, or never run, and can be run again."""
    sides = (mode, selection.modes[0])
    return any(
        list_lost(selection, side)
        or count_planned_trials(selection, side) > len(selection.select(side))
        for side in sides
    )


def describe_later_end(selection: Selection) -> Iterator[str]:
    """Say that losses end a verdict which they did not end when the session began."""
    declaration = selection.data.experiment.beforehand
    if declaration is not None and declaration.verdict_version is not None:
        return
    if modes := [mode for mode in list_hypotheses(selection) if _is_ended(selection, mode)]:
        yield (
            f"The verdict on {join(modes)} is by today's rule, under which lost trials can end "
            "one. When this session began they could not, so its summary may have had another."
        )


def _is_ended(selection: Selection, mode: str) -> bool:
    conclusion = conclude(selection, mode)
    if conclusion is None:
        return False
    claims = (
        conclusion.cost is None
        or find_verdict(conclusion.spends, conclusion.shown_quality) is not Verdict.INCONCLUSIVE
    )
    lost_some = any(list_lost(selection, side) for side in (mode, selection.modes[0]))
    return (
        (bool(conclusion.uncertainty) and claims)
        or conclusion.unproved
        or (conclusion.is_hidden and lost_some)
    )


def _list_stopped(selection: Selection, mode: str) -> list[str]:
    """Write how many trials of both modes a limit stopped."""
    return [
        f"{len(stopped_trials)} of {len(selection.get_arm(side).compared_trials)} trials of {side}"
        for side in (mode, selection.modes[0])
        if (stopped_trials := list_stopped(selection, side))
    ]


def _describe_missing(selection: Selection, mode: str, metric: Metric) -> str:
    """Say how many trials of both modes are not in a figure, and why; empty where all are."""
    sides = (mode, selection.modes[0])
    without = {side: list_unmeasured(selection, side, metric) for side in sides}
    parts = [
        f"{len(missing_trials)} of {len(selection.select(side))} trials of {side}"
        for side, missing_trials in without.items()
        if missing_trials
    ]
    if not parts:
        return ""
    if all(
        set(map(id, missing_trials)) <= set(map(id, list_lost(selection, side)))
        for side, missing_trials in without.items()
    ):
        return f"the session lost {join(parts)}"
    title = lowercase(metric.title)
    return f"{join(parts)} were lost, are contaminated or do not tell {title}"


CHANGE_CLAUSES = {
    Change.LOWER: "that the mode takes less",
    Change.HIGHER: "that the mode takes more",
    Change.SAME: "that the modes take the same",
}


def _describe_signs(selection: Selection, conclusion: Conclusion, mode: str) -> str:
    """Say `with stopped trials as the worst, 5 of 12 tasks have lower and 7 higher effective
    tokens`."""
    censored = conclusion.censored
    assert conclusion.cost
    assert censored
    lower, _, higher = censored.ranks.signs
    kinds = ["stopped"] if _list_stopped(selection, mode) else []
    kinds += ["lost"] if _describe_missing(selection, mode, conclusion.cost.metric) else []
    return (
        f"with {join(kinds)} trials as the worst, {lower} of "
        f"{quantify(censored.ranks.cases, 'task')} have lower and {higher} higher "
        f"{lowercase(conclusion.cost.metric.title)} (signed ranks, p "
        f"{censored.ranks.sign_flip_p:.2g})"
    )

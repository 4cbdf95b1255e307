"""What a comparison says, how far it can be believed, or why it says nothing."""

from collections.abc import Iterator
from dataclasses import replace

from swarm_bench.analysis.adherence.treated import Treated, is_connected, treated_in
from swarm_bench.analysis.answers.modes import mode_answer, no_verdict_on
from swarm_bench.analysis.caveats.barred import barred_by
from swarm_bench.analysis.caveats.kinds import caveats
from swarm_bench.analysis.comparison.compared import of_headline
from swarm_bench.analysis.comparison.correctness import correctness
from swarm_bench.analysis.comparison.details import details
from swarm_bench.analysis.comparison.quality import compared_with_reference, found_less
from swarm_bench.analysis.comparison.ratios import ratios
from swarm_bench.analysis.comparison.verdicts import hypotheses
from swarm_bench.analysis.selection import Selection, is_inconclusive
from swarm_bench.analysis.sentences.verdict_line import IS_REFERENCE
from swarm_bench.analysis.wording import amount
from swarm_bench.core.report.document import Answer, Tone
from swarm_bench.core.report.ratios import Column
from swarm_bench.core.report.report import Headline
from swarm_bench.core.report.standing import Standing
from swarm_bench.core.session.records import Treatment


def headline(selection: Selection) -> Headline:
    nothing = _nothing(selection)
    standings = [] if nothing else [_standing(selection, mode) for mode in selection.modes]
    no_verdict = nothing or _no_reference(standings)
    barred = {standing.mode for standing in standings if standing.no_verdict}
    real = [mode for mode in selection.modes if not selection.is_placebo(mode)]
    compared = [] if no_verdict else [mode for mode in selection.modes[1:] if mode in real]
    modes = [mode for mode in compared if mode not in barred]
    columns = [column for mode in modes for column in _columns(selection, mode)]
    tools = [treated_in(selection, mode) for mode in real if selection.has_tool(mode)]
    compared_ratios = ratios(selection, columns, of_headline(selection)) if columns else None
    return Headline(
        no_verdict=no_verdict,
        standings=tuple(_shown(selection, standings, no_verdict)),
        ratios=compared_ratios
        and replace(compared_ratios, found_less=found_less(selection, modes)),
        details=details(selection, modes),
        correctness=None if nothing else correctness(selection),
        all_used=bool(tools) and all(map(_all_used, tools)),
    )


def _all_used(treated: Treated) -> bool:
    """Tell whether those that are compared are those that used the tool."""
    used = sum(trial.retrieval is Treatment.USED for trial in treated.compared)
    return used == len(treated.compared) == len(treated.used)


def _proved(treated: Treated) -> bool:
    """Tell whether counters were held against the transcripts of all its swarms."""
    swarms = [swarm for swarm in treated.swarms if not swarm.failure]
    return bool(swarms) and all(swarm.counters for swarm in swarms)


def _shown(
    selection: Selection, standings: list[Standing], no_verdict: str | None
) -> Iterator[Standing]:
    """Yield those that say something. Without a reference, each mode is said to have no verdict:
    its line may be quoted alone."""
    for position, standing in enumerate(standings):
        if no_verdict:
            reason = standing.no_verdict or "there is nothing to compare it with."
            barred = reason if position else None
            standing = Standing(
                mode=standing.mode,
                answer=no_verdict_on(standing.mode, barred) if barred else None,
                treatment=standing.treatment,
                no_verdict=barred,
            )
        if replace(standing, concluded=None) != Standing(mode=standing.mode):
            yield (
                standing
                if standing.answer
                else replace(standing, answer=_bare(selection, standing.mode))
            )


def _bare(selection: Selection, mode: str) -> Answer:
    """Answer for a mode that no rule compares."""
    if mode == selection.modes[0]:
        return Answer(subject=mode, claim=IS_REFERENCE)
    if not selection.data.experiment.primary:
        why = "Nothing was named before these trials, so their figures are exploratory."
        return no_verdict_on(mode, why)
    return Answer(subject=mode, claim=" is a control")


def _columns(selection: Selection, mode: str) -> Iterator[Column]:
    """Yield the columns of a mode: as used only where it differs, and where anybody used the
    tool."""
    yield Column(mode=mode)
    if not selection.has_tool(mode):
        return
    # A reference without a tool has nothing to use.
    with_tool = filter(selection.has_tool, (selection.modes[0], mode))
    compared = [treated_in(selection, side).compared for side in with_tool]
    used = [sum(trial.retrieval is Treatment.USED for trial in trials) for trials in compared]
    if all(used) and used != list(map(len, compared)):
        yield Column(mode=mode, as_used=True)


def _nothing(selection: Selection) -> str | None:
    if not selection.trials:
        return "there is no record of any trial."
    if all(map(is_inconclusive, selection.trials)):
        return "nothing could be measured, since no trial ran to completion."
    return None


def _no_reference(standings: list[Standing]) -> str | None:
    """Say why there is nothing to compare with: the reference has no verdict."""
    reference, *modes = standings
    if not modes or reference.no_verdict is None:
        return None
    return f"everything is compared with {reference.mode}, and {reference.no_verdict}"


def _standing(selection: Selection, mode: str) -> Standing:
    treated, barred = treated_in(selection, mode), barred_by(selection, mode)
    answer = no_verdict_on(mode, barred) if barred else mode_answer(selection, mode)
    is_open = answer is None or answer.tone is Tone.OPEN
    return Standing(
        mode=mode,
        answer=answer,
        concluded=not is_open if mode in hypotheses(selection) else None,
        treatment=_treatment(treated) if selection.has_tool(mode) else "",
        no_verdict=barred,
        qualifications=() if barred else tuple(it.qualification for it in caveats(selection, mode)),
        correctness="" if barred else compared_with_reference(selection, mode),
    )


def _treatment(treated: Treated) -> str:
    """Say `Connected in 12 of 12 trials, used in 11, by transcripts and counters.`"""
    trials = len(treated.counted)
    if not trials or not treated.assessable:
        return ""
    connected = sum(is_connected(trial) is True for trial in treated.counted)
    by = "transcripts and counters" if _proved(treated) else "transcripts alone"
    some = f"{connected} of {amount(trials, 'trial')}"
    return f"Connected in {some}, used in {len(treated.used)}, by {by}."

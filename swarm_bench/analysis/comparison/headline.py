"""What a comparison says, how far it can be believed, or why it says nothing."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from swarm_bench.analysis.adherence.treated import Treated, is_connected, treated_in
from swarm_bench.analysis.adherence.uses import counted, counters
from swarm_bench.analysis.caveats.caveat import caveats_of_kind
from swarm_bench.analysis.caveats.censoring import stopped_as_worst
from swarm_bench.analysis.caveats.integrity import set_aside
from swarm_bench.analysis.caveats.losses import lost, uneven_losses
from swarm_bench.analysis.caveats.order.drift import drifted
from swarm_bench.analysis.caveats.tools import KINDS, reached_answers
from swarm_bench.analysis.comparison.compared import of_headline
from swarm_bench.analysis.comparison.correctness import correctness
from swarm_bench.analysis.comparison.details import details
from swarm_bench.analysis.comparison.pairs import stopped
from swarm_bench.analysis.comparison.placebos import NO_VERDICT, OF_A_PLACEBO, doubts
from swarm_bench.analysis.comparison.quality import compared_with_reference, found_less
from swarm_bench.analysis.comparison.ratios import ratios
from swarm_bench.analysis.comparison.verdict_sentence import verdict_sentence, verdict_tone
from swarm_bench.analysis.selection import Selection, is_inconclusive
from swarm_bench.analysis.wording import amount
from swarm_bench.core.report.ratios import Column
from swarm_bench.core.report.report import Headline
from swarm_bench.core.report.standing import Standing
from swarm_bench.core.session.records import Treatment

_SLOW_SECONDS = 5
_LEAST_CONNECTED = 0.9
"""Of a session that does not say."""


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
        standings=tuple(_shown(standings, no_verdict)),
        ratios=compared_ratios
        and replace(compared_ratios, found_less=found_less(selection, modes)),
        details=details(selection, modes),
        correctness=None if nothing else correctness(selection),
        all_used=bool(tools) and all(map(_all_used, tools)),
        agreeing=tuple(treated.mode for treated in tools if _proved(treated)),
        uncounted=tuple(treated.mode for treated in tools if not _proved(treated)),
    )


def _all_used(treated: Treated) -> bool:
    """Tell whether those that are compared are those that used the tool."""
    used = sum(trial.retrieval is Treatment.USED for trial in treated.compared)
    return used == len(treated.compared) == len(treated.used)


def _proved(treated: Treated) -> bool:
    """Tell whether counters were held against the transcripts of all its swarms."""
    swarms = [swarm for swarm in treated.swarms if not swarm.failure]
    return bool(swarms) and all(swarm.counters for swarm in swarms)


def _shown(standings: list[Standing], no_verdict: str | None) -> Iterator[Standing]:
    """Yield those that say something. Without a reference, each mode is said to have no verdict:
    its line may be quoted alone."""
    for position, standing in enumerate(standings):
        if no_verdict:
            reason = standing.no_verdict or "there is nothing to compare it with."
            barred = reason if position else None
            standing = Standing(mode=standing.mode, treatment=standing.treatment, no_verdict=barred)
        if standing != Standing(mode=standing.mode):
            yield standing


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
    return Standing(
        mode=mode,
        verdict="" if barred else verdict_sentence(selection, mode),
        tone=None if barred else verdict_tone(selection, mode),
        treatment=_treatment(treated) if selection.has_tool(mode) else "",
        no_verdict=barred,
        qualifications=() if barred else tuple(dict.fromkeys(_qualifications(selection, mode))),
        correctness="" if barred else compared_with_reference(selection, mode),
    )


def barred_by(selection: Selection, mode: str) -> str | None:
    """Say why there is no verdict on the mode; `None` when there is one."""
    treated = treated_in(selection, mode)
    contaminated = treated.labelled(Treatment.CONTAMINATED)
    touched = [trial for trial in contaminated if not reached_answers(trial)]
    if touched and (mode == selection.modes[0] or not selection.has_tool(mode)):
        return (
            f"{len(touched)} of {amount(len(treated.measured), 'trial')} of it had a tool that "
            "the mode does not give."
        )
    if not selection.has_tool(mode) and _counts_without_tool(selection, mode):
        return "the tool's counters moved while its agents ran, although it gives no tool."
    if len(stopped(treated.selection, treated.mode)) == len(treated.compared):
        return _no_answer(treated)
    return _too_few_connected(selection, treated) if selection.has_tool(mode) else None


def _counts_without_tool(selection: Selection, mode: str) -> bool:
    """Tell whether counters moved in a session whose counters were not compared; where they were,
    the label says it."""
    swarms = tuple(swarm for swarm in selection.swarms_of(mode) if swarm.counters is None)
    return any(counted(swarms, probe, about) for probe, about in counters(selection).items())


def _too_few_connected(selection: Selection, treated: Treated) -> str | None:
    experiment = selection.data.experiment
    least = experiment.min_connected if experiment else _LEAST_CONNECTED
    trials, connected = len(treated.assessable), len(treated.connected)
    if not trials or connected / trials >= least:
        return None
    return (
        f"{connected} of {amount(trials, 'trial')} ({connected / trials:.0%}) were connected to "
        f"the tool, and --min-connected asks for {least:.0%}."
    )


def _treatment(treated: Treated) -> str:
    """Say `connected in 12 of 12 trials, used in 11`."""
    trials = len(treated.counted)
    if not trials or not treated.assessable:
        return ""
    connected = sum(is_connected(trial) is True for trial in treated.counted)
    return f"connected in {connected} of {amount(trials, 'trial')}, used in {len(treated.used)}."


def _qualifications(selection: Selection, mode: str) -> Iterator[str]:
    treated = treated_in(selection, mode)
    yield from set_aside(selection)
    yield from _excluded(treated)
    yield from _unfinished(treated)
    if selection.is_placebo(mode):
        yield OF_A_PLACEBO
    placebo = selection.controls("placebo").get(mode)
    if placebo and mode != selection.modes[0]:
        barred = barred_by(selection, placebo.name)
        yield from [NO_VERDICT] if barred else doubts(treated, treated_in(selection, placebo.name))
    if selection.has_tool(mode):
        yield from _unknown_use(treated)
    for kind in (*KINDS, stopped_as_worst, uneven_losses, drifted):
        yield from (caveat.qualification for caveat in caveats_of_kind(selection, mode, kind))
    if selection.has_tool(mode):
        yield from _working(treated)
        yield from _slow(selection, mode)


def _excluded(treated: Treated) -> Iterator[str]:
    planned, counts = _planned(treated), _reasons(treated)
    counts.pop("contaminated", None)  # a caveat of its own
    if counts:
        listed = [
            f"{count} {reason}" if len(counts) > 1 else reason for reason, count in counts.items()
        ]
        out = f"{sum(counts.values())} of {amount(planned, 'trial')}"
        yield f"{out} left out of the ratios ({', '.join(listed)})"


def reasons(treated: Treated) -> dict[str, int]:
    """Count the trials with a record that are left out of the ratios, by why."""
    infrastructure = len(lost(treated))
    counts = {
        "contaminated": len(treated.labelled(Treatment.CONTAMINATED)),
        "failed": len(treated.counted) - len(treated.compared),
        "lost to the infrastructure": infrastructure,
        "interrupted": len(treated.all) - len(treated.measured) - infrastructure,
    }
    return {reason: count for reason, count in counts.items() if count}


def _reasons(treated: Treated) -> dict[str, int]:
    """Add those without a record."""
    absent = _planned(treated) - len(treated.all)
    return {**reasons(treated), **({"not run": absent} if absent else {})}


def _planned(treated: Treated) -> int:
    return max(treated.selection.data.planned.get(treated.mode, 0), len(treated.all))


def _no_answer(treated: Treated) -> str:
    """Say why none of the mode's trials is worth comparing."""
    causes = {**_ends(treated), **_reasons(treated)}
    trials = _planned(treated)
    what = "gave an answer" if treated.compared else "can be compared"
    if not causes:
        return f"none of its trials {what}: none was run."
    listed = ", ".join(f"{count} of {trials} {why}" for why, count in causes.items())
    return f"none of its trials {what}: {listed}."


def _unfinished(treated: Treated) -> Iterator[str]:
    """Count the trials in the ratios with what they spent until a limit stopped them."""
    ends = _ends(treated)
    if ends:
        some = f"{sum(ends.values())} of {amount(len(treated.compared), 'trial')} in the ratios"
        listed = ", ".join(f"{count} {end}" for end, count in ends.items())
        yield f"{some} ended without an answer ({listed})"


def _ends(treated: Treated) -> dict[str, int]:
    return dict(
        Counter(
            str(trial.cause or trial.status) for trial in stopped(treated.selection, treated.mode)
        )
    )


def _unknown_use(treated: Treated) -> Iterator[str]:
    trials = amount(len(treated.counted), "trial")
    what = "used" if all(map(is_connected, treated.unknown)) else "connected"
    if treated.counted and len(treated.unknown) == len(treated.counted):
        yield f"whether the tool was {what} cannot be told"
    elif treated.unknown:
        some = f"{len(treated.unknown)} of {trials}"
        yield f"whether the tool was {what} cannot be told of {some}"
    for server, lacking in treated.partly.items():
        yield f"the server {server} not connected in {lacking} of {trials}"


def _working(treated: Treated) -> Iterator[str]:
    if treated.failed:
        yield f"{treated.failed} of {amount(treated.calls, 'call')} of its tools failed"
    if treated.unanswered:
        verb = "was" if treated.unanswered == 1 else "were"
        calls = amount(treated.calls, "call")
        yield f"{treated.unanswered} of {calls} of its tools {verb} never answered"


def _slow(selection: Selection, mode: str) -> Iterator[str]:
    measured = {overhead.mode: overhead.server_seconds for overhead in selection.data.overhead}
    for server, seconds in measured.get(mode, {}).items():
        if seconds > _SLOW_SECONDS:
            yield (
                f"the server {server} took {seconds:.1f} s to answer before the session, and its "
                "agents wait for it too"
            )

"""The counters of one swarm against the transcripts of its agents.

Counters cannot be told apart by agent, and canopy counts by rules of its own. So the calls of all
transcripts give, for each counter, the number that one count per call would be, and an interval
that the rules allow. That number is agreement, the rest of the interval is explained by a rule,
and everything else is a contradiction.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swarm_bench.core.session.experiment import Mode
from swarm_bench.core.session.records import SwarmRecord, Treatment, TrialRecord, Verdict
from swarm_bench.core.status import Cause
from swarm_bench.retrieval.probes.canopy_counting import Calls, Count, expected, numbered

CUT_OFF = frozenset(
    {
        Cause.TIMEOUT,
        Cause.OUTPUT_LIMIT,
        Cause.EXIT_CODE,
        Cause.NO_OUTPUT,
        Cause.UNREADABLE_OUTPUT,
        Cause.ADAPTER_FAILED,
        Cause.SERVICE_FAILED,
        Cause.INTERRUPTED,
    }
)
"""Ends after which a transcript may lack calls, or have calls that nobody answered."""
_NAMES = {
    ("feedback", "query_events"): (".canopy/feedback.db has", "query event"),
    ("feedback", "expand_events"): (".canopy/feedback.db has", "expand event"),
    ("service", "queries"): ("the service counted", "query request"),
    ("service", "evidence_packs"): ("the service counted", "evidence pack request"),
    ("service", "expands"): ("the service counted", "expand request"),
}
"""The counters that say how often the tool was asked, by probe and name."""
_ANYBODYS = "others may ask the service of --service-url, so nobody knows whose calls it counts"
_MAY_LACK = ("evidence_packs",)
"""Counters that not every service has."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What the counters of one swarm say."""

    verdict: Verdict | None = None
    """`None` when there are no counters, or they could not be read."""
    why: tuple[str, ...] = ()
    moved: bool | None = None
    """Whether anything was counted for this swarm; `None` when it may have been for others."""


@dataclass(frozen=True, kw_only=True)
class _Trust:
    """How far the transcripts bound the counters."""

    no_ceiling: tuple[str, ...]
    """Reasons why there may be more counts than calls."""
    no_floor: Mapping[str, str]
    """By probe: why it may have fewer."""
    shared: bool
    """Others may ask the service, so that its counts need not be of the agents' calls."""


def compare(
    mode: Mode, swarm: SwarmRecord, trials: Sequence[TrialRecord], *, external: bool
) -> Finding:
    """The finding on a swarm. `trials` are the records of its agents, as far as they are there;
    `external` says that its service is one that others may ask too (`--service-url`)."""
    counts = _counts(swarm)
    lost = tuple(why for probe in swarm.after if (why := unread(swarm, probe)))
    if gives_no_tool(mode):
        clean = len(trials) == len(swarm.agents) and all(map(_shows_no_tool, trials))
        return _without_tool(swarm, counts, lost, external=external, clean=clean)
    if not counts:
        return Finding(why=lost)
    ran = [trial for trial in trials if trial.started_at is not None]
    whole = [trial for trial in ran if not _cut_off(trial)]
    trust = _trust(swarm, trials, ran, external=external)
    service = "canopy-service" in mode.services
    asked = counts.get(("feedback", "query_events"))
    most = expected(_calls(ran), service=service, recorded=asked)
    least = expected(_calls(whole), service=service, recorded=asked)
    cut = len(whole) < len(ran)
    found = [
        _judged(key, count, most[key], least[key].low if cut else most[key].low, trust)
        for key, count in counts.items()
    ]
    verdict = _worst([verdict for verdict, _ in found])
    # Beside a contradiction, what is explained or was not read would read as another one.
    sentences = tuple(sentence for one, sentence in found if sentence and one == verdict)
    return Finding(
        verdict=verdict,
        why=sentences if verdict == "contradict" else (*sentences, *lost),
        moved=None if external and any(counts.values()) else any(counts.values()),
    )


def gives_no_tool(mode: Mode) -> bool:
    """Whether nothing of the mode may touch a retrieval tool."""
    return not mode.servers and not mode.services


def unread(swarm: SwarmRecord, probe: str) -> str | None:
    """Why the transcripts were not compared with all that the probe counts."""
    if _no_database(swarm, probe):
        return None
    change = swarm.difference.get(probe) or {}
    if _began_anew(change, probe):
        return (
            f"The {probe} counters are lower than before the agents began, so they began anew in "
            "between and cannot be compared."
        )
    needed = [name for of, name in _NAMES if of == probe and name not in _MAY_LACK]
    if not all(isinstance(change.get(name), int) for name in needed):
        return f"The {probe} counters could not be read, before the agents or after them."
    return None


def _began_anew(change: Mapping[str, Any], probe: str) -> bool:
    """Whether a counter went down, as those of a service do that was started again."""
    counted = [change.get(name) for of, name in _NAMES if of == probe]
    return any(isinstance(value, int) and value < 0 for value in counted)


def _no_database(swarm: SwarmRecord, probe: str) -> bool:
    """The tool had nothing to write into one."""
    return (
        probe == "feedback" and swarm.before.get(probe) is None and swarm.after.get(probe) is None
    )


def _counts(swarm: SwarmRecord) -> dict[tuple[str, str], int]:
    """The counters that can be compared, by probe and name."""
    found = {}
    for probe, name in _NAMES:
        if probe not in swarm.after:
            continue
        change = swarm.difference.get(probe) or {}
        value = 0 if _no_database(swarm, probe) else change.get(name)
        if isinstance(value, int) and not _began_anew(change, probe):
            found[probe, name] = value
    return found


def _without_tool(
    swarm: SwarmRecord,
    counts: Mapping[tuple[str, str], int],
    lost: tuple[str, ...],
    *,
    external: bool,
    clean: bool,
) -> Finding:
    """In a mode that gives no tool nothing may be counted, and no database appear. One without a
    count proves no use where all agents are `clean`: any of them can make such a file."""
    moved = [key for key, count in counts.items() if count]
    appears = swarm.after.get("feedback")
    appeared = swarm.before.get("feedback") is None and appears is not None
    local = appeared or any(probe == "feedback" or not external for probe, _ in moved)
    if not moved and not appeared:
        verdict: Verdict | None = "agree" if counts else None
        return Finding(verdict=verdict, why=lost, moved=False if counts else None)
    counted = [_counted_text(key, counts[key]) for key in moved]
    what = " and ".join(counted) or ".canopy/feedback.db appeared in the workspace"
    made = clean and not moved
    who = "a tool ran that the mode does not give" if local else "somebody asked the service"
    if not moved and appears and set(appears.values()) == {None}:
        what += ", and is no regular file or no database that can be read"
        who = "whether a tool ran that the mode does not give cannot be told from it"
    if made:
        who = (
            "no agent shows such a tool or a call of one, so this does not prove use, and is only "
            "a warning"
        )
    sentence = f"{swarm.mode} gives no retrieval tool, and {what}: {who}."
    return Finding(verdict="contradict", why=(sentence,), moved=local and not made)


def _shows_no_tool(trial: TrialRecord) -> bool:
    """Whether the whole transcript of an agent shows what it had, and no retrieval tool."""
    whole = trial.tool_calls is not None and not _cut_off(trial)
    return whole and trial.retrieval is Treatment.NOT_GIVEN


def _trust(
    swarm: SwarmRecord,
    trials: Sequence[TrialRecord],
    ran: Sequence[TrialRecord],
    *,
    external: bool,
) -> _Trust:
    reasons = {
        "not all agents show their calls": any(trial.tool_calls is None for trial in ran),
        "agents were cut off in the middle of their work": any(map(_cut_off, ran)),
        "agents of the swarm were run again since": len(trials) < len(swarm.agents),
        "sub-agents called tools too": any(trial.subagents for trial in ran),
        _ANYBODYS: external,
        "tools were called that are not canopy's": _calls(ran).others > 0,
    }
    # A service that went on from an earlier workspace keeps that one's database open.
    kept = "the service of --service-url may write into a database that it opened before"
    return _Trust(
        no_ceiling=tuple(reason for reason, holds in reasons.items() if holds),
        no_floor={"feedback": kept} if external else {},
        shared=external,
    )


def _cut_off(trial: TrialRecord) -> bool:
    """Whether it was ended while it may have had a call open."""
    at_the_limit = trial.cause is Cause.MAX_TURNS and trial.turns_counted is True
    return trial.cause in CUT_OFF or at_the_limit


def _counted_text(key: tuple[str, str], count: int) -> str:
    counted, noun = _NAMES[key]
    return f"{counted} {numbered(count, noun)}"


def _calls(trials: Sequence[TrialRecord]) -> Calls:
    return sum((Calls.of(trial) for trial in trials), start=Calls())


def _judged(
    key: tuple[str, str], count: int, fits: Count, low: float, trust: _Trust
) -> tuple[Verdict, str]:
    """`low` is the fewest counts that the calls of agents that were not cut off allow."""
    reason: str | None
    if count == fits.plain:
        if not count or not trust.shared or key[0] != "service":
            return "agree", ""
        reason = _ANYBODYS
    elif fits.low <= count <= fits.high:
        reason = fits.below if count < fits.plain else fits.above
    elif count > fits.high:
        reason = "; ".join(trust.no_ceiling) or None
    elif count >= low:
        reason = "agents were cut off in the middle of their work"
    else:
        reason = trust.no_floor.get(key[0])
    sentence = f"{_counted_text(key, count)}, and the transcripts have {fits.calls}"
    sentence = sentence[0].upper() + sentence[1:]
    if reason is None:
        return "contradict", f"{sentence}: no rule of canopy's counters explains that."
    return "explained", f"{sentence}: {reason}."


def _worst(verdicts: Sequence[Verdict]) -> Verdict:
    order: tuple[Verdict, ...] = ("contradict", "explained", "agree")
    return next(verdict for verdict in order if verdict in verdicts)

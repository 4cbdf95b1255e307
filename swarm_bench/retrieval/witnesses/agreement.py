"""The counters of one swarm against the transcripts of its agents.

Counters cannot be told apart by agent, and canopy counts by rules of its own. So the calls of all
transcripts give, for each counter, the number that one count per call would be, and an interval
that the rules allow. That number is agreement, the rest of the interval is explained by a rule,
and everything else is a contradiction.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from swarm_bench.core.ports import Probe
from swarm_bench.core.session.experiment import Mode
from swarm_bench.core.session.records import Agreement, SwarmRecord, Treatment, TrialRecord
from swarm_bench.core.status import Cause
from swarm_bench.core.treatment.counters import Counters
from swarm_bench.core.treatment.counting import Expected, ToolCalls, Transcripts, numbered
from swarm_bench.retrieval.probes import readings
from swarm_bench.retrieval.witnesses.counted import Counted, counts_of, unread
from swarm_bench.retrieval.witnesses.treatment import MCP_PREFIX

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
_SHARED = "others may ask the service of --service-url, so nobody knows whose calls it counts"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What the counters of one swarm say."""

    agreement: Agreement | None = None
    """`None` when there are no counters, or they could not be read."""
    why: tuple[str, ...] = ()
    moved: bool | None = None
    """Whether anything was counted for this swarm; `None` when it may have been for others."""


@dataclass(frozen=True, kw_only=True)
class _Trust:
    """How far the transcripts bound the counters."""

    no_ceiling: tuple[str, ...]
    """Reasons why there may be more counts than calls."""
    external: bool
    """Others may ask the service, so that its counts need not be of the agents' calls."""


def compare(
    mode: Mode,
    swarm: SwarmRecord,
    trials: Sequence[TrialRecord],
    probes: Mapping[str, Probe],
    *,
    external: bool,
) -> Finding:
    """Compare the counters of a swarm. `trials` are the records of its agents, as far as they are
    there; `external` says that its service is one that others may ask too (`--service-url`). What
    others than `probes` read is not compared."""
    about = {name: probe.counters for name, probe in probes.items() if name in swarm.after}
    counts = counts_of(swarm, about)
    lost = tuple(why for probe, of in about.items() if (why := unread(swarm, probe, of)))
    counted = Counted(counts=counts, about=about, external=external)
    if gives_no_tool(mode):
        clean = len(trials) == len(swarm.agents) and all(map(_shows_no_tool, trials))
        return _without_tool(swarm, counted, lost, clean=clean)
    read = {name: probes[name] for name in about}
    agreement, sentences = _with_tool(mode, swarm, trials, read, counted)
    if agreement is None:
        return Finding(why=lost)
    return Finding(
        agreement=agreement,
        why=sentences if agreement == "contradict" else (*sentences, *lost),
        moved=None if external and any(counts.values()) else any(counts.values()),
    )


def _with_tool(
    mode: Mode,
    swarm: SwarmRecord,
    trials: Sequence[TrialRecord],
    probes: Mapping[str, Probe],
    counted: Counted,
) -> tuple[Agreement | None, tuple[str, ...]]:
    """Judge each counter; return the gravest result, and the sentences on it."""
    counts, about, external = counted.counts, counted.about, counted.external
    ran = [trial for trial in trials if trial.started_at is not None]
    whole = [trial for trial in ran if not _cut_off(trial)]
    trust = _trust(swarm, trials, ran, external=external)
    most, least = (
        _expected(
            probes,
            Transcripts(
                calls=_calls(some), services=mode.services, external=external, counts=counts
            ),
        )
        for some in (ran, whole)
    )
    cut = len(whole) < len(ran)
    judged = [
        _judged(key, count, most[key], least[key].low if cut else most[key].low, trust, about)
        for key, count in counts.items()
        if key in most and key in least
    ]
    if not judged:
        return None, ()
    agreement = _worst([agreement for agreement, _ in judged])
    # Beside a contradiction, what is explained or was not read would read as another one.
    return agreement, tuple(sentence for of, sentence in judged if sentence and of == agreement)


def _expected(
    probes: Mapping[str, Probe], transcripts: Transcripts
) -> dict[tuple[str, str], Expected]:
    """Ask the probes what each counter may show."""
    return {
        (name, key): expected
        for name, probe in probes.items()
        for key, expected in readings.expected(probe, transcripts).items()
    }


def gives_no_tool(mode: Mode) -> bool:
    """Tell whether nothing of the mode may touch a retrieval tool."""
    return not mode.servers and not mode.services


def _without_tool(
    swarm: SwarmRecord, counted: Counted, lost: tuple[str, ...], *, clean: bool
) -> Finding:
    """Check that nothing was counted in a mode that gives no tool, and that no file appeared. A
    file without a count proves no use where all agents are `clean`: any of them can make it."""
    moved, about = counted.moved, counted.about
    appeared = [
        probe
        for probe, of in about.items()
        if of.file and swarm.before.get(probe) is None and swarm.after.get(probe)
    ]
    local = bool(appeared) or not all(counted.may_be_of_others(probe) for probe, _ in moved)
    if not moved and not appeared:
        agreement: Agreement | None = "agree" if counted.counts else None
        return Finding(agreement=agreement, why=lost, moved=False if counted.counts else None)
    texts = [_counted_text(key, counted.counts[key], about[key[0]]) for key in moved]
    files = " and ".join(f"{about[probe].file}" for probe in appeared)
    what = " and ".join(texts) or f"{files} appeared in the workspace"
    made = clean and not moved
    who = "a tool ran that the mode does not give" if local else "somebody asked the service"
    blank = [probe for probe in appeared if set((swarm.after[probe] or {}).values()) == {None}]
    if not moved and blank:
        what += ", and is no regular file or no database that can be read"
        who = "whether a tool ran that the mode does not give cannot be told from it"
    if made:
        who = (
            "no agent shows such a tool or a call of one, so this does not prove use, and is only "
            "a warning"
        )
    sentence = f"{swarm.mode} gives no retrieval tool, and {what}: {who}."
    return Finding(agreement="contradict", why=(sentence,), moved=local and not made)


def _shows_no_tool(trial: TrialRecord) -> bool:
    """Tell whether the whole transcript of an agent shows what it had, and no retrieval tool."""
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
        _SHARED: external,
    }
    return _Trust(
        no_ceiling=tuple(reason for reason, holds in reasons.items() if holds),
        external=external,
    )


def _cut_off(trial: TrialRecord) -> bool:
    """Tell whether it was ended while it may have had a call open."""
    at_the_limit = trial.cause is Cause.MAX_TURNS and trial.turns_counted is True
    return trial.cause in CUT_OFF or at_the_limit


def _counted_text(key: tuple[str, str], count: int, about: Counters) -> str:
    return f"{about.counted} {numbered(count, about.nouns[key[1]])}"


def _calls(trials: Sequence[TrialRecord]) -> dict[str, ToolCalls]:
    """Sum up the calls of MCP tools over all trials."""
    calls = dict[str, ToolCalls]()
    for trial in trials:
        failures, unanswered = trial.tool_failures or {}, trial.tool_unanswered or {}
        for tool, number in (trial.tool_calls or {}).items():
            if tool.startswith(MCP_PREFIX):
                failed, silent = min(number, failures.get(tool, 0)), unanswered.get(tool, 0)
                more = ToolCalls(
                    answered=number - failed - silent, failed=failed, unanswered=silent
                )
                calls[tool] = calls[tool] + more if tool in calls else more
    return calls


def _judged(
    key: tuple[str, str],
    count: int,
    fits: Expected,
    low: float,
    trust: _Trust,
    probes: Mapping[str, Counters],
) -> tuple[Agreement, str]:
    """Judge a count. `low` is the fewest that calls of agents that were not cut off allow."""
    about = probes[key[0]]
    reason: str | None
    if count == fits.plain:
        if not count or not trust.external or not about.shared:
            return "agree", ""
        reason = _SHARED
    elif fits.low <= count <= fits.high:
        reason = fits.below if count < fits.plain else fits.above
    elif count > fits.high:
        reason = "; ".join(filter(None, (*trust.no_ceiling, fits.no_ceiling))) or None
    elif count >= low:
        reason = "agents were cut off in the middle of their work"
    else:
        reason = fits.no_floor or None
    sentence = f"{_counted_text(key, count, about)}, and the transcripts have {fits.calls}"
    sentence = sentence[0].upper() + sentence[1:]
    if reason is None:
        return "contradict", f"{sentence}: no rule of {about.rules} explains that."
    return "explained", f"{sentence}: {reason}."


def _worst(agreements: Sequence[Agreement]) -> Agreement:
    order: tuple[Agreement, ...] = ("contradict", "explained", "agree")
    return next(agreement for agreement in order if agreement in agreements)

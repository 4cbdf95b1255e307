"""The counters of one swarm against the transcripts of its agents.

Counters cannot be told apart by agent, and canopy counts by rules of its own. So the calls of all
transcripts give, for each counter, the number that one count per call would be, and an interval
that the rules allow. That number is agreement, the rest of the interval is explained by a rule,
and everything else is a contradiction.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swarm_bench.core.ports import Probe
from swarm_bench.core.session.experiment import Mode
from swarm_bench.core.session.records import Agreement, SwarmRecord, Treatment, TrialRecord
from swarm_bench.core.status import Cause
from swarm_bench.core.treatment.counters import Counters
from swarm_bench.core.treatment.counting import Expected, ToolCalls, Transcripts, numbered
from swarm_bench.retrieval.probes import registered
from swarm_bench.retrieval.witnesses.treatment import MCP_PREFIX


@dataclass(frozen=True, kw_only=True)
class CounterReading:
    """What was counted around a swarm."""

    counts: Mapping[tuple[str, str], int]
    counters: Mapping[str, Counters]
    external: bool

    @property
    def moved_counters(self) -> list[tuple[str, str]]:
        """The counters that did not stand still."""
        return [key for key, count in self.counts.items() if count]

    def may_be_of_others(self, probe: str) -> bool:
        """Tell whether calls of others may have been counted."""
        return self.external and self.counters[probe].shared


def explain_unread(swarm: SwarmRecord, probe: str, counters: Counters) -> str | None:
    """Say why the transcripts were not compared with all that the probe counts."""
    if _no_file(swarm, probe, counters):
        return None
    change = swarm.difference.get(probe) or {}
    if _was_reset(change, counters):
        return (
            f"The {probe} counters are lower than before the agents began, so they were reset in "
            "between and cannot be compared."
        )
    needed = set(counters.nouns) - set(counters.may_lack)
    if not all(isinstance(change.get(name), int) for name in needed):
        return f"The {probe} counters could not be read, before the agents or after them."
    return None


def _was_reset(change: Mapping[str, Any], counters: Counters) -> bool:
    """Tell whether a counter went down, as after a restart of a service."""
    values = map(change.get, counters.nouns)
    return any(isinstance(value, int) and value < 0 for value in values)


def _no_file(swarm: SwarmRecord, probe: str, counters: Counters) -> bool:
    """Tell whether the tool wrote no file, before or after."""
    readings = (swarm.before.get(probe), swarm.after.get(probe))
    return counters.file is not None and readings == (None, None)


def read_counts(swarm: SwarmRecord, probes: Mapping[str, Counters]) -> dict[tuple[str, str], int]:
    """Collect the counters that can be compared, by probe and name."""
    counts = {}
    for probe, counters in probes.items():
        change = swarm.difference.get(probe) or {}
        for name in counters.nouns:
            value = 0 if _no_file(swarm, probe, counters) else change.get(name)
            if isinstance(value, int) and not _was_reset(change, counters):
                counts[probe, name] = value
    return counts


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
"""Ends after which a transcript may lack calls, or have unanswered calls."""
_SHARED = "others may ask the service of --service-url, so nobody knows whose calls it counts"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What the counters of one swarm say."""

    agreement: Agreement | None = None
    """`None` when there are no counters, or they could not be read."""
    reasons: tuple[str, ...] = ()
    moved: bool | None = None
    """Whether anything was counted for this swarm; `None` when it may have been for others."""


@dataclass(frozen=True, kw_only=True)
class _Trust:
    """How far the transcripts bound the counters."""

    no_ceiling: tuple[str, ...]
    """Reasons why there may be more counts than calls."""
    external: bool
    """Whether the service is open to others, so that its counts need not be of the agents'
    calls."""


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
    counters = {name: probe.counters for name, probe in probes.items() if name in swarm.after}
    counts = read_counts(swarm, counters)
    unread_reasons = tuple(
        reason
        for probe, declared in counters.items()
        if (reason := explain_unread(swarm, probe, declared))
    )
    reading = CounterReading(counts=counts, counters=counters, external=external)
    if gives_no_tool(mode):
        clean = len(trials) == len(swarm.agents) and all(map(_shows_no_tool, trials))
        return _compare_without_tool(swarm, reading, unread_reasons, clean=clean)
    read = {name: probes[name] for name in counters}
    agreement, sentences = _compare_with_tool(mode, swarm, trials, read, reading)
    if agreement is None:
        return Finding(reasons=unread_reasons)
    return Finding(
        agreement=agreement,
        reasons=sentences if agreement == "contradict" else (*sentences, *unread_reasons),
        moved=None if external and any(counts.values()) else any(counts.values()),
    )


def _compare_with_tool(
    mode: Mode,
    swarm: SwarmRecord,
    trials: Sequence[TrialRecord],
    probes: Mapping[str, Probe],
    reading: CounterReading,
) -> tuple[Agreement | None, tuple[str, ...]]:
    """Judge each counter; return the gravest result, and the sentences on it."""
    counts, counters, external = reading.counts, reading.counters, reading.external
    ran = [trial for trial in trials if trial.started_at is not None]
    finished = [trial for trial in ran if not _cut_off(trial)]
    trust = _assess_trust(swarm, trials, ran, external=external)
    upper, lower = (
        _ask_probes(
            probes,
            Transcripts(
                calls=_sum_calls(selected), services=mode.services, external=external, counts=counts
            ),
        )
        for selected in (ran, finished)
    )
    cut = len(finished) < len(ran)
    results = [
        _judge(key, count, upper[key], lower[key].low if cut else upper[key].low, trust, counters)
        for key, count in counts.items()
        if key in upper and key in lower
    ]
    if not results:
        return None, ()
    agreement = _find_worst([agreement for agreement, _ in results])
    # Beside a contradiction, what is explained or was not read would read as another one.
    return agreement, tuple(
        sentence for label, sentence in results if sentence and label == agreement
    )


def _ask_probes(
    probes: Mapping[str, Probe], transcripts: Transcripts
) -> dict[tuple[str, str], Expected]:
    """Ask the probes what each counter may show."""
    return {
        (name, key): expected
        for name, probe in probes.items()
        for key, expected in registered.expect_counts(probe, transcripts).items()
    }


def gives_no_tool(mode: Mode) -> bool:
    """Tell whether nothing of the mode may touch a retrieval tool."""
    return not mode.servers and not mode.services


def _compare_without_tool(
    swarm: SwarmRecord, reading: CounterReading, unread_reasons: tuple[str, ...], *, clean: bool
) -> Finding:
    """Check that nothing was counted in a mode that gives no tool, and that no file appeared. A
    file without a count proves no use where all agents are `clean`: any of them can make it."""
    moved, counters = reading.moved_counters, reading.counters
    appeared = [
        probe
        for probe, declared in counters.items()
        if declared.file and swarm.before.get(probe) is None and swarm.after.get(probe)
    ]
    local = bool(appeared) or not all(reading.may_be_of_others(probe) for probe, _ in moved)
    if not moved and not appeared:
        agreement: Agreement | None = "agree" if reading.counts else None
        return Finding(
            agreement=agreement, reasons=unread_reasons, moved=False if reading.counts else None
        )
    texts = [_describe_count(key, reading.counts[key], counters[key[0]]) for key in moved]
    files = " and ".join(f"{counters[probe].file}" for probe in appeared)
    subject = " and ".join(texts) or f"{files} appeared in the workspace"
    is_unproved = clean and not moved
    who = "a tool ran that the mode does not give" if local else "somebody asked the service"
    blank = [probe for probe in appeared if set((swarm.after[probe] or {}).values()) == {None}]
    if not moved and blank:
        subject += ", and is no regular file or no database that can be read"
        who = "whether a tool ran that the mode does not give cannot be told from it"
    if is_unproved:
        who = (
            "no agent shows such a tool or a call of one, so this does not prove use, and is only "
            "a warning"
        )
    sentence = f"{swarm.mode} gives no retrieval tool, and {subject}: {who}."
    return Finding(agreement="contradict", reasons=(sentence,), moved=local and not is_unproved)


def _shows_no_tool(trial: TrialRecord) -> bool:
    """Tell whether the whole transcript of an agent shows what it had, and no retrieval tool."""
    is_complete = trial.tool_calls is not None and not _cut_off(trial)
    return is_complete and trial.retrieval is Treatment.NOT_GIVEN


def _assess_trust(
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


def _describe_count(key: tuple[str, str], count: int, counters: Counters) -> str:
    return f"{counters.counted} {numbered(count, counters.nouns[key[1]])}"


def _sum_calls(trials: Sequence[TrialRecord]) -> dict[str, ToolCalls]:
    """Sum up the calls of MCP tools over all trials."""
    calls = dict[str, ToolCalls]()
    for trial in trials:
        failures, unanswered = trial.tool_failures or {}, trial.tool_unanswered or {}
        for tool, number in (trial.tool_calls or {}).items():
            if tool.startswith(MCP_PREFIX):
                failed, silent = min(number, failures.get(tool, 0)), unanswered.get(tool, 0)
                added = ToolCalls(
                    answered=number - failed - silent, failed=failed, unanswered=silent
                )
                calls[tool] = calls[tool] + added if tool in calls else added
    return calls


def _judge(
    key: tuple[str, str],
    count: int,
    fits: Expected,
    low: float,
    trust: _Trust,
    probes: Mapping[str, Counters],
) -> tuple[Agreement, str]:
    """Judge a count. `low` is the fewest that calls of agents that were not cut off allow."""
    counters = probes[key[0]]
    reason: str | None
    if count == fits.plain:
        if not count or not trust.external or not counters.shared:
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
    sentence = f"{_describe_count(key, count, counters)}, and the transcripts have {fits.calls}"
    sentence = sentence[0].upper() + sentence[1:]
    if reason is None:
        return "contradict", f"{sentence}: no rule of {counters.rules} explains that."
    return "explained", f"{sentence}: {reason}."


def _find_worst(agreements: Sequence[Agreement]) -> Agreement:
    order: tuple[Agreement, ...] = ("contradict", "explained", "agree")
    return next(agreement for agreement in order if agreement in agreements)

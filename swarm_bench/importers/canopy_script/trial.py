"""One agent of canopy's script: its line in `metrics.jsonl` and its payload made into a record."""

from collections.abc import Mapping
from dataclasses import dataclass

from swarm_bench.core.outcome import Usage
from swarm_bench.core.ports import ScoreContext
from swarm_bench.core.session.records import Treatment, TrialRecord
from swarm_bench.core.session.scores import OwnScores
from swarm_bench.core.status import CONSEQUENCES, Cause
from swarm_bench.importers.canopy_script.metrics_file import Warn
from swarm_bench.importers.canopy_script.payload import Payload
from swarm_bench.scoring.length import Length
from swarm_bench.scoring.references import References
from swarm_bench.scoring.structure import Structure

_PARTS = ("input_tokens", "cache_read", "cache_create", "output_tokens")


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """An agent, and the task that its number gets."""

    mode: str
    agent: int
    task: str

    def __str__(self) -> str:
        return f"{self.mode} agent {self.agent}"


def build_trial(
    assignment: Assignment,
    *,
    line: TrialRecord | None,
    payload: Payload | None,
    head: Mapping[str, str],
    warn: Warn,
) -> TrialRecord:
    """Make the record of one agent. The line counts, as far as the payload bears it out: a 0 for a
    figure that the agent did not give becomes `None`. At least one of the two must be there."""
    if line and payload and find_differing_keys(line, payload):
        payload = None  # nothing shows which of them is right
    if payload is None:
        return _build_from_line(assignment, line)
    if not payload.read_by_script:
        warn(
            f"{assignment}: the script could not read what the agent printed; the result in it was "
            "recognized all the same, and its figures are used."
        )
    return _build_from_payload(assignment, line, payload, head)


def _build_from_payload(
    assignment: Assignment, line: TrialRecord | None, payload: Payload, head: Mapping[str, str]
) -> TrialRecord:
    figures = _build_figures(line if payload.read_by_script else None, payload)
    tokens = figures.tokens
    return TrialRecord(
        mode=assignment.mode,
        agent=assignment.agent,
        task=line.task if line else assignment.task,
        trial=str(assignment),
        status=CONSEQUENCES[payload.cause].status,
        cause=payload.cause,
        detail=payload.detail,
        retrieval=Treatment.UNKNOWN,
        duration_ms=figures.duration_ms,
        duration_s=figures.duration_s,
        num_turns=figures.num_turns,
        input_tokens=tokens.input,
        cache_read=tokens.cache_read,
        cache_create=tokens.cache_create,
        output_tokens=tokens.output,
        total_tokens=tokens.reported,
        effective_tokens=tokens.effective,
        cost=figures.cost,
        compacted=_count_compactions(figures.num_turns, head),
        model=None if head.get("model") == "default" else head.get("model"),
        **vars(_score(payload, head)),
    )


def _build_from_line(assignment: Assignment, line: TrialRecord | None) -> TrialRecord:
    """Make a record without a payload: a line of zeros is an agent that gave nothing; any other
    is believed."""
    if line and (line.total_tokens or line.num_turns):
        return line.model_copy(update={"trial": str(assignment), "retrieval": Treatment.UNKNOWN})
    return TrialRecord(
        mode=assignment.mode,
        agent=assignment.agent,
        task=line.task if line else assignment.task,
        trial=str(assignment),
        status=CONSEQUENCES[Cause.NO_OUTPUT].status,
        cause=Cause.NO_OUTPUT,
        retrieval=Treatment.UNKNOWN,
    )


def find_differing_keys(line: TrialRecord, payload: Payload) -> tuple[str, ...]:
    """Return the keys of the figures that differ between an agent's file and its line, as far as
    both have them: one of the two was changed, or is of another run."""
    if not payload.read_by_script or not payload.figures:
        return ()
    figures = payload.figures
    pairs = {key: (figures.get(key), getattr(line, key)) for key in ("num_turns", "cost", *_PARTS)}
    return tuple(key for key, pair in pairs.items() if None not in pair and pair[0] != pair[1])


@dataclass(frozen=True, kw_only=True)
class _Figures:
    """The figures that the agent gave; `None` where it did not."""

    duration_ms: float | None
    duration_s: float | None
    num_turns: int | None
    cost: float | None
    tokens: Usage


def _build_figures(line: TrialRecord | None, payload: Payload) -> _Figures:
    reported = payload.figures or {}
    # An agent that failed before its first answer reports 0 of everything.
    if payload.cause not in {Cause.FINISHED, Cause.MAX_TURNS}:
        reported = {key: figure for key, figure in reported.items() if figure}
    milliseconds = reported.get("duration_ms")
    seconds = None if milliseconds is None else int(milliseconds / 10) / 100
    if line and milliseconds is not None and line.duration_s is not None:
        seconds = line.duration_s
    return _Figures(
        duration_ms=milliseconds,
        duration_s=seconds,
        num_turns=_read_integer(reported, "num_turns"),
        cost=reported.get("cost"),
        tokens=Usage(
            input=_read_integer(reported, "input_tokens"),
            cache_read=_read_integer(reported, "cache_read"),
            cache_create=_read_integer(reported, "cache_create"),
            output=_read_integer(reported, "output_tokens"),
        ),
    )


def _read_integer(figures: Mapping[str, float], key: str) -> int | None:
    return int(figures[key]) if key in figures else None


def _count_compactions(turns: int | None, head: Mapping[str, str]) -> int | None:
    limit = read_whole_number(head.get("max_turns"))
    return None if turns is None or limit is None else int(turns >= limit)


def read_whole_number(text: str | None) -> int | None:
    """Read a number of the head, into which the script copies its options unchecked."""
    return int(text) if text and len(text) < 10 and text.isdecimal() else None


def _score(payload: Payload, head: Mapping[str, str]) -> OwnScores:
    """Score the answer. The script keeps no list of the repository's files, so no mention can be
    checked for existence."""
    context = ScoreContext(
        text=payload.answer or "", workspace=head.get("repository", ""), files=frozenset()
    )
    return OwnScores.model_validate(
        {
            key: value
            for scorer in (References(), Structure(), Length())
            for key, value in scorer.score(context).items()
        }
    )

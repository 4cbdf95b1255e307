"""One agent of canopy's script: its line in `metrics.jsonl` and its payload made into a record."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from swarm_bench.analysis.script_lines import Warn
from swarm_bench.analysis.script_payload import Payload
from swarm_bench.core.ports import ScoreContext
from swarm_bench.core.records import Treatment, TrialRecord
from swarm_bench.core.status import CONSEQUENCES, Cause
from swarm_bench.scoring.length import Length
from swarm_bench.scoring.references import References
from swarm_bench.scoring.structure import Structure

_PARTS = ("input_tokens", "cache_read", "cache_create", "output_tokens")
_FIGURES = ("duration_ms", "num_turns", "cost", *_PARTS)


@dataclass(frozen=True, kw_only=True)
class Place:
    """Which agent it is, and the task it was given by its number."""

    mode: str
    agent: int
    task: str

    def __str__(self) -> str:
        return f"{self.mode} agent {self.agent}"


def script_trial(
    place: Place,
    *,
    line: TrialRecord | None,
    payload: Payload | None,
    head: Mapping[str, str],
    warn: Warn,
) -> TrialRecord:
    """The record of one agent. The line counts, as far as the payload bears it out: a 0 for a
    figure that the agent did not give becomes `None`. At least one of the two must be there."""
    if line and payload and differing(line, payload):
        payload = None  # which of them is right cannot be told
    if payload is None:
        return _from_line(place, line)
    if not payload.read_by_script:
        warn(
            f"{place}: the script could not read what the agent printed; the result in it was "
            "found all the same, and its figures are used."
        )
    figures = _figures(line if payload.read_by_script else None, payload)
    return TrialRecord.model_validate(
        {
            **_named(place, line),
            **figures,
            **_sums(figures),
            **_scores(payload, head),
            **_ending(payload.cause, payload.detail),
            "compacted": _compacted(figures, head),
            "model": None if head.get("model") == "default" else head.get("model"),
        }
    )


def _from_line(place: Place, line: TrialRecord | None) -> TrialRecord:
    """Without a payload a line of zeros is an agent that gave nothing; another one is believed."""
    if line and (line.total_tokens or line.num_turns):
        return line.model_copy(update={"trial": str(place), "retrieval": Treatment.UNKNOWN})
    return TrialRecord.model_validate({**_named(place, line), **_ending(Cause.NO_OUTPUT, None)})


def _named(place: Place, line: TrialRecord | None) -> dict[str, Any]:
    task = line.task if line else place.task
    return {"trial": str(place), "mode": place.mode, "agent": place.agent, "task": task}


def _ending(cause: Cause, detail: str | None) -> dict[str, Any]:
    return {
        "status": CONSEQUENCES[cause].status,
        "cause": cause,
        "detail": detail,
        "retrieval": Treatment.UNKNOWN,
    }


def differing(line: TrialRecord, payload: Payload) -> tuple[str, ...]:
    """Keys of the figures that an agent's file gives otherwise than its line, as far as both have
    them: one of the two was changed, or is of another run."""
    if not payload.read_by_script or not payload.figures:
        return ()
    figures = payload.figures
    both = {key: (figures.get(key), getattr(line, key)) for key in ("num_turns", "cost", *_PARTS)}
    return tuple(key for key, pair in both.items() if None not in pair and pair[0] != pair[1])


def _figures(line: TrialRecord | None, payload: Payload) -> dict[str, float | None]:
    given = payload.figures or {}
    # An agent that failed before its first answer reports 0 of everything.
    failed = payload.cause not in {Cause.FINISHED, Cause.MAX_TURNS}
    figures: dict[str, float | None] = {
        key: None if failed and not given.get(key) else given.get(key) for key in _FIGURES
    }
    milliseconds = figures["duration_ms"]
    seconds = None if milliseconds is None else int(milliseconds / 10) / 100
    if line and milliseconds is not None and line.duration_s is not None:
        seconds = line.duration_s
    return {**figures, "duration_s": seconds}


def _sums(figures: Mapping[str, float | None]) -> dict[str, float | None]:
    new = [figures[key] for key in ("input_tokens", "cache_create", "output_tokens")]
    known = [tokens for tokens in new if tokens is not None]
    reported = sum(known) if len(known) == len(new) else None
    read = figures["cache_read"]
    effective = None if reported is None or read is None else reported + read
    return {"total_tokens": reported, "effective_tokens": effective}


def _compacted(figures: Mapping[str, float | None], head: Mapping[str, str]) -> int | None:
    turns, limit = figures["num_turns"], whole_number(head.get("max_turns"))
    return None if turns is None or limit is None else int(turns >= limit)


def whole_number(text: str | None) -> int | None:
    """A number in the head; the script writes down whatever it was given."""
    return int(text) if text and len(text) < 10 and text.isdecimal() else None


def _scores(payload: Payload, head: Mapping[str, str]) -> dict[str, Any]:
    """The script keeps no list of the repository's files, so none can be said to exist."""
    context = ScoreContext(
        text=payload.answer or "", workspace=head.get("repository", ""), files=frozenset()
    )
    return {
        key: value
        for scorer in (References(), Structure(), Length())
        for key, value in scorer.score(context).items()
    }

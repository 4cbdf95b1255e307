"""One trial of canopy's script: its line of `metrics.jsonl`, defects included, its `agent-N.json`,
and what they come to."""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from swarm_bench.agents.reading.api_errors import last_error
from swarm_bench.agents.reading.json_lines import JsonObject, broken_off, parse_objects
from swarm_bench.agents.stream_json.failures import find_answer, find_failure
from swarm_bench.agents.stream_json.transcript import Transcript
from swarm_bench.core.outcome import Usage
from swarm_bench.core.ports import ScoreContext
from swarm_bench.core.session.records import Treatment, TrialRecord
from swarm_bench.core.session.scores import OwnScores
from swarm_bench.core.status import CONSEQUENCES, Cause
from swarm_bench.scoring.form import Length, Structure
from swarm_bench.scoring.references import References


@dataclass(frozen=True, kw_only=True)
class Payload:
    cause: Cause
    detail: str | None = None
    answer: str | None = None
    figures: dict[str, float] | None = None
    """Figures by the key of the record, those that the payload has; `None` without a payload."""
    read_by_script: bool = True
    """False when the script could not read it and wrote zeros instead."""


_FIGURES = {
    "duration_ms": ("duration_ms",),
    "num_turns": ("num_turns",),
    "cost": ("total_cost_usd",),
    "input_tokens": ("usage", "input_tokens"),
    "cache_read": ("usage", "cache_read_input_tokens"),
    "cache_create": ("usage", "cache_creation_input_tokens"),
    "output_tokens": ("usage", "output_tokens"),
}
_TOKENS = ("input_tokens", "cache_read", "cache_create", "output_tokens")
_WITH_DECIMALS = {"duration_ms", "cost"}
_WITHOUT_DETAIL = {Cause.FINISHED, Cause.EMPTY_ANSWER}


def read_payload(content: bytes) -> Payload:
    """Read what the agent printed. Never raises."""
    text = content.decode("utf-8-sig", errors="replace")
    if not text.strip():
        return Payload(cause=Cause.NO_OUTPUT, detail="the agent printed nothing")
    document = _parse_object(text)
    printed = [document] if document else [item.value for item in parse_objects(content)]
    if results := list(filter(_is_result, printed)):
        return _build_payload(
            results[-1], _build_transcript(printed), read_by_script=document is not None
        )
    if document is not None:
        detail = (
            _find_message(document)
            or "the agent printed no result; the script put a placeholder there"
        )
        return Payload(cause=Cause.NO_OUTPUT, detail=detail)
    # The script does not store the exit code, which could tell a lost end from an agent that died.
    clause = "breaks off" if broken_off(content) else "is not a JSON result"
    return Payload(
        cause=last_error(text) or Cause.UNREADABLE_OUTPUT,
        detail=f"what the agent printed {clause}",
    )


def _build_transcript(printed: list[dict[str, Any]]) -> Transcript:
    """Read events and results as those of a session of ours are; older results have no type."""
    transcript = Transcript()
    for event in printed:
        if _is_result(event):
            failed = str(event.get("subtype")).startswith("error")
            event = {
                **event,
                "type": "result",
                "subtype": event["subtype"] if failed else "success",
                "result": event.get("result") or (event.get("is_error") and event.get("error")),
            }
        transcript.add(JsonObject(value=event, raw=b""))
    return transcript


def _parse_object(text: str) -> dict[str, Any] | None:
    """Read the text as one JSON object, which is all that the script reads."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _is_result(document: dict[str, Any]) -> bool:
    """Tell whether an agent printed it. The script's placeholder has a `usage` of zeros."""
    usage = isinstance(document.get("usage"), dict) and any(_select_figures(document).values())
    return document.get("type") == "result" or usage


def _build_payload(
    document: dict[str, Any], transcript: Transcript, *, read_by_script: bool
) -> Payload:
    cause, detail = find_failure(transcript) or (Cause.FINISHED, None)
    answer = find_answer(transcript, cause)
    if cause is Cause.FINISHED and answer is None:
        cause = Cause.EMPTY_ANSWER
    return Payload(
        cause=cause,
        detail=None if cause in _WITHOUT_DETAIL else _find_message(document) or detail,
        answer=answer if cause in (Cause.FINISHED, Cause.ANSWER_CUT) else None,
        figures=_select_figures(document),
        read_by_script=read_by_script,
    )


def _find_message(document: dict[str, Any]) -> str | None:
    for key in ("result", "error", "subtype"):
        if isinstance(document.get(key), str) and document[key].strip():
            return str(document[key]).strip()[:300]
    return None


def _select_figures(document: dict[str, Any]) -> dict[str, float]:
    """Return the figures. An answer takes tokens: zeros throughout are no figures, and neither is
    a cost of 0 beside them."""
    figures = dict(_read_figures(document))
    if any(figures.get(key) for key in _TOKENS):
        return figures
    return {
        key: value
        for key, value in figures.items()
        if key not in _TOKENS and (key, value) != ("cost", 0)
    }


def _read_figures(document: dict[str, Any]) -> Iterator[tuple[str, float]]:
    for key, path in _FIGURES.items():
        value: Any = document
        for step in path:
            value = value.get(step) if isinstance(value, dict) else None
        if _is_figure(value, is_integer=key not in _WITH_DECIMALS):
            yield key, value


def _is_figure(value: object, *, is_integer: bool) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return 0 <= value < math.inf and (not is_integer or value == int(value))


Lines = dict[tuple[str, int], TrialRecord]
Warn = Callable[[str], None]

# `bc` prints `.48`; the script puts that into the line as it is.
_NAKED_DECIMAL = re.compile(r'("[A-Za-z_]+":\s*-?)\.(?=\d)')
_FOLDER = re.compile(r"(?!\.)[^/\x00]{1,60}")
_MAX_LISTED = 5


def read_lines(content: bytes, warn: Warn) -> Lines:
    """Read the last line of each agent, by mode and agent, in the order of the file."""
    lines: Lines = {}
    repaired, broken, repeated = [], [], dict[tuple[str, int], int]()
    for number, raw in enumerate(content.split(b"\n"), start=1):
        if not raw.strip():
            continue
        text = raw.decode("utf-8-sig", errors="replace")
        record, was_repaired = _read_record(text)
        if record is None:
            broken.append(number)
            continue
        if was_repaired:
            repaired.append(number)
        key = (record.mode, record.agent)
        repeated[key] = repeated.get(key, 0) + 1
        lines[key] = record
    _report(warn, repaired, broken, repeated)
    return lines


def _read_record(text: str) -> tuple[TrialRecord | None, bool]:
    try:
        return _parse_line(text), False
    except ValueError:
        pass
    try:
        return _parse_line(_NAKED_DECIMAL.sub(r"\g<1>0.", text)), True
    except ValueError:
        return None, False


def _parse_line(text: str) -> TrialRecord:
    """Parse a line. Raises `ValueError`, which pydantic's error is too."""
    try:
        record = TrialRecord.model_validate(json.loads(text), extra="ignore")
    except (ValidationError, RecursionError) as error:
        raise ValueError(str(error)) from error
    if not _FOLDER.fullmatch(record.mode):
        raise ValueError(f"{record.mode!r} cannot be the name of a mode's folder")
    return record


def _report(
    warn: Warn, repaired: list[int], broken: list[int], repeated: dict[tuple[str, int], int]
) -> None:
    if repaired:
        warn(
            f"metrics.jsonl: {_describe_lines(repaired)} not valid JSON (a number such as .48 "
            f"without its zero, which the script writes for times below one second); read with "
            f"the zero."
        )
    if broken:
        warn(f"metrics.jsonl: {_describe_lines(broken)} unreadable and omitted.")
    twice = [f"{mode} agent {agent}" for (mode, agent), times in repeated.items() if times > 1]
    if twice:
        warn(
            "metrics.jsonl has several lines for "
            f"{_join_first(twice)}: the folder was used twice, and the script counts them all; "
            f"here only the last line of each agent counts, which is the one its files belong to."
        )


def _describe_lines(numbers: list[int]) -> str:
    single = len(numbers) == 1
    return f"line{'' if single else 's'} {_join_first(numbers)} {'is' if single else 'are'}"


def _join_first(things: list[int] | list[str]) -> str:
    listing = ", ".join(map(str, things[:_MAX_LISTED]))
    return listing + (f" and {len(things) - _MAX_LISTED} more" if len(things) > _MAX_LISTED else "")


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

"""Reads one `agent-N.json` of canopy's script: what the agent printed, or what was put in its
place."""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from swarm_bench.agents.reading.api_errors import last_error
from swarm_bench.agents.reading.json_lines import JsonObject, broken_off, parse_objects
from swarm_bench.agents.stream_json.failures import find_answer, find_failure
from swarm_bench.agents.stream_json.transcript import Transcript
from swarm_bench.core.status import Cause


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

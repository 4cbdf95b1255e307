"""Prints what happens as Claude Code prints it: `text`, `json` or `stream-json`."""

import json
import sys
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from swarm_bench.core.outcome import Usage
from swarm_bench.programs.scout.options import Options

# Any fixed value does: ids must be the same in every call with the same prompt and seed.
_NAMESPACE = UUID("6f6bb9a4-3a43-4d1e-9f0b-5c0f7d2a8e11")

Event = dict[str, Any]


class Printer:
    """A writer of events to standard output, in the format that was asked for."""

    def __init__(self, options: Options) -> None:
        self.session = options.session or str(
            uuid5(_NAMESPACE, f"{options.seed}\n{options.model}\n{options.prompt}")
        )
        self._format = options.output
        self._verbose = options.verbose
        self._events: list[Event] = []
        self._number = 0
        self._writing = False

    def print_event(self, event: Event) -> None:
        """Print an event before the last one."""
        full = self._complete(event)
        if self._format == "stream-json":
            self._write(_json(full))
        elif self._format == "json" and self._verbose:
            self._events.append(full)

    def print_result(self, event: Event) -> None:
        """Print the last event."""
        full = self._complete(event)
        if self._format == "text":
            self._write(full["result"] if "result" in full else f"Error: {full['errors'][0]}")
        elif self._format == "json" and self._verbose:
            self._write(_json([*self._events, full]))
        else:
            self._write(_json(full))

    def _write(self, text: str) -> None:
        # An interrupt can cut a line in two; what follows then starts on a new one.
        begin = b"\n" if self._writing else b""
        self._writing = True
        # Bytes, because the encoding of standard output depends on the locale.
        sys.stdout.buffer.write(begin + text.encode("utf-8", "replace") + b"\n")
        sys.stdout.buffer.flush()
        self._writing = False

    def _complete(self, event: Event) -> Event:
        self._number += 1
        name = f"{self.session} {self._number}"
        return {**event, "session_id": self.session, "uuid": str(uuid5(_NAMESPACE, name))}


def usage_event(usage: Usage) -> Event:
    """Build Claude's `usage` object."""
    return {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_create,
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": usage.output,
    }


def model_usage(model: str, usage: Usage, cost: float | None) -> Event:
    """Build Claude's `modelUsage` object."""
    return {
        model: {
            "inputTokens": usage.input,
            "outputTokens": usage.output,
            "cacheReadInputTokens": usage.cache_read,
            "cacheCreationInputTokens": usage.cache_create,
            "costUSD": cost,
        }
    }


def assistant_event(number: int, model: str, block: Mapping[str, Any], usage: Usage) -> Event:
    """Wrap one content block of an assistant message; blocks of one request share the message
    id."""
    message = {
        "id": f"msg_{number:06}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [block],
        "usage": usage_event(usage),
    }
    return {"type": "assistant", "message": message, "parent_tool_use_id": None}


def user_event(block: Mapping[str, Any], seconds: float, end: datetime) -> Event:
    """Wrap one tool result, how long the call took and when it ended: Claude Code has a time on
    each event instead, which would tell when it was printed."""
    message = {"role": "user", "content": [block]}
    extras = {"seconds": round(seconds, 6), "ended": end.isoformat()}
    return {"type": "user", "message": message, "parent_tool_use_id": None, "swarm_bench": extras}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

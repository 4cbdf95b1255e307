"""Transcripts within a page: compressed, and of an alphabet in which nothing is markup. The script
of the page unpacks a task when somebody opens it."""

import json
import zlib
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from swarm_bench.core.outcome import CallContent
from swarm_bench.core.report.page import ShownTask, ShownTrial
from swarm_bench.reports.figures import format_figure
from swarm_bench.reports.text import clean

_LEVEL = 6


def pack_task(task: ShownTask) -> str:
    """Write a task and its trials as base64 of deflated JSON."""
    content = {
        "title": clean(task.title),
        "prompt": clean(task.prompt),
        "trials": [_write_trial(trial) for trial in task.trials],
    }
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return b64encode(zlib.compress(text.encode(), _LEVEL)).decode()


def _write_trial(trial: ShownTrial) -> Mapping[str, Any]:
    return {
        "name": clean(trial.name),
        "outcome": clean(trial.outcome),
        "figures": [(clean(label), format_figure(value)) for label, value in trial.figures],
        "turns": trial.turns,
        "calls": None if trial.calls is None else [*map(_write_call, trial.calls)],
        "answer": clean(trial.answer),
        "errors": clean(trial.errors),
        "key": [(clean(file), is_named) for file, is_named in trial.key],
        "remark": clean(trial.remark),
    }


def _write_call(call: CallContent) -> Mapping[str, Any]:
    return {
        "tool": clean(call.tool),
        "arguments": clean(call.arguments),
        "result": clean(call.result),
        "failed": call.failed,
        "turn": call.turn,
        "seconds": call.seconds,
    }

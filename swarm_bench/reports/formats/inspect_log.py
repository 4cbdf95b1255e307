"""Writes an arm as a log of Inspect, version 2 of its JSON: an arm is a task there, and a run an
epoch."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from typing import Any

from swarm_bench.core.outcome import Usage
from swarm_bench.core.report.exported import ExportedSession, ExportedTrial
from swarm_bench.core.report.trials import Entry
from swarm_bench.core.treatment.conversation import ShownCall
from swarm_bench.reports.formats.facts import describe_arm, list_scores, list_trial_facts
from swarm_bench.reports.formats.json_values import drop_missing, write_json
from swarm_bench.reports.formats.steps import Step, list_steps, read_arguments

VERSION = 2
NO_MODEL = "none/none"
"""Inspect's own name for a model that there is none of."""
_COMPLETED = "completed"


def render_log(session: ExportedSession, arm: str) -> Iterator[str]:
    """Yield the log of an arm in pieces, a sample each."""
    rows = [row for row in session.rows if row["arm"] == arm]
    shared = find_shared_cases(rows)
    is_over = len(rows) >= session.planned.get(arm, 0)
    completed = sum(row["status"] == _COMPLETED for row in rows)
    head = {
        "version": VERSION,
        "status": "success" if is_over else "started",
        "eval": _describe_task(session, arm, rows),
        "results": {"total_samples": len(rows), "completed_samples": completed, "scores": []},
    }
    yield f'{write_json(head)[:-1]}, "samples": ['
    for number, trial in enumerate(session.read_trials(arm)):
        yield ("" if number == 0 else ",") + "\n" + write_json(_describe(session, trial, shared))
    yield "\n]}\n"


def find_shared_cases(rows: list[Mapping[str, Entry]]) -> Set[Entry]:
    """Return the cases that several trials of one run have: a sample is told from others by its
    id and its epoch."""
    counts = Counter((row["run"], row["case"]) for row in rows)
    return {case for (_, case), number in counts.items() if number > 1}


def _describe_task(
    session: ExportedSession, arm: str, rows: list[Mapping[str, Entry]]
) -> dict[str, Any]:
    task = f"{session.id}/{arm}"
    return {
        "eval_id": hashlib.sha256(task.encode("utf-8", "replace")).hexdigest()[:22],
        "run_id": session.id,
        "created": session.created_at.isoformat(),
        "task": arm,
        "task_id": task,
        "dataset": {"name": session.data, "samples": len({row["case"] for row in rows})},
        "model": session.models.get(arm, NO_MODEL),
        "config": {"epochs": session.runs},
        "packages": drop_missing({"swarm-bench": session.version}),
        "metadata": {"benchmark": session.benchmark, **describe_arm(session, arm)},
    }


def _describe(session: ExportedSession, trial: ExportedTrial, shared: Set[Entry]) -> dict[str, Any]:
    row, steps = trial.row, list_steps(trial)
    case = str(row["case"])
    model = trial.model or session.models.get(str(row["arm"]), NO_MODEL)
    usage = _describe_usage(trial)
    questions = [_describe_message(step) for step in steps if step.role != "agent"]
    is_text = len(trial.prompt) == 1 and trial.prompt[0].role == "user"
    return drop_missing(
        {
            "id": f"{case} #{row['number']}" if row["case"] in shared else case,
            "epoch": row["run"],
            "input": trial.prompt[0].text if is_text else questions or "",
            "target": "",
            "messages": [message for step in steps for message in _list_messages(step)],
            "output": _describe_output(trial, model),
            "scores": {
                name: {"value": value} for name, value in list_scores(session, trial).items()
            }
            or None,
            "model_usage": {model: usage} if usage else None,
            "started_at": row.get("started_at"),
            "completed_at": row.get("ended_at"),
            "total_time": row.get("wall_seconds"),
            "error": _describe_error(row),
            "metadata": {
                **list_trial_facts(session, trial),
                "tokens": drop_missing(vars(trial.usage)),
            },
        }
    )


def _describe_error(row: Mapping[str, Entry]) -> dict[str, str] | None:
    """Describe an end without an answer. The format wants traces, and there are none."""
    if row["status"] in (_COMPLETED, None):
        return None
    message = ": ".join(str(row[key]) for key in ("cause", "detail") if row[key])
    return {"message": message, "traceback": "", "traceback_ansi": ""}


def _describe_usage(trial: ExportedTrial) -> dict[str, Any] | None:
    """Describe the tokens; `None` unless all are known, as the format reads what is missing as
    0."""
    usage: Usage = trial.usage
    if usage.effective is None:
        return None
    return drop_missing(
        {
            "input_tokens": usage.input,
            "output_tokens": usage.output,
            "total_tokens": usage.effective,
            "input_tokens_cache_write": usage.cache_create,
            "input_tokens_cache_read": usage.cache_read,
            "total_cost": trial.cost if trial.is_billed else None,
        }
    )


def _describe_output(trial: ExportedTrial, model: str) -> dict[str, Any]:
    if trial.answer is None:
        return {"model": model}
    message = {"role": "assistant", "content": trial.answer}
    return {"model": model, "choices": [{"message": message}], "completion": trial.answer}


def _list_messages(step: Step) -> Iterator[dict[str, Any]]:
    """Yield the message of a step, and the results of its calls."""
    yield _describe_message(step)
    for call in step.calls:
        if call.has_result:
            yield _describe_result(call)


def _describe_message(step: Step) -> dict[str, Any]:
    role = "assistant" if step.role == "agent" else step.role
    calls = [
        {"id": call.id, "function": call.tool, "arguments": read_arguments(call)}
        for call in step.calls
    ]
    return {"role": role, "content": step.text, **({"tool_calls": calls} if calls else {})}


def _describe_result(call: ShownCall) -> dict[str, Any]:
    error = {"type": "unknown", "message": call.result or ""} if call.failed else None
    message = {
        "role": "tool",
        "content": call.result or "",
        "tool_call_id": call.id,
        "function": call.tool,
        "error": error,
    }
    return drop_missing(message)

"""Writes trials as ATIF 1.7, Harbor's format of trajectories: a document for each."""

from collections.abc import Sequence
from typing import Any

from swarm_bench.core.outcome import Usage
from swarm_bench.core.report.exported import ExportedSession, ExportedTrial
from swarm_bench.core.treatment.conversation import ShownCall
from swarm_bench.reports.formats.facts import count_prompt_tokens, list_trial_facts
from swarm_bench.reports.formats.json_values import drop_missing, write_json, write_moment
from swarm_bench.reports.formats.steps import Step, list_steps, read_arguments

VERSION = "ATIF-v1.7"
_UNKNOWN = "unknown"
"""Stands where the format wants a text, and the session has none."""


def render_trajectory(session: ExportedSession, trial: ExportedTrial) -> str | None:
    """Write a trial. `None` for one of which nothing is known that a step can hold."""
    steps = list_steps(trial)
    if not steps:
        return None
    document = {
        "schema_version": VERSION,
        "session_id": session.id,
        "trajectory_id": trial.id,
        "agent": _describe_agent(session, trial),
        "steps": [
            {"step_id": number, **_describe_step(step)}
            for number, step in enumerate(steps, start=1)
        ],
        "final_metrics": drop_missing(
            {
                "total_prompt_tokens": count_prompt_tokens(trial.usage),
                "total_completion_tokens": trial.usage.output,
                "total_cached_tokens": trial.usage.cache_read,
                "total_cost_usd": trial.cost if trial.is_billed else None,
                "total_steps": len(steps),
            }
        ),
        "extra": list_trial_facts(session, trial),
    }
    return write_json(document) + "\n"


def _describe_agent(session: ExportedSession, trial: ExportedTrial) -> dict[str, Any]:
    """Describe who answered. A model that no agent program stands before is asked by us."""
    name, version = trial.agent, trial.agent_version
    if session.kind == "model" and name is None:
        name, version = "swarm-bench", session.version
    model = trial.model or trial.requested_model
    required = {"name": name or _UNKNOWN, "version": version or _UNKNOWN}
    return {**required, **drop_missing({"model_name": model})}


def _describe_step(step: Step) -> dict[str, Any]:
    usage = {} if step.usage is None else {"llm_call_count": 1, **_describe_usage(step.usage)}
    return {
        "source": step.role,
        "message": step.text,
        **_describe_calls(step.calls),
        **usage,
    }


def _describe_calls(calls: Sequence[ShownCall]) -> dict[str, Any]:
    if not calls:
        return {}
    results = [_describe_result(call) for call in calls if call.has_result]
    return {
        "tool_calls": [
            {
                "tool_call_id": call.id,
                "function_name": call.tool,
                "arguments": read_arguments(call),
            }
            for call in calls
        ],
        **({"observation": {"results": results}} if results else {}),
    }


def _describe_result(call: ShownCall) -> dict[str, Any]:
    result_at = None if call.result_at is None else write_moment(call.result_at)
    facts = {"failed": call.failed, "seconds": call.seconds, "result_at": result_at}
    result = {"source_call_id": call.id, "content": call.result, "extra": drop_missing(facts)}
    return drop_missing(result)


def _describe_usage(usage: Usage) -> dict[str, Any]:
    figures = drop_missing(
        {
            "prompt_tokens": count_prompt_tokens(usage),
            "completion_tokens": usage.output,
            "cached_tokens": usage.cache_read,
        }
    )
    return {"metrics": figures} if figures else {}

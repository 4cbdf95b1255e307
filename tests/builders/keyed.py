"""Sessions whose tasks have answer keys."""

from collections.abc import Mapping
from typing import Any

from swarm_bench.core.report.report import Report
from swarm_bench.core.session.records import TrialRecord
from tests.builders.reports import summarise
from tests.builders.sessions import make_failed, make_session, make_trial

TASKS: list[dict[str, Any]] = [
    {"id": name, "title": name, "prompt": f"Where is {name}?", "key": {"files": [f"{name}.py"]}}
    for name in ("a", "b")
]
PAID: dict[str, Any] = {"model": "a-model", "fixed_rules": False}
Recalls = Mapping[str, tuple[float | None, ...]]


def answered(mode: str, task: str, recall: float | None, **changes: Any) -> TrialRecord:
    """Make a trial whose answer has that recall; `None` when it could not be scored."""
    scores = {"file_recall": recall, "files_all_found": recall if recall is None else recall == 1}
    return make_trial(mode, task_id=task, scores=scores, **{**PAID, **changes})


def died(mode: str, task: str, **changes: Any) -> TrialRecord:
    """Make a trial that the agent failed: it found nothing."""
    scores = {"file_recall": 0.0, "files_all_found": False}
    return make_failed(
        mode, "exit-code", "agent-failed", task_id=task, scores=scores, **{**PAID, **changes}
    )


def trials_of(recalls: Recalls, **changes: Any) -> list[TrialRecord]:
    """Make a trial for each mode and task: the recalls of a mode are those of its tasks."""
    return [
        answered(mode, task["id"], recall, agent=agent, **changes)
        for mode, of_tasks in recalls.items()
        for agent, (task, recall) in enumerate(zip(TASKS, of_tasks, strict=False), start=1)
    ]


def report_of(recalls: Recalls, **changes: Any) -> Report:
    return summarise(make_session(*trials_of(recalls), **{"tasks": TASKS, **changes}))

"""What a session of `retrieve` may become when it is continued: more runs, modes and tasks."""

from swarm_bench.benchmarks.swarm.plan.resume import (
    check_content,
    continue_repository,
    merge_settings,
)
from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.retrieving import MAIN, RetrieveExperiment, iterate_questions
from swarm_bench.core.session.tasks import Task
from swarm_bench.engine.continuing import check_benchmark, check_runs, check_same
from swarm_bench.engine.plan import draw_order


def extend_experiment(
    old: RetrieveExperiment, new: RetrieveExperiment, *, any_recorded: bool
) -> RetrieveExperiment:
    """Return the session as it is to be continued. Raises `UsageError` for what would measure
    something else."""
    check_benchmark(old, new.benchmark, new.benchmark_version)
    check_content(old, new)
    check_runs(old.runs, new.runs)
    check_same("seed", old.seed, new.seed)
    check_same("timeout", old.timeout, new.timeout)
    check_same("quality", old.primary or MAIN, new.primary)
    check_same("quality_margin", old.margin, new.margin)
    arms, tasks = new.arms, _extend_tasks(old, new)
    update = {
        "modes": new.modes,  # those of the session come first, with their keys
        "arms": arms,
        "runs": new.runs,
        "settings": merge_settings(old, new),
        "repository": continue_repository(
            old.repository, new.repository, any_recorded=any_recorded
        ),
        "order": draw_order(arms, new.runs, old.seed, old.order),
        "tasks": tasks,
        "cases": tuple(case for case, _, _ in iterate_questions(tasks)),
        "suite": old.suite if new.suite == old.suite else f"{old.suite}, {new.suite}",
        "made": old.made or new.made,
        "omitted_tasks": max(old.omitted_tasks, new.omitted_tasks),
        "index_timeout": new.index_timeout,
        "service_url": new.service_url,
    }
    return old.model_copy(update=update)


def _extend_tasks(old: RetrieveExperiment, new: RetrieveExperiment) -> tuple[Task, ...]:
    old_tasks = {task.id: task for task in old.tasks}
    for task in new.tasks:
        if old_tasks.get(task.id, task) != task:
            raise UsageError(
                f"The task {task.id!r} is not what it was when the session began; "
                "give the new question a new id"
            )
    return (*old.tasks, *(task for task in new.tasks if task.id not in old_tasks))

"""What a session of `retrieve` may become when it is continued: more runs, modes and tasks."""

from swarm_bench.benchmarks.swarm.plan.resume import bring_back
from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.retrieving import RetrieveExperiment, questions
from swarm_bench.core.session.tasks import Task
from swarm_bench.engine.plan import draw_order


def grown(old: RetrieveExperiment, new: RetrieveExperiment) -> RetrieveExperiment:
    """Return the session as it is to be continued. Raises `UsageError` for what would measure
    something else."""
    if new.benchmark_version != old.benchmark_version:
        raise UsageError(
            f"The session is of {old.benchmark} {old.benchmark_version}, and this is "
            f"{new.benchmark} {new.benchmark_version}; start a new session"
        )
    if new.repository.tree != old.repository.tree:
        raise UsageError(
            f"{new.repository.path} is not as it was when the session began; "
            f"{bring_back(old.repository)}, or start a new session"
        )
    if new.runs < old.runs:
        raise UsageError(
            f"--runs {new.runs}: the session has {old.runs} runs already; give {old.runs} or "
            "more, or omit it"
        )
    for name, before, now in (
        ("--seed", old.seed, new.seed),
        ("--timeout", old.timeout, new.timeout),
    ):
        if before != now:
            raise UsageError(f"{name} was {before:g} when the session began; omit it")
    arms, tasks = new.arms, _tasks(old, new)
    update = {
        "modes": new.modes,  # those of the session come first, with their keys
        "arms": arms,
        "runs": new.runs,
        "order": draw_order(arms, new.runs, old.seed, old.order),
        "tasks": tasks,
        "cases": tuple(case for case, _, _ in questions(tasks)),
        "suite": old.suite if new.suite == old.suite else f"{old.suite}, {new.suite}",
        "omitted_tasks": max(old.omitted_tasks, new.omitted_tasks),
        "index_timeout": new.index_timeout,
        "service_url": new.service_url,
    }
    return old.model_copy(update=update)


def _tasks(old: RetrieveExperiment, new: RetrieveExperiment) -> tuple[Task, ...]:
    own = {task.id: task for task in old.tasks}
    for task in new.tasks:
        if own.get(task.id, task) != task:
            raise UsageError(
                f"The task {task.id!r} is not what it was when the session began; "
                "give the new question a new id"
            )
    return (*old.tasks, *(task for task in new.tasks if task.id not in own))

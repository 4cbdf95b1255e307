"""Continuing a session: what may grow, and what must stay as it was."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from operator import attrgetter

from swarm_bench.benchmarks.swarm.plan.blocks import extend_blocks
from swarm_bench.benchmarks.swarm.plan.swarms import plan
from swarm_bench.config.options import SCOPES
from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.experiment import Experiment, Program, Repository, Setting, Task
from swarm_bench.core.session.retrieving import AnyExperiment
from swarm_bench.core.treatment.mode_parts import Purpose
from swarm_bench.engine.continuing import check_kept, check_runs, check_same


def extend(old: Experiment, new: Experiment, recorded_ids: Collection[str | None]) -> Experiment:
    """Extend the experiment `old` by the runs, tasks and modes that only `new` has.

    `recorded` are the ids of trials with a record, `None` where one has none. Raises `UsageError`
    for any other difference.
    """
    _check_same(old, new)
    old_modes = {mode.name for mode in old.modes}
    new_modes = {mode.name: mode for mode in new.modes}  # with the secrets that are not stored
    modes = (
        *(new_modes.get(mode.name, mode) for mode in old.modes),
        *(mode for mode in new.modes if mode.name not in old_modes),
    )
    grown = old.model_copy(
        update={
            "agent": new.agent,  # its version is that of the trials to come
            "counters": {**old.counters, **new.counters},
            "limits": new.limits,
            "min_connected": new.min_connected,  # it is about the summary only
            "modes": modes,
            "prices": new.prices,  # with those of `old`, and models that it did not have
            "repository": continue_repository(
                old.repository, new.repository, any_recorded=bool(recorded_ids)
            ),
            "runs": new.runs,
            "service_url": new.service_url,
            "settings": merge_settings(old, new),
            "suite": _name_suite(old, new),
            "tasks": _merge_tasks(old, new),
        }
    )
    size = new.settings.get("block_size")
    grown = extend_blocks(old, grown, size.value if size else None)
    if not old.all_tasks and len(grown.tasks) > len(old.tasks):
        raise UsageError(
            "A session whose tasks go round among its agents cannot be given more tasks; "
            "start a new one, without --agents if tasks are to be added later"
        )
    _check_records(grown, recorded_ids)
    return grown


def check_options(old: Mapping[str, Setting], new: Mapping[str, Setting]) -> None:
    """Raise `UsageError` for options on the agents that differ from those of the session, or for
    fewer runs: before anything is asked or copied."""
    for name in (name for name in SCOPES if new[name].source == "command line"):
        if name in old:
            check_kept(name, SCOPES[name], old[name].value, new[name].value)
        elif name == "until_clear":
            check_same(name, False, new[name].value)
        elif name == "block_size":
            raise UsageError(
                "--block-size: the session began when a run was one block, and its runs stay so; "
                "omit it, or start a new session"
            )
    if "runs" in old:
        check_runs(old["runs"].value, new["runs"].value)
    if "agents" in old and not old["agents"].value:
        check_same("agents", [], new["agents"].value)


def add_back_ends(
    experiment: Experiment,
    back_ends: Mapping[str, Program],
    purposes: Mapping[str, Mapping[str, Purpose | None]],
) -> Experiment:
    """Add the tools that answer in the modes now, and what they are for. What is stored already
    stays, so that equal trials have equal labels. Raises `UsageError` when a mode has another tool
    than before."""
    check_back_ends(experiment.retrieval, back_ends)
    by_mode = {**purposes, **experiment.tool_purposes}
    return experiment.model_copy(
        update={
            "retrieval": {**back_ends, **experiment.retrieval},
            "tool_purposes": {mode: dict(tools) for mode, tools in by_mode.items()},
        }
    )


def check_back_ends(old_programs: Mapping[str, Program], back_ends: Mapping[str, Program]) -> None:
    """Raise `UsageError` when a mode has another tool than is stored."""
    for mode, now in back_ends.items():
        previous = old_programs.get(mode, now)
        if now.label != previous.label:
            raise UsageError(
                f"{mode} ran with {previous.label} when the session began, and now there is "
                f"{now.label}; bring the old one back, or start a new session"
            )


def _check_same(old: Experiment, new: Experiment) -> None:
    for name, scope in SCOPES.items():
        if scope.decides:
            decided = attrgetter(scope.decides)
            check_same(name, decided(old), decided(new))
    if new.agent.name != old.agent.name:
        raise UsageError(
            f"The agent was {old.agent.name!r} when the session began and is {new.agent.name!r} "
            "now; restore it, or start a new session"
        )
    check_content(old, new)
    check_runs(old.runs, new.runs)
    if new.answer_format != old.answer_format:
        raise UsageError(
            "The task file asks for another answer_format than when the session began; "
            "put the old one back, or start a new session"
        )


def check_content(old: AnyExperiment, new: AnyExperiment) -> None:
    """Raise `UsageError` when the repository has changed, and a task is asked on it as it was."""
    if new.repository.tree != old.repository.tree and needs_own_copy(old, new):
        same = new.repository.path == old.repository.path
        raise UsageError(
            f"{new.repository.path} is not as {'it' if same else old.repository.path} was when "
            f"the session began; {bring_back(old.repository)}, or start a new session"
        )


def needs_own_copy(*experiments: AnyExperiment) -> bool:
    """Tell whether a task is asked on what the repository was when its session began; otherwise it
    does not matter how that has changed."""
    return any(task.commit is None for session in experiments for task in session.tasks)


def bring_back(repository: Repository) -> str:
    """Say how to bring the repository back to what it was."""
    if repository.commit is None:
        return "restore its content"
    commit = f"check out {repository.commit[:12]} again"
    return f"{commit}, with the same uncommitted changes" if repository.dirty else commit


def continue_repository(old: Repository, new: Repository, *, any_recorded: bool) -> Repository:
    """Return the repository as the session had it, with what clones do not have from now on.
    Where files with answer keys were not looked for before, its trials had them."""
    answers = tuple(dict.fromkeys((*(old.answers or ()), *(new.answers or ()))))
    had_them = old.answers is None and any_recorded and bool(new.answers)
    update = {
        "answers": answers,
        "answers_since": datetime.now(UTC) if had_them else old.answers_since,
        "left_out": tuple(dict.fromkeys((*old.left_out, *new.left_out))),
    }
    return old.model_copy(update=update)


def _merge_tasks(old: Experiment, new: Experiment) -> tuple[Task, ...]:
    old_questions = {task.id: (task.prompt, task.commit) for task in old.tasks}
    for task in new.tasks:
        if task.id in old_questions and old_questions[task.id] != (task.prompt, task.commit):
            raise UsageError(
                f"The task {task.id!r} asks something else, or on another commit, than when the "
                "session began; give the new question a new id"
            )
    return (*old.tasks, *(task for task in new.tasks if task.id not in old_questions))


def merge_settings(old: AnyExperiment, new: AnyExperiment) -> dict[str, Setting]:
    """Merge the settings: one taken over from the session keeps its first source."""
    return {
        name: old.settings.get(name, setting) if setting.source == "session" else setting
        for name, setting in new.settings.items()
    }


def _name_suite(old: Experiment, new: Experiment) -> str:
    has_more = len(_merge_tasks(old, new)) > len(old.tasks)
    return f"{old.suite}, {new.suite}" if has_more and new.suite != old.suite else old.suite


def _check_records(grown: Experiment, recorded_ids: Collection[str | None]) -> None:
    planned = {
        trial.id for block in plan(grown) for swarm in block.groups for trial in swarm.trials
    }
    if not planned.issuperset(filter(None, recorded_ids)):
        raise UsageError(
            "The session has records of trials that are not in its plan; "
            "start a new session, or restore its experiment.json"
        )

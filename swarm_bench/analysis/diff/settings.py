"""What differs between two sessions: what forbids to compare them, and what a reader must know."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.statistics.effects import clip_interval
from swarm_bench.analysis.statistics.pairing import Pairs
from swarm_bench.analysis.wording import join, list_few, quantify
from swarm_bench.core.metric import Metric
from swarm_bench.core.report.diff import DiffRow, Role, SettingChange
from swarm_bench.core.report.document import Fact
from swarm_bench.core.session.base import BaseExperiment, count_machines
from swarm_bench.core.session.experiment import Experiment, Mode, Task

_NONE = "none"
_DRIFT = (
    "These sessions ran at two times and were not randomised against each other: the provider, the "
    "machine or the network may have changed meanwhile, and no test can tell that from what you "
    "changed. To compare two {0}, run both in one session."
)


def list_shared_modes(a: Selection, b: Selection) -> list[str]:
    """Name the modes that both sessions have."""
    return [mode for mode in b.data.experiment.arms if mode in a.data.experiment.arms]


def list_obstacles(a: Selection, b: Selection) -> list[str]:
    """Say in a clause each why the sessions cannot be compared; none where they can."""
    first, second = a.data.experiment, b.data.experiment
    if first.session == second.session:
        return ["they are the same one"]
    clauses = [
        *_compare_agents(a, b),
        *_compare_contents(first, second),
        *_compare_tasks(first, second),
    ]
    if not list_shared_modes(a, b):
        clauses.append(f"no mode is in both ({list_few(first.arms)}; {list_few(second.arms)})")
    return clauses


def _compare_agents(a: Selection, b: Selection) -> Iterator[str]:
    first, second = a.data.experiment, b.data.experiment
    configured = ("agent", first.agent.label, second.agent.label)
    versions = ("version of the agent", *_find_reported(a, b, "program_version"))
    models = ("model", first.model_label, second.model_label)
    reported = ("model that answered", *_find_reported(a, b, "model"))
    for group in ((configured, versions), (models, reported)):
        for noun, old_value, new_value in group:
            if old_value != new_value:
                yield f"the {noun} is {old_value} in A and {new_value} in B"
                break


def _find_reported(a: Selection, b: Selection, key: str) -> tuple[str, str]:
    """Return what the trials of the shared modes say of themselves, twice the same where one
    session does not."""
    modes = list_shared_modes(a, b)
    old_value, new_value = (
        {str(value) for t in side.trials if t.mode in modes and (value := getattr(t, key))}
        for side in (a, b)
    )
    if not old_value or not new_value:
        return _NONE, _NONE
    return ", ".join(sorted(old_value)), ", ".join(sorted(new_value))


def _compare_contents(first: Experiment, second: Experiment) -> Iterator[str]:
    old_value, new_value = first.repository, second.repository
    if old_value.tree == new_value.tree:
        return
    if old_value.commit != new_value.commit:
        yield f"the commit is {_describe_commit(first)} in A and {_describe_commit(second)} in B"
    else:
        yield (
            f"the files that agents work on differ, at the same commit ({_describe_commit(first)})"
        )


def _describe_commit(experiment: Experiment) -> str:
    repository = experiment.repository
    dirty = " with uncommitted changes" if repository.dirty else ""
    return f"{(repository.commit or 'a plain folder')[:14]}{dirty}"


def _compare_tasks(first: Experiment, second: Experiment) -> Iterator[str]:
    old_value, new_value = _read_tasks(first), _read_tasks(second)
    parts = [
        f"{quantify(len(names), 'task')} {phrase} ({list_few(names)})"
        for names, phrase in (
            ([name for name in old_value if name not in new_value], "in A alone"),
            ([name for name in new_value if name not in old_value], "in B alone"),
            (
                [
                    name
                    for name in old_value
                    if name in new_value and old_value[name] != new_value[name]
                ],
                "with another prompt, key or commit",
            ),
        )
        if names
    ]
    if parts:
        yield f"the tasks differ: {join(parts)}"
    if first.answer_format != second.answer_format:
        yield "the tasks ask for answers of another format"


def _read_tasks(experiment: Experiment) -> dict[str, tuple[Any, ...]]:
    return {task.id: _read_content(task) for task in experiment.tasks[: experiment.tasks_asked]}


def _read_content(task: Task) -> tuple[Any, ...]:
    return task.prompt, task.key, task.commit


def list_changes(a: Selection, b: Selection) -> tuple[SettingChange, ...]:
    """List what else differs, which may be what the comparison is about, or explain its result."""
    first, second = a.data.experiment, b.data.experiment
    values = (_read_settings(side) for side in (first, second))
    modes = list_shared_modes(a, b)
    return (
        *list_differences(*values),
        *(change for mode in modes for change in _compare_mode(first, second, mode)),
        *list_differences(_list_unshared_modes(first, modes), _list_unshared_modes(second, modes)),
    )


def list_differences(
    old_value: Mapping[str, Any], new_value: Mapping[str, Any]
) -> Iterator[SettingChange]:
    for setting in dict.fromkeys([*old_value, *new_value]):
        old, new = old_value.get(setting), new_value.get(setting)
        if old != new:
            yield SettingChange(subject=setting, before=_format(old), after=_format(new))


def warn_drift(noun: str) -> str:
    """Say what no comparison of two times can tell; `noun` could have been in one session."""
    return _DRIFT.format(noun)


def make_facts(name: str, experiment: BaseExperiment, path: Path, trials: int) -> tuple[Fact, ...]:
    """Return what stands in the head of a session that has so many records."""
    date = experiment.created_at.strftime("%Y-%m-%d %H:%M:%S %Z").strip()
    return (
        Fact(label=name, value=str(path)),
        Fact(label="Session", value=experiment.session),
        Fact(label="Date", value=date),
        Fact(label="Trials", value=str(trials)),
    )


def make_row(
    metric: Metric, role: Role, pairs: Pairs, level: float, *, only_sufficient: bool = False
) -> DiffRow:
    """Make the row of a metric. `only_sufficient`: a figure of too few cases is not shown."""
    scale = math.exp if metric.relative else float
    is_shown = pairs.suffice or (pairs.cases and not only_sufficient)
    effect = pairs.effect if is_shown else None
    max_value = math.inf if metric.relative else metric.most(effect.units if effect else 0)
    bounds = clip_interval(effect.interval(1 - level), max_value) if effect else None
    return DiffRow(
        metric=metric,
        role=role,
        before=scale(pairs.reference_mean) if pairs.cases else None,
        after=scale(pairs.arm_mean) if pairs.cases else None,
        estimate=scale(effect.estimate) if effect else None,
        interval=(scale(bounds[0]), scale(bounds[1])) if bounds else None,
        p=effect.sign_flip_p if effect else None,
        cases=len(pairs.cases),
    )


def _format(value: Any) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value)) or _NONE
    return _NONE if value in (None, "") else str(value)


def _read_settings(experiment: Experiment) -> dict[str, Any]:
    limits, repository = experiment.limits, experiment.repository
    return {
        "swarm-bench": experiment.versions.get("swarm-bench"),
        "Design": experiment.design.name,
        "Commit, with the same files": _describe_commit(experiment),
        "Files omitted": len(repository.omitted),
        "Files with answer keys, in no clone": len(repository.answers or ()),
        "Runs": experiment.runs,
        "Agents at a time": experiment.at_once,
        "Agents of a swarm": experiment.agents_per_swarm,
        "Index": experiment.index,
        "Max turns": limits.max_turns,
        "Time limit": f"{limits.timeout:g} s",
        "Agent's options": experiment.agent_args,
        "Agent's variables": experiment.agent_env,
        "Own settings of the user": experiment.inherit_settings,
        "Played faults": experiment.faults,
        "Replayed session": experiment.replayed,
        "Scorers": experiment.scorers or "all",
        "Primary metric": experiment.primary,
        "Margin": f"{experiment.margin:g}",
        "Quality": experiment.quality,
        "Margin of the quality": f"{experiment.quality_margin:g}",
        **{f"Machine, {key}": value for key, value in experiment.machine.items()},
        "Nodes": count_machines(experiment.nodes.values()) or "none",
    }


def _compare_mode(first: Experiment, second: Experiment, name: str) -> Iterator[SettingChange]:
    old_value, new_value = first.retrieval.get(name), second.retrieval.get(name)
    if old_value != new_value:
        labels = [program.label if program else _NONE for program in (old_value, new_value)]
        if labels[0] != labels[1]:
            yield SettingChange(subject=f"Tool of {name}", before=labels[0], after=labels[1])
    old, new = _dump_mode(first.mode(name)), _dump_mode(second.mode(name))
    if keys := [key for key in old if old[key] != new[key]]:
        yield SettingChange(
            subject=f"File of {name}", before="", after=f"differs in {', '.join(keys)}"
        )


def _dump_mode(mode: Mode) -> dict[str, Any]:
    return mode.model_dump(mode="json", exclude={"source", "description"})


def _list_unshared_modes(experiment: Experiment, shared: list[str]) -> dict[str, Any]:
    return {"Further modes": tuple(name for name in experiment.arms if name not in shared)}

"""What differs between two sessions: what forbids to compare them, and what a reader must know."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.statistics.effects import within
from swarm_bench.analysis.statistics.pairing import Pairs
from swarm_bench.analysis.wording import amount, joined, listed
from swarm_bench.core.metric import Metric
from swarm_bench.core.report.diff import DiffRow, Role, SettingChange, SideFacts
from swarm_bench.core.session.base import BaseExperiment
from swarm_bench.core.session.experiment import Experiment, Mode, Task

_NONE = "none"
_DRIFT = (
    "These sessions ran at two times and were not randomised against each other: the provider, the "
    "machine or the network may have changed meanwhile, and no test can tell that from what you "
    "changed. To compare two {0}, run both in one session."
)


def shared_modes(a: Selection, b: Selection) -> list[str]:
    """Name the modes that both sessions have."""
    return [mode for mode in b.data.experiment.arms if mode in a.data.experiment.arms]


def obstacles(a: Selection, b: Selection) -> list[str]:
    """Say in a clause each why the sessions cannot be compared; none where they can."""
    first, second = a.data.experiment, b.data.experiment
    if first.session == second.session:
        return ["they are the same one"]
    clauses = [*_agents(a, b), *_contents(first, second), *_tasks(first, second)]
    if not shared_modes(a, b):
        clauses.append(f"no mode is in both ({listed(first.arms)}; {listed(second.arms)})")
    return clauses


def _agents(a: Selection, b: Selection) -> Iterator[str]:
    first, second = a.data.experiment, b.data.experiment
    asked = ("agent", first.agent.label, second.agent.label)
    versions = ("version of the agent", *_reported(a, b, "program_version"))
    models = ("model", first.model_label, second.model_label)
    reported = ("model that answered", *_reported(a, b, "model"))
    for group in ((asked, versions), (models, reported)):
        for what, before, after in group:
            if before != after:
                yield f"the {what} is {before} in A and {after} in B"
                break


def _reported(a: Selection, b: Selection, key: str) -> tuple[str, str]:
    """Return what the trials of the shared modes say of themselves, twice the same where one
    session does not."""
    modes = shared_modes(a, b)
    before, after = (
        {str(value) for t in side.trials if t.mode in modes and (value := getattr(t, key))}
        for side in (a, b)
    )
    if not before or not after:
        return _NONE, _NONE
    return ", ".join(sorted(before)), ", ".join(sorted(after))


def _contents(first: Experiment, second: Experiment) -> Iterator[str]:
    before, after = first.repository, second.repository
    if before.tree == after.tree:
        return
    if before.commit != after.commit:
        yield f"the commit is {_commit(first)} in A and {_commit(second)} in B"
    else:
        yield f"the files that agents work on differ, at the same commit ({_commit(first)})"


def _commit(experiment: Experiment) -> str:
    repository = experiment.repository
    dirty = " with uncommitted changes" if repository.dirty else ""
    return f"{(repository.commit or 'a plain folder')[:14]}{dirty}"


def _tasks(first: Experiment, second: Experiment) -> Iterator[str]:
    before, after = _asked(first), _asked(second)
    parts = [
        f"{amount(len(names), 'task')} {where} ({listed(names)})"
        for names, where in (
            ([name for name in before if name not in after], "in A alone"),
            ([name for name in after if name not in before], "in B alone"),
            (
                [name for name in before if name in after and before[name] != after[name]],
                "with another prompt, key or commit",
            ),
        )
        if names
    ]
    if parts:
        yield f"the tasks differ: {joined(parts)}"
    if first.answer_format != second.answer_format:
        yield "the tasks ask for answers of another format"


def _asked(experiment: Experiment) -> dict[str, tuple[Any, ...]]:
    return {task.id: _content(task) for task in experiment.tasks[: experiment.tasks_asked]}


def _content(task: Task) -> tuple[Any, ...]:
    return task.prompt, task.key, task.commit


def changes(a: Selection, b: Selection) -> tuple[SettingChange, ...]:
    """List what else differs, which may be what the comparison is about, or explain its result."""
    first, second = a.data.experiment, b.data.experiment
    values = (_settings(side) for side in (first, second))
    modes = shared_modes(a, b)
    return (
        *differing(*values),
        *(change for mode in modes for change in _of_mode(first, second, mode)),
        *differing(_modes_alone(first, modes), _modes_alone(second, modes)),
    )


def differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[SettingChange]:
    for what in dict.fromkeys([*before, *after]):
        old, new = before.get(what), after.get(what)
        if old != new:
            yield SettingChange(subject=what, before=_written(old), after=_written(new))


def drift(what: str) -> str:
    """Say what no comparison of two times can tell; `what` could have been in one session."""
    return _DRIFT.format(what)


def facts(experiment: BaseExperiment, path: Path, trials: int) -> SideFacts:
    """Return what stands in the head of a session that has so many records."""
    return SideFacts(
        path=str(path),
        session=experiment.session,
        date=experiment.created_at.strftime("%Y-%m-%d %H:%M:%S %Z").strip(),
        trials=trials,
    )


def row(
    metric: Metric, role: Role, pairs: Pairs, level: float, *, only_sufficient: bool = False
) -> DiffRow:
    """Make the row of a metric. `only_sufficient`: a figure of too few cases is not shown."""
    scale = math.exp if metric.relative else float
    shown = pairs.suffice or (pairs.cases and not only_sufficient)
    effect = pairs.effect if shown else None
    most = math.inf if metric.relative else metric.most(effect.units if effect else 0)
    bounds = within(effect.interval(1 - level), most) if effect else None
    return DiffRow(
        metric=metric,
        role=role,
        before=scale(pairs.reference_mean) if pairs.cases else None,
        after=scale(pairs.own_mean) if pairs.cases else None,
        estimate=scale(effect.estimate) if effect else None,
        interval=(scale(bounds[0]), scale(bounds[1])) if bounds else None,
        p=effect.sign_flip_p if effect else None,
        cases=len(pairs.cases),
    )


def _written(value: Any) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value)) or _NONE
    return _NONE if value in (None, "") else str(value)


def _settings(experiment: Experiment) -> dict[str, Any]:
    limits, repository = experiment.limits, experiment.repository
    return {
        "swarm-bench": experiment.versions.get("swarm-bench"),
        "Design": experiment.design.name,
        "Commit, with the same files": _commit(experiment),
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
    }


def _of_mode(first: Experiment, second: Experiment, name: str) -> Iterator[SettingChange]:
    before, after = first.retrieval.get(name), second.retrieval.get(name)
    if before != after:
        labels = [program.label if program else _NONE for program in (before, after)]
        if labels[0] != labels[1]:
            yield SettingChange(subject=f"Tool of {name}", before=labels[0], after=labels[1])
    old, new = _defined(first.mode(name)), _defined(second.mode(name))
    if keys := [key for key in old if old[key] != new[key]]:
        yield SettingChange(
            subject=f"File of {name}", before="", after=f"differs in {', '.join(keys)}"
        )


def _defined(mode: Mode) -> dict[str, Any]:
    return mode.model_dump(mode="json", exclude={"source", "description"})


def _modes_alone(experiment: Experiment, shared: list[str]) -> dict[str, Any]:
    return {"Further modes": tuple(name for name in experiment.arms if name not in shared)}

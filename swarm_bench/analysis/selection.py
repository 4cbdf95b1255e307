"""Sorts a session's records: which mode and run each belongs to, and which of them count."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, cycle, islice
from operator import attrgetter
from typing import Any, TypeVar

from swarm_bench.core.metric import KeyPart, Metrics
from swarm_bench.core.session.cases import CaseRecord
from swarm_bench.core.session.experiment import ControlKind, Mode, Task
from swarm_bench.core.session.records import SessionData, SwarmRecord, Treatment, TrialRecord
from swarm_bench.core.session.tasks import DONE_ALREADY
from swarm_bench.core.status import Status

Trials = tuple[TrialRecord, ...]
Block = tuple[int, int]
"""A run, and which of its blocks."""
Weights = Mapping[str, float]
"""Weights of tasks in means, by their ids."""


@dataclass(frozen=True, kw_only=True)
class Slice:
    """One mode in one run."""

    mode: str
    run: int
    trials: Trials
    """Trials that count."""
    absent: int
    """Trials that were planned and do not count, or have not been run."""
    swarms: tuple[SwarmRecord, ...]
    keyed_weights: Weights
    """Tasks whose answers are judged by a key."""
    run_tasks: tuple[str, ...]
    """The task of each planned trial."""
    tasks_by_part: Mapping[KeyPart, frozenset[str]]
    """Tasks by a part that their key has."""

    def count_to_judge(self, part: KeyPart) -> int:
        """How many trials of these tasks there are, or should be."""
        tasks = self.tasks_by_part[part]
        planned = sum(task in self.keyed_weights and task in tasks for task in self.run_tasks)
        return max(len(self.select_judged(part)), planned)

    def select_judged(self, part: KeyPart) -> Trials:
        """Return those of these tasks whose key has the part."""
        if part not in self._judged_by_part:
            tasks = self.tasks_by_part[part] & self.keyed_weights.keys()
            self._judged_by_part[part] = tuple(
                trial for trial in self.trials if trial.task_key in tasks
            )
        return self._judged_by_part[part]

    @cached_property
    def _judged_by_part(self) -> dict[KeyPart, Trials]:
        return {}


_KIND = attrgetter(
    *("model", "program", "program_version", "backend", "token_counter", "price_table"),
    *("cost_estimated", "cost_unreliable", "fixed_rules", "rehearsal", "replayed"),
    "turns_counted",
)


def select_one_of_each_kind(trials: Iterable[TrialRecord]) -> Trials:
    """Select one trial of each kind: all of a kind have the same makers and sources of figures."""
    return tuple({_KIND(trial): trial for trial in trials}.values())


Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, eq=False)
class Arm:
    """The trials of one mode, sorted by what they are good for."""

    all: Trials = ()

    @cached_property
    def measured_trials(self) -> Trials:
        """Return the trials that the harness and the provider let run to their own end."""
        return tuple(trial for trial in self.all if not is_inconclusive(trial))

    @cached_property
    def counted_trials(self) -> Trials:
        return tuple(trial for trial in self.measured_trials if _is_clean(trial))

    @cached_property
    def uncounted_trials(self) -> Trials:
        counted_ids = set(map(id, self.counted_trials))
        return tuple(trial for trial in self.all if id(trial) not in counted_ids)

    @cached_property
    def compared_trials(self) -> Trials:
        return tuple(trial for trial in self.counted_trials if _is_result(trial))


@dataclass(frozen=True, eq=False)
class Selection:
    """A session, sorted. Of a trial that was run again only the last attempt is in it. Each record
    is looked at once and found by its mode and run."""

    data: SessionData
    metrics: Metrics = Metrics()
    """Metrics of its benchmark; selections that are only sorted need none."""
    memory: dict[Hashable, Any] = field(default_factory=dict)
    """Memory of functions decorated with `once`."""

    @cached_property
    def modes(self) -> tuple[str, ...]:
        """Return the modes in the order of the experiment, then in that of their first record."""
        recorded_modes = (trial.mode for trial in self.data.trials)
        return tuple(dict.fromkeys([*self.data.experiment.arms, *recorded_modes]))

    @cached_property
    def rehearsal(self) -> bool:
        """Whether the rehearsal server answered in the place of a model."""
        played = any(trial.rehearsal for trial in self._various_attempts)
        return played or self.data.experiment.rehearsal

    @cached_property
    def fixed_rules(self) -> bool:
        """Whether no language model decided what the agents spent."""
        return self.rehearsal or any(trial.decided_by_rules for trial in self._various_attempts)

    @cached_property
    def trials(self) -> Trials:
        latest: dict[object, TrialRecord] = {}
        for trial in self.data.trials:
            key = trial.trial or (trial.run, trial.mode, trial.agent, trial.task_key)
            if key not in latest or latest[key].attempt <= trial.attempt:
                latest[key] = trial
        order = {mode: number for number, mode in enumerate(self.modes)}
        return tuple(sorted(latest.values(), key=lambda t: (t.run, order[t.mode], t.agent)))

    @cached_property
    def various(self) -> Trials:
        """One trial of each kind, for what all of a kind have alike."""
        return select_one_of_each_kind(self.trials)

    @cached_property
    def _various_attempts(self) -> Trials:
        none_again = len(self.trials) == len(self.data.trials)
        return self.various if none_again else select_one_of_each_kind(self.data.trials)

    @cached_property
    def swarms(self) -> tuple[SwarmRecord, ...]:
        """Return the swarms without those whose trials have all been run again since."""
        # Attempts can share their number when agents were added to the swarm.
        unique = {(s.swarm, s.attempt, s.agents, s.started_at): s for s in self.data.swarms}
        return tuple(
            swarm for swarm in unique.values() if self.count_reruns(swarm) != len(swarm.agents)
        )

    def count_reruns(self, swarm: SwarmRecord) -> int:
        """Count the trials of the swarm that were set aside and run again; its counters have
        them."""
        attempts = self._attempts
        return sum(
            attempts.get((swarm.run, swarm.mode, agent), 0) > swarm.attempt
            for agent in swarm.agents
        )

    @cached_property
    def _attempts(self) -> dict[tuple[int, str, int], int]:
        return {(trial.run, trial.mode, trial.agent): trial.attempt for trial in self.trials}

    @cached_property
    def runs(self) -> int:
        """Runs that have at least one record."""
        return len({trial.run for trial in self.trials})

    def find_block(self, trial: TrialRecord) -> Block:
        """Return its block; a whole run where nothing says who ran together."""
        return trial.run, self.block_of_agent.get(trial.agent, 0)

    @cached_property
    def block_of_agent(self) -> Mapping[int, int]:
        """Return the number of the block within a run, by agent."""
        blocks = self.data.experiment.agents_of_blocks
        return {agent: number for number, block in enumerate(blocks) for agent in block}

    def get_arm(self, mode: str) -> Arm:
        return self._arms.get(mode, Arm())

    def select(self, mode: str) -> Trials:
        return self.get_arm(mode).all

    def select_run(self, mode: str, run: int) -> Trials:
        return self._by_run.get((mode, run), ())

    def select_swarms(self, mode: str) -> tuple[SwarmRecord, ...]:
        return self._swarms.get(mode, ())

    def list_slices(self, mode: str) -> tuple[Slice, ...]:
        """Return the runs of the mode that have a trial in them."""
        return self._slices.get(mode, ())

    @cached_property
    def _arms(self) -> dict[str, Arm]:
        by_mode = group_by(self.trials, lambda trial: trial.mode)
        return {mode: Arm(trials) for mode, trials in by_mode.items()}

    @cached_property
    def _by_run(self) -> dict[tuple[str, int], Trials]:
        return group_by(self.trials, lambda trial: (trial.mode, trial.run))

    @cached_property
    def _swarms(self) -> dict[str, tuple[SwarmRecord, ...]]:
        return group_by(self.swarms, lambda swarm: swarm.mode)

    @cached_property
    def _slices(self) -> dict[str, tuple[Slice, ...]]:
        swarms = group_by(self.swarms, lambda swarm: (swarm.mode, swarm.run))
        counted_trials = chain.from_iterable(arm.counted_trials for arm in self._arms.values())
        trials = group_by(counted_trials, lambda trial: (trial.mode, trial.run))
        slices = [
            Slice(
                mode=mode,
                run=run,
                trials=trials.get((mode, run), ()),
                absent=max(self._count_per_run(mode), len(run_trials))
                - len(trials.get((mode, run), ())),
                swarms=swarms.get((mode, run), ()),
                keyed_weights=self.keyed_weights,
                run_tasks=self._list_run_tasks(mode),
                tasks_by_part=self.tasks_by_part,
            )
            for (mode, run), run_trials in self._by_run.items()
        ]
        return group_by(slices, lambda part: part.mode)

    @cached_property
    def keyed_weights(self) -> Weights:
        """The tasks with an answer key, but for those that are done already: how much their keys
        name is less certain, so they stand apart. If there are no others, those."""
        tasks = self.keyed_tasks
        weighted_tasks = [task for task in tasks if DONE_ALREADY not in task.tags] or tasks
        return {task.id: task.weight for task in weighted_tasks}

    @cached_property
    def weights(self) -> Weights:
        """Return the weights of all tasks in means."""
        return {task.id: task.weight for task in self.data.experiment.tasks}

    def _count_per_run(self, mode: str) -> int:
        return self.data.planned.get(mode, 0) // self.data.experiment.runs

    @cached_property
    def keyed_tasks(self) -> list[Task]:
        """All tasks with an answer key that an agent gets: those at the end may be for none."""
        experiment = self.data.experiment
        recorded_ids = {trial.task_key for trial in self.data.trials}
        task_ids = recorded_ids.union(
            task.id for task in experiment.tasks[: experiment.tasks_asked]
        )
        return [task for task in experiment.tasks if task.key and task.id in task_ids]

    @cached_property
    def tasks_by_part(self) -> dict[KeyPart, frozenset[str]]:
        """The tasks by a part that their answer key has."""
        tasks = self.keyed_tasks
        parts: tuple[KeyPart, ...] = ("files", "symbols", "facts")
        by_part = {
            part: frozenset(task.id for task in tasks if getattr(task.key, part)) for part in parts
        }
        return {**by_part, "any": frozenset(task.id for task in tasks)}

    def _list_run_tasks(self, mode: str) -> tuple[str, ...]:
        """Return the task of each trial of a run: agents share the tasks out in turn."""
        tasks = cycle(task.id for task in self.data.experiment.tasks)
        return tuple(islice(tasks, self._count_per_run(mode)))

    @cached_property
    def _modes_by_name(self) -> Mapping[str, Mode]:
        return {mode.name: mode for mode in self.data.experiment.modes}

    def find_probes(self, mode: str) -> frozenset[str]:
        """Return the counters that the mode is supposed to have."""
        if mode in self._modes_by_name:
            return frozenset(self._modes_by_name[mode].probes)
        return frozenset(probe for swarm in self.select_swarms(mode) for probe in swarm.difference)

    def list_servers(self, mode: str) -> tuple[str, ...]:
        """Name the mode's MCP servers; none where the session does not say."""
        return tuple(self._modes_by_name[mode].servers) if mode in self._modes_by_name else ()

    def has_tool(self, mode: str) -> bool:
        """Tell whether the mode gives its agents a retrieval tool."""
        return mode not in self._modes_by_name or bool(self._modes_by_name[mode].servers)

    def is_placebo(self, mode: str) -> bool:
        """Tell whether the tools of the mode answer with irrelevant places on purpose."""
        return mode in {control.name for control in self.find_controls("placebo").values()}

    def find_controls(self, kind: ControlKind) -> dict[str, Mode]:
        """Return the controls of that kind by the mode that they control."""
        return {
            mode: control
            for control in self.data.experiment.modes
            for mode in control.control_of
            if control.control_kind == kind
        }


def group_by(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, tuple[Item, ...]]:
    groups: dict[Key, list[Item]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return {name: tuple(group) for name, group in groups.items()}


def is_inconclusive(trial: TrialRecord | CaseRecord) -> bool:
    """Tell whether the trial ended for a reason that is the harness's or the provider's."""
    if trial.cause is not None:
        return not trial.conclusive
    return trial.status in {Status.HARNESS_FAILED, Status.PROVIDER_LIMITED, Status.CANCELLED}


def counts(trial: TrialRecord) -> bool:
    """Tell whether the trial says something about its mode as the mode is meant."""
    return not is_inconclusive(trial) and _is_clean(trial)


def compares(trial: TrialRecord) -> bool:
    """Tell whether the trial is in the ratios. One that failed spent little and is no saving."""
    return counts(trial) and _is_result(trial)


def _is_clean(trial: TrialRecord) -> bool:
    return trial.retrieval is not Treatment.CONTAMINATED


def _is_result(trial: TrialRecord) -> bool:
    return trial.status is not Status.AGENT_FAILED

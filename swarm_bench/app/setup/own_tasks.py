"""The tasks of a session that names none: some with answer keys, made from its repository."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio

from swarm_bench.analysis.sentences.next_steps import GAVE_ALL
from swarm_bench.app.setup.choosing import (
    SessionInputs,
    build_stored_suite,
    check_trials,
    resolve_sizes,
)
from swarm_bench.config.compare_options import REPOSITORY
from swarm_bench.config.layers import Resolved
from swarm_bench.core.errors import SwarmBenchError
from swarm_bench.core.events import Emit, Preparing, WarningRaised
from swarm_bench.core.session.experiment import Repository
from swarm_bench.core.session.retrieving import AnyExperiment
from swarm_bench.core.session.tasks import HARD, Task
from swarm_bench.datasets.difficulty import build_index, difficulty
from swarm_bench.datasets.making.kinds import ANSWER_FORMAT, KINDS, Source, make
from swarm_bench.datasets.making.made import COUNT, FEWEST, POOL, hard_first, pick
from swarm_bench.datasets.suites import Suite, TaskFile, write_suite
from swarm_bench.runtime.workspaces.objects import CommitTree, Objects

_COMMITS = 2000
"""The newest ones, in which finished changes are looked for."""
_MOST_FILES = 20_000
_MOST_BYTES = 30_000_000
"""Size of a tree that is looked through within seconds. A limit in seconds would give other tasks
on a busy machine."""
_SELDOM = 20
"""Candidates that are looked at before that is told again."""
_NO_KEYS = (
    "without keys nothing says what is right; write a task file (swarm-bench docs tasks) and give "
    "it with --tasks to compare what is found"
)
_TOO_LARGE = "it is too large to be looked through at once; swarm-bench tasks make can do that"


class TasksNotMade(SwarmBenchError):
    """Reason why there are none, as a clause."""


async def add_own_tasks(
    inputs: SessionInputs, resolved: Resolved, repository: Repository, emit: Emit | None
) -> SessionInputs:
    """Make the tasks of a new session that names none, or say why the shipped ones are asked."""
    if resolved.settings.tasks != REPOSITORY:
        return inputs
    if resolved.session is not None and not resolved.is_typed("tasks"):
        return inputs
    suite = await _find_own_tasks(resolved, repository, inputs.suite, emit)
    sizes = resolve_sizes(resolved, inputs.design, len(suite.tasks))
    check_trials(sizes, len(inputs.modes) * resolved.settings.runs, len(suite.tasks))
    return replace(inputs, suite=suite, sizes=sizes)


async def _find_own_tasks(
    resolved: Resolved, repository: Repository, shipped: Suite, emit: Emit | None
) -> Suite:
    if resolved.member is not None and resolved.member.like is not None:
        return build_stored_suite(resolved.member.like)
    try:
        return await make_suite(repository, resolved.settings.seed, emit)
    except TasksNotMade as error:
        reason = str(error)
    if emit:
        emit(
            WarningRaised(
                message=f"{reason}; the tasks of {shipped.name} are asked instead; {_NO_KEYS}"
            )
        )
    return replace(shipped, made=f"by hand, as {reason}; {_NO_KEYS}")


async def make_suite(repository: Repository, seed: int, emit: Emit | None) -> Suite:
    """Make tasks with answer keys from a repository. Raises `TasksNotMade`."""
    repo = Path(repository.path)
    try:
        if repository.commit is None:
            raise TasksNotMade("it is no git checkout")
        if repository.dirty:
            raise TasksNotMade("with --dirty agents see changes that no commit has")
        return await anyio.to_thread.run_sync(
            _make_suite, repo, repository.commit, seed, emit, abandon_on_cancel=True
        )
    except SwarmBenchError as error:
        raise TasksNotMade(f"{repo.name} gives no tasks with answer keys: {error}") from error


def _make_suite(repo: Path, commit: str, seed: int, emit: Emit | None) -> Suite:
    with Objects(repo) as objects:
        tree = _SmallTree(objects.tree(commit))
        source = Source(
            objects=objects,
            repository=repo,
            commit=commit,
            tree=tree,
            count=COUNT * POOL,
            seed=seed,
            on_commit=True,
            newest=_COMMITS,
        )
        tasks = _pick_tasks(source, tree, emit)
    if len(tasks) < FEWEST:
        raise TasksNotMade("too few of its functions and commits can be asked about")
    numbers = {kind: sum(kind in task.tags for task in tasks) for kind in KINDS}
    summary = ", ".join(f"{number} {kind}" for kind, number in numbers.items() if number)
    fewer = f"; {GAVE_ALL} {len(tasks)} of {COUNT} (swarm-bench tasks make says why)"
    fewer = fewer if len(tasks) < COUNT else ""
    return Suite(
        name=REPOSITORY,
        source=REPOSITORY,
        description="",
        answer_format=ANSWER_FORMAT,
        made=f"from the repository at {commit[:12]}, seed {seed}: {summary}{fewer}",
        since=None,
        scorers=None,
        # Without a commit of their own they are asked on that of the session.
        tasks=tuple(task.model_copy(update={"commit": None}) for task in tasks),
    )


def _pick_tasks(source: Source, tree: "_SmallTree", emit: Emit | None) -> list[Task]:
    """Make kind after kind, until enough are hard: easier ones of earlier kinds come behind."""
    tasks, candidates = list[Task](), list[Task]()
    with build_index(tree) as index:
        for kind in KINDS:
            looked = partial(_tell, emit, f"making tasks from {source.repository}: {kind}")
            of_kind = make(kind, replace(source, looked=looked)).tasks
            candidates += hard_first(of_kind, lambda task: difficulty(index, tree, task).is_hard)
            tasks = pick(
                sorted(candidates, key=lambda task: HARD not in task.tags), COUNT, Counter()
            )
            if len(tasks) == COUNT and all(HARD in task.tags for task in tasks):
                break
    return tasks


def _tell(emit: Emit | None, step: str, number: int, total: int) -> None:
    """Say from a thread how far it is: often enough to be seen."""
    if emit and number % _SELDOM == 0:
        anyio.from_thread.run_sync(emit, Preparing(step=step, done=number, total=total))


def render_task_file(experiment: AnyExperiment) -> str:
    """Write the tasks that were made for a session, so that another one can ask the same."""
    commit = experiment.repository.commit
    return write_suite(
        TaskFile(
            description=f"Made for the session {experiment.session}.",
            answer_format=ANSWER_FORMAT,
            made=experiment.made,
            since=None,
            tasks=[task.model_copy(update={"commit": commit}) for task in experiment.tasks],
        )
    )


class _SmallTree:
    """A tree that is looked through within seconds; each of its files is read once."""

    def __init__(self, tree: CommitTree) -> None:
        self._tree = tree
        self._contents: dict[str, bytes | None] = {}
        self._bytes = 0
        if len(tree.files) > _MOST_FILES:
            raise TasksNotMade(_TOO_LARGE)

    @property
    def files(self) -> frozenset[str]:
        return self._tree.files

    @property
    def sizes(self) -> Mapping[str, int]:
        return self._tree.sizes

    def read(self, path: str) -> bytes | None:
        """Read a file. Raises `TasksNotMade` when it is too much."""
        if path not in self._contents:
            self._contents[path] = content = self._tree.read(path)
            self._bytes += len(content or b"")
            if self._bytes > _MOST_BYTES:
                raise TasksNotMade(_TOO_LARGE)
        return self._contents[path]

"""What the answers of the swarm benchmark are scored by, and what its agents could see of the
repository: it is read for scoring and never changed."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock

from swarm_bench.core import entry_points
from swarm_bench.core.errors import ConfigError, HarnessError, UnknownName, described
from swarm_bench.core.outcome import Outcome
from swarm_bench.core.ports import ScoreContext, Scorer, Tree
from swarm_bench.core.session.experiment import Repository
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.session.tasks import AnswerKey, Task
from swarm_bench.core.status import CONSEQUENCES, Cause, Status
from swarm_bench.engine.scoring import ScoringResult, check_scorers, score
from swarm_bench.runtime.workspaces.content import INDEX
from swarm_bench.runtime.workspaces.objects import Blob, CommitTree, Objects
from swarm_bench.runtime.workspaces.workspace import Snapshot
from swarm_bench.scoring.form import Digest, Length, Structure
from swarm_bench.scoring.key_coverage import Facts, NamedFiles, NamedSymbols, SeenFiles
from swarm_bench.scoring.references import Citations, References
from swarm_bench.source.naming import restrict_key

_AT_ONCE = 4
"""Trees that are kept: swarms of one commit follow each other."""


@dataclass(kw_only=True)
class Trees(AbstractContextManager["Trees"]):
    """Trees of the commits that tasks are asked on, while the block lasts. Threads may share it."""

    repository: Repository
    copy: Snapshot | None = None
    """The session's own, where that was made: of a folder, or with uncommitted changes, there is no
    other."""
    recorded_files: Mapping[str, frozenset[str]] | None = None
    """Paths of the files at each commit, in a replay, which reads no repository."""
    _stack: ExitStack = field(default_factory=ExitStack)
    _turn: Lock = field(default_factory=Lock)
    _open_objects: dict[Path, Objects] = field(default_factory=dict)
    _read: dict[tuple[Path, str], CommitTree] = field(default_factory=dict)

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def files(self, commit: str | None) -> frozenset[str]:
        """Return the paths of the files at a commit, or in the session's own copy. Raises
        `HarnessError`."""
        if commit is not None and self.recorded_files is not None:
            return self.recorded_files.get(commit, frozenset())
        if self.copy is not None and commit in (None, self.repository.clean_commit):
            return self.copy.files
        tree = self.tree(commit)
        return frozenset() if tree is None else tree.files

    def tree(self, commit: str | None) -> CommitTree | None:
        """Return the files with their content; `None` where they are no longer available. Raises
        `HarnessError`."""
        revision, folder = commit or self.repository.clean_commit, Path(self.repository.path)
        if revision is None:
            if self.copy is None or self.copy.commit is None:
                return None
            revision, folder = self.copy.commit, self.copy.path
        if self.recorded_files is not None:
            return None
        with self._turn:
            if (folder, revision) not in self._read:
                if len(self._read) == _AT_ONCE:
                    self._read.clear()
                self._read[folder, revision] = self._list_tree(folder, revision)
            return self._read[folder, revision]

    def _list_tree(self, folder: Path, revision: str) -> CommitTree:
        if folder not in self._open_objects:
            self._open_objects[folder] = self._stack.enter_context(Objects(folder))
        tree = self._open_objects[folder].tree(revision)
        return replace(tree, blobs=dict(filter(self._is_in_clones, tree.blobs.items())))

    def _is_in_clones(self, file: tuple[str, Blob]) -> bool:
        """Tell whether agents saw a file. Without the session's copy only the paths of files with
        answer keys are known, and not their contents."""
        path, blob = file
        if self.copy is None:
            has_keys = path in (self.repository.answers or ())
        else:
            has_keys = blob.hash in self.copy.excluded
        return not has_keys and INDEX.decode() not in path.split("/")


_ALWAYS = (Length(), Digest())
"""Not chosen: what they give describes an answer and does not judge it."""
_SELECTABLE = (
    References(),
    Structure(),
    Citations(),
    NamedFiles(),
    NamedSymbols(),
    Facts(),
    SeenFiles(),
)
_PART_OF_KEY: Mapping[str, str] = {
    "files": "files",
    "symbols": "symbols",
    "facts": "facts",
    "seen": "files",
}
"""The part of an answer key that a scorer compares answers with, by the scorer's name: a key that
lacks it does not ask for that."""
_FOUND_NOTHING = (Status.AGENT_FAILED, Status.BUDGET_REACHED)


def load_scorers(names: Sequence[str] | None = None) -> tuple[Scorer, ...]:
    """Return the scorers of these names: ours, those that installed packages register as
    `swarm_bench.scorers`, and `module:Class`; without names every one that is registered. Raises
    `ConfigError` for one that cannot be used, `UnknownName` for one that there is not."""
    shipped = {scorer.name: scorer for scorer in _SELECTABLE}
    installed = [plugin.name for plugin in entry_points.list_plugins("scorers")]
    selected: Iterable[str] = [*shipped, *installed] if names is None else dict.fromkeys(names)
    loaded: list[object] = [*_ALWAYS]
    for name in selected:
        if name in {scorer.name for scorer in _ALWAYS}:
            continue
        require_known(name)
        loaded.append(shipped[name] if name in shipped else _make_scorer(name))
    return check_scorers(loaded)


def require_known(*names: str) -> None:
    """Raise `UnknownName` for a scorer that there is not. A class of the user's own is not looked
    for: that would import it."""
    always = [scorer.name for scorer in _ALWAYS]
    choosable = [scorer.name for scorer in _SELECTABLE]
    choosable += [plugin.name for plugin in entry_points.list_plugins("scorers")]
    for name in names:
        if name not in (*always, *choosable) and not is_code(name):
            raise UnknownName("scorer", name, choosable)


def is_code(name: str) -> bool:
    """Tell whether a name is that of a class of the user's own, which is imported to be used."""
    return ":" in name


@dataclass(frozen=True, kw_only=True)
class ScorableAnswer:
    """What an agent left, and what of its trial matters to scorers."""

    outcome: Outcome
    task: Task
    tasks: tuple[Task, ...]
    """Tasks of the session, all of them."""
    groups: Mapping[str, str]
    """Groups of these tasks, by their ids."""
    workspace: str
    """Path of the workspace as the agent saw it."""
    commit: str | None
    """Commit of the files in the workspace; `None` for those of the session."""

    @property
    def key(self) -> AnswerKey | None:
        return self.task.key

    @property
    def other_tasks(self) -> tuple[Task, ...]:
        """The tasks of other groups."""
        group = self.groups[self.task.id]
        return tuple(task for task in self.tasks if self.groups[task.id] != group)

    @property
    def is_given(self) -> bool:
        """Whether there is an answer: the text of an error is none."""
        return self.outcome.text is not None and self.outcome.cause is Cause.FINISHED

    @property
    def is_counted(self) -> bool:
        """Whether it says something about the mode. Where there is no answer and the agent is the
        cause of that, it has found nothing of the key: left out of the means, doing nothing would
        look like an answer of average quality. Where the harness or the provider is the cause,
        nobody knows what it would have found."""
        return self.is_given or CONSEQUENCES[self.outcome.cause].status in _FOUND_NOTHING

    def has_key_part(self, part: str) -> bool:
        """Tell whether the key has that part."""
        return self.key is not None and bool(vars(self.key)[part])


def score_answer(
    scorers: Iterable[Scorer], answer: ScorableAnswer, trees: Trees, secrets: Collection[str]
) -> ScoringResult:
    """Have those look at an answer that have something to say about it."""
    selected = select_scorers(scorers, answer)
    if not selected:
        return ScoringResult()
    files, tree = _read_files(trees, answer.commit)
    context = ScoreContext(
        text=(answer.outcome.text or "") if answer.is_given else "",
        workspace=answer.workspace,
        files=files,
        key=restrict_key(answer.task, files).key,
        tree=tree,
        retrieved=answer.outcome.retrieved,
        prompt=answer.task.prompt,
        others=tuple(restrict_key(task, files) for task in answer.other_tasks),
    )
    return score(selected, context, secrets, TrialRecord)


def select_scorers(scorers: Iterable[Scorer], answer: ScorableAnswer) -> tuple[Scorer, ...]:
    """Return those that have something to say about an answer, or about that there is none."""
    parts = [(scorer, _PART_OF_KEY.get(scorer.name)) for scorer in scorers]
    return tuple(
        scorer
        for scorer, part in parts
        if (answer.is_given if part is None else answer.is_counted and answer.has_key_part(part))
    )


def _read_files(trees: Trees, commit: str | None) -> tuple[frozenset[str], Tree | None]:
    """Return the files of the workspace; none where the repository cannot be read, and scorers say
    so."""
    try:
        return trees.files(commit), trees.tree(commit)
    except (HarnessError, OSError):
        return frozenset(), None


def _make_scorer(name: str) -> object:
    kind = entry_points.load("scorers", name)
    try:
        return kind()
    except (Exception, SystemExit) as error:  # somebody else's code may raise anything
        reason = described(error)
        raise ConfigError(
            f"The scorer {name!r} cannot be made: {reason}; fix its package"
        ) from error

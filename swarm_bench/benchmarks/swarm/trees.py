"""What the agents of a session could see of the repository, read for scoring and never changed."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock

from swarm_bench.core.session.experiment import Repository
from swarm_bench.runtime.workspaces.content import INDEX
from swarm_bench.runtime.workspaces.objects import Blob, CommitTree, Objects
from swarm_bench.runtime.workspaces.workspace import Snapshot

_AT_ONCE = 4
"""Trees that are kept: swarms of one commit follow each other."""


@dataclass(kw_only=True)
class Trees(AbstractContextManager["Trees"]):
    """By the commits that tasks are asked on, while the block lasts. Threads may share it."""

    repository: Repository
    copy: Snapshot | None = None
    """The session's own, where that was made: of a folder, or with uncommitted changes, there is no
    other."""
    recorded_files: Mapping[str, frozenset[str]] | None = None
    """In a replay, which reads no repository, the paths of the files at each commit."""
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
        """Return the files with their content; `None` where nobody has it any more. Raises
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

"""Tasks from the history of a repository: which files have to change for what a commit did, and
which others an answer could name as well."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from hashlib import sha256
from itertools import chain

from swarm_bench.core.ports import Tree
from swarm_bench.core.session.tasks import AnswerKey, Task
from swarm_bench.datasets.making.commits import ChangedFile, find_rejection_reason, sources
from swarm_bench.datasets.making.made import (
    GeneratedTasks,
    Looked,
    UnsuitableCandidate,
    generate_tasks,
    ignore_progress,
    joined_id,
)
from swarm_bench.datasets.making.messages import (
    Message,
    beginnings,
    clean,
    first_words,
    folders_of,
    telling_words,
)
from swarm_bench.runtime.workspaces.history import Commit, FileChange
from swarm_bench.runtime.workspaces.objects import Objects
from swarm_bench.source.definitions import definitions, is_supported
from swarm_bench.source.files import UNDECLARED, Files, Purpose, purpose_of
from swarm_bench.text.languages import language_of

_TO_CHANGE = "Which source files have to change for this?"
_IMPLEMENTS = "Which source files implement this?"
_REMOVAL = re.compile(
    r"\s*(?:\[[^\]\n]{1,30}\]\s*|[\w./,*{}()!-]{1,40}:\s+)?"
    r"(remov|delet|drop|deprecat|get rid|stop|no longer|don'?t|disabl)\w*\b"
    r"|[^\n]*\b(removed|deleted|dropped)\b",
    re.I,
)
_NEARLY_ALL = 0.8
"""Share of the words that two questions must have in common to count as the same."""
_FEW, _MANY = 5, 0.2
"""Source files, and the share of all, above which a word that they have leads to none of them."""


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What is asked for."""

    count: int
    seed: int
    since: date | None = None
    """First day whose commits count."""
    on: Tree | None = None
    """Tree on which finished changes are asked about; `None` to ask on the parent of each
    commit."""
    files: Files = UNDECLARED
    looked: Looked = ignore_progress


def make_changes(objects: Objects, history: Sequence[Commit], changes: Changes) -> GeneratedTasks:
    """Make tasks of the commits of a history, drawn by the seed. Contents are looked at until there
    are enough tasks."""
    changed = (change for commit in history for change in commit.changes)
    folders = folders_of(path for change in changed for path in (change.path, change.target))
    newest = history[0].hash if history else ""
    maker = _Maker(
        objects=objects, changes=changes, folders=folders, newest=newest, earlier=EarlierPrompts()
    )
    reasons = [maker.obstacle(commit) for commit in history]
    fit = [commit for commit, reason in zip(history, reasons, strict=True) if reason is None]
    ordered = sorted(fit, key=lambda commit: _draw_key(changes.seed, commit.hash))
    generated = generate_tasks(maker.interleave(ordered), changes.count, maker.task, changes.looked)
    dropped = Counter(filter(None, reasons)) + Counter(generated.dropped)
    return replace(generated, dropped=dict(dropped.most_common()), looked_at=len(history))


def _draw_key(seed: int, hash: str) -> str:
    return sha256(f"{seed} {hash}".encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class _Maker:
    objects: Objects
    changes: Changes
    folders: frozenset[str]
    """Names of the folders of all files of the history."""
    newest: str
    """Commit of the history."""
    earlier: "EarlierPrompts"

    @cached_property
    def _common(self) -> frozenset[str]:
        """How words begin that many source files have."""
        tree = self.changes.on or self.objects.tree(self.newest)
        purpose_of = self.changes.files.purpose_of
        paths = [path for path in tree.files if purpose_of(path) is Purpose.SOURCE]
        texts = ((tree.read(path) or b"").decode("utf-8", "replace") for path in paths)
        files = Counter(chain.from_iterable(map(beginnings, texts)))
        many = max(_FEW, _MANY * len(paths))
        return frozenset(word for word, number in files.items() if number > many)

    def interleave(self, commits: Sequence[Commit]) -> list[Commit]:
        """Put commits into an order in which the first ones are about different files."""
        turns, turn = Counter[str](), dict[str, int]()
        for commit in commits:
            first = min(change.target for change in self._sources(commit))
            turn[commit.hash] = turns[first]
            turns[first] += 1
        return sorted(commits, key=lambda commit: turn[commit.hash])

    def obstacle(self, commit: Commit) -> str | None:
        """Say why no task is made of a commit, as far as that is known without its files."""
        since = self.changes.since
        is_old = since is not None and (commit.written_on is None or commit.written_on < since)
        reason = (
            f"before {since}"
            if is_old
            else find_rejection_reason(commit, self.changes.files, self.folders)
        )
        if reason is None and self.changes.on is not None:
            reason = self._undone(commit, self.changes.on)
        return reason

    def _sources(self, commit: Commit) -> list[FileChange]:
        """List the changes of source files; on the parent, those of files that it has."""
        all_sources = sources(commit, self.changes.files)
        return [change for change in all_sources if change.old_hash or self.changes.on is not None]

    def _undone(self, commit: Commit, tree: Tree) -> str | None:
        """Say why a change cannot be asked about as finished."""
        if _REMOVAL.match(commit.message):
            return "removal"
        targets = {change.target for change in self._sources(commit) if change.after}
        return None if targets and targets <= tree.files else "its files are not there any more"

    def task(self, commit: Commit) -> Task:
        """Make a task that is not like others. Raises `UnsuitableCandidate`."""
        files = list(self._contents(commit))
        if not files:
            raise UnsuitableCandidate("formatting or comments only")
        paths = (change.path for change in commit.changes)
        message = clean(commit.message, paths, self.folders)
        key = self._key(files)  # most finished changes do not stand any more, which is soon known
        self._check(files, message)
        self._check_rivals(commit.parents[0], key, message)
        if not self.earlier.is_new(key, message):
            raise UnsuitableCandidate("like another task")
        return self._write_task(commit, message, key)

    def _check(self, files: Sequence[ChangedFile], message: Message) -> None:
        if any(file.does_the_same for file in files):
            raise UnsuitableCandidate("a file of which only imports, types or comments change")
        if len({(file.path.rpartition("/")[2], file.texts) for file in files}) < len(files):
            raise UnsuitableCandidate("the same change of several copies")
        if self.changes.on is None and any(file.only_adds for file in files):
            raise UnsuitableCandidate(
                "a file that only gets something new, which could stand anywhere"
            )
        if not all(message.leads_to(file.says, least=min(2, len(files))) for file in files):
            raise UnsuitableCandidate("a file that nothing in its message leads to")
        if message.had_scope and not all(
            message.leads_to(file.says, least=1, common=self._common) for file in files
        ):
            raise UnsuitableCandidate(
                "a file that only words of many files lead to, without the scope"
            )

    def _check_rivals(self, parent: str, key: AnswerKey, message: Message) -> None:
        """Look for files that an answer could name as well."""
        finished, names = self.changes.on, message.names
        tree = finished or self.objects.tree(parent)
        if has_copy(tree, key.files):
            raise UnsuitableCandidate("a file of which there is a copy")
        if finished is None and names:
            holding = self.objects.find_files(parent, names)
            if find_rival_definitions(tree, holding, names, key):
                raise UnsuitableCandidate("what its message names is defined in another file")

    def _contents(self, commit: Commit) -> Iterator[ChangedFile]:
        """Yield the files that it changes in more than white space and comments."""
        for change in self._sources(commit):
            old = self.objects.read(change.old_hash) if change.old_hash else b""
            new = self.objects.read(change.after) if change.after else None
            if old is None or (change.after and new is None):
                raise UnsuitableCandidate("a file too large to read")
            if self.changes.files.is_generated(change.path, old or new or b""):
                continue
            file = ChangedFile(
                path=change.path, target=change.target, old_source=old, new_source=new
            )
            if file.is_huge:
                raise UnsuitableCandidate("a file rewritten")
            if any(file.lines):
                yield file

    def _key(self, files: Sequence[ChangedFile]) -> AnswerKey:
        if self.changes.on is None:
            symbols = tuple(symbol for file in files for symbol in file.symbols)
            return AnswerKey(files=tuple(sorted(file.path for file in files)), symbols=symbols)
        standing = {file.target: self._standing(file, self.changes.on) for file in files}
        symbols = tuple(symbol for path in sorted(standing) for symbol in standing[path])
        return AnswerKey(files=tuple(sorted(standing)), symbols=symbols)

    def _standing(self, file: ChangedFile, tree: Tree) -> tuple[str, ...]:
        symbols = file.stands_in(tree.read(file.target) or b"") if file.lines[1] else None
        if symbols is None:
            raise UnsuitableCandidate("it does not stand any more")
        return symbols

    def _write_task(self, commit: Commit, message: Message, key: AnswerKey) -> Task:
        finished = self.changes.on is not None
        languages = {language_of(path) or "" for path in key.files}
        return Task(
            id=joined_id("change", *_parts(message)),
            title=_title(message.subject),
            prompt=f"{_IMPLEMENTS if finished else _TO_CHANGE}\n{message.text}",
            keywords=first_words(message.keywords),
            commit=None if finished else commit.parents[0],
            written=commit.written_on,
            key=key,
            tags=("changes", *sorted(languages)),
        )


def _parts(message: Message) -> list[str]:
    return re.findall(r"[a-z0-9]+", " ".join(message.keywords[:4]).lower())


def _title(subject: str) -> str:
    return subject if len(subject) <= 70 else f"{subject[:67].rsplit(' ', 1)[0]} …"


class EarlierPrompts:
    """What is asked already."""

    def __init__(self) -> None:
        self._keys = set[AnswerKey]()
        self._with = defaultdict[str, list[set[str]]](list)
        """Questions by each of their words that are looked for."""

    def is_new(self, key: AnswerKey, message: Message) -> bool:
        """Tell whether nothing is asked that has the same key or nearly the same words, and take
        this for asked then."""
        terms = {word.lower() for word in telling_words(message.text)}
        # Two questions that share so many words have one of these in common, if all have them in
        # one order (prefix filtering; Chaudhuri, Ganti and Kaushik, 2006). Long words are rare.
        least = math.ceil(_NEARLY_ALL * len(terms))
        longest = sorted(terms, key=lambda word: (-len(word), word))[: len(terms) - least + 1]
        similar = (other_terms for word in longest for other_terms in self._with[word])
        if key in self._keys or any(_are_alike(terms, other_terms) for other_terms in similar):
            return False
        self._keys.add(key)
        for word in longest:
            self._with[word].append(terms)
        return True


def _are_alike(first: set[str], second: set[str]) -> bool:
    return len(first & second) >= _NEARLY_ALL * len(first | second)


def has_copy(tree: Tree, paths: Collection[str]) -> bool:
    """Tell whether a tree has one of its files a second time."""
    sizes = {tree.sizes[path] for path in paths}
    contents = {path: tree.read(path) for path in paths}
    return any(
        tree.read(path_elsewhere) == content
        for path, content in contents.items()
        for path_elsewhere, size in tree.sizes.items()
        if size in sizes and path_elsewhere != path and purpose_of(path_elsewhere) is Purpose.SOURCE
    )


def find_rival_definitions(
    tree: Tree, holding: Collection[str], names: Collection[str], key: AnswerKey
) -> bool:
    """Tell whether something is defined in a tree, but in no file of a key. `holding` are the files
    that have one of the names."""

    def defines(path: str) -> bool:
        all_definitions = definitions(path, tree.read(path) or b"")
        return any(definition.name.rpartition(".")[2] in names for definition in all_definitions)

    files = {path for path in holding if is_supported(path) and purpose_of(path) is Purpose.SOURCE}
    own_files = files.intersection(key.files)
    return not any(map(defines, sorted(own_files))) and any(map(defines, sorted(files - own_files)))

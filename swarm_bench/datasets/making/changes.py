"""Tasks from the history of a repository: which files have to change for what a commit did."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from hashlib import sha256
from itertools import chain

from swarm_bench.core.ports import Tree
from swarm_bench.core.session.tasks import AnswerKey, Task
from swarm_bench.datasets.making.changed import ChangedFile
from swarm_bench.datasets.making.made import Looked, Made, Unfit, joined_id, made_of, unwatched
from swarm_bench.datasets.making.messages import (
    Message,
    beginnings,
    clean,
    first_words,
    folders_of,
    telling_words,
)
from swarm_bench.datasets.making.rivals import defined_elsewhere, has_copy
from swarm_bench.datasets.making.rules import sources, unfit
from swarm_bench.models.lexical.languages import language_of
from swarm_bench.runtime.workspaces.history import Commit, FileChange
from swarm_bench.runtime.workspaces.objects import Objects
from swarm_bench.source.files import UNDECLARED, Files, Purpose

_TO_CHANGE = "Which source files have to change for this?"
_IMPLEMENTS = "Which source files implement this?"
_REMOVAL = re.compile(
    r"\s*(?:\[[^\]\n]{1,30}\]\s*|[\w./,*{}()!-]{1,40}:\s+)?"
    r"(remov|delet|drop|deprecat|get rid|stop|no longer|don'?t|disabl)\w*\b"
    r"|[^\n]*\b(removed|deleted|dropped)\b",
    re.I,
)
_NEARLY_ALL = 0.8
"""Of the words of two questions, so that they count as the same."""
_FEW, _MANY = 5, 0.2
"""Source files, and the share of all, above which a word that they have leads to none of them."""


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What is asked for."""

    count: int
    seed: int
    since: date | None = None
    """Only commits from that day on."""
    on: Tree | None = None
    """Where finished changes are asked about; `None` to ask on the parent of each commit."""
    files: Files = UNDECLARED
    looked: Looked = unwatched


def make_changes(objects: Objects, history: Sequence[Commit], wanted: Changes) -> Made:
    """Make tasks of the commits of a history, drawn by the seed. Contents are looked at until there
    are enough tasks."""
    changed = (change for commit in history for change in commit.changes)
    folders = folders_of(path for change in changed for path in (change.path, change.target))
    newest = history[0].hash if history else ""
    maker = _Maker(objects=objects, wanted=wanted, folders=folders, newest=newest, asked=Asked())
    reasons = [maker.obstacle(commit) for commit in history]
    fit = [commit for commit, why in zip(history, reasons, strict=True) if why is None]
    drawn = sorted(fit, key=lambda commit: _drawn(wanted.seed, commit.hash))
    made = made_of(maker.in_turn(drawn), wanted.count, maker.task, wanted.looked)
    dropped = Counter(filter(None, reasons)) + Counter(made.dropped)
    return replace(made, dropped=dict(dropped.most_common()), looked_at=len(history))


def _drawn(seed: int, hash: str) -> str:
    return sha256(f"{seed} {hash}".encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class _Maker:
    objects: Objects
    wanted: Changes
    folders: frozenset[str]
    """Of all files of the history, by their names."""
    newest: str
    """Commit of the history."""
    asked: "Asked"

    @cached_property
    def _common(self) -> frozenset[str]:
        """How words begin that many source files have."""
        tree = self.wanted.on or self.objects.tree(self.newest)
        purpose_of = self.wanted.files.purpose_of
        paths = [path for path in tree.files if purpose_of(path) is Purpose.SOURCE]
        texts = ((tree.read(path) or b"").decode("utf-8", "replace") for path in paths)
        files = Counter(chain.from_iterable(map(beginnings, texts)))
        many = max(_FEW, _MANY * len(paths))
        return frozenset(word for word, number in files.items() if number > many)

    def in_turn(self, commits: Sequence[Commit]) -> list[Commit]:
        """Put commits into an order in which the first ones are about different files."""
        turns, turn = Counter[str](), dict[str, int]()
        for commit in commits:
            first = min(change.target for change in self._sources(commit))
            turn[commit.hash] = turns[first]
            turns[first] += 1
        return sorted(commits, key=lambda commit: turn[commit.hash])

    def obstacle(self, commit: Commit) -> str | None:
        """Say why no task is made of a commit, as far as that is known without its files."""
        since = self.wanted.since
        is_old = since is not None and (commit.written is None or commit.written < since)
        why = f"before {since}" if is_old else unfit(commit, self.wanted.files, self.folders)
        if why is None and self.wanted.on is not None:
            why = self._undone(commit, self.wanted.on)
        return why

    def _sources(self, commit: Commit) -> list[FileChange]:
        """List the changes of source files; on the parent, those of files that it has."""
        every = sources(commit, self.wanted.files)
        return [change for change in every if change.before or self.wanted.on is not None]

    def _undone(self, commit: Commit, tree: Tree) -> str | None:
        """Say why a change cannot be asked about as finished."""
        if _REMOVAL.match(commit.message):
            return "removal"
        targets = {change.target for change in self._sources(commit) if change.after}
        return None if targets and targets <= tree.files else "its files are not there any more"

    def task(self, commit: Commit) -> Task:
        """Make a task that is not like others. Raises `Unfit`."""
        files = list(self._contents(commit))
        if not files:
            raise Unfit("formatting or comments only")
        paths = (change.path for change in commit.changes)
        message = clean(commit.message, paths, self.folders)
        key = self._key(files)  # most finished changes do not stand any more, which is soon known
        self._check(files, message)
        self._check_rivals(commit.parents[0], key, message)
        if not self.asked.is_new(key, message):
            raise Unfit("like another task")
        return self._written(commit, message, key)

    def _check(self, files: Sequence[ChangedFile], message: Message) -> None:
        if any(file.does_the_same for file in files):
            raise Unfit("a file of which only imports, types or comments change")
        if len({(file.path.rpartition("/")[2], file.texts) for file in files}) < len(files):
            raise Unfit("the same change of several copies")
        if self.wanted.on is None and any(file.only_adds for file in files):
            raise Unfit("a file that only gets something new, which could stand anywhere")
        if not all(message.leads_to(file.says, least=min(2, len(files))) for file in files):
            raise Unfit("a file that nothing in its message leads to")
        if message.had_scope and not all(
            message.leads_to(file.says, least=1, common=self._common) for file in files
        ):
            raise Unfit("a file that only words of many files lead to, without the scope")

    def _check_rivals(self, parent: str, key: AnswerKey, message: Message) -> None:
        """Look for files that an answer could name as well."""
        finished, names = self.wanted.on, message.names
        tree = finished or self.objects.tree(parent)
        if has_copy(tree, key.files):
            raise Unfit("a file of which there is a copy")
        if finished is None and names:
            holding = self.objects.files_with(parent, names)
            if defined_elsewhere(tree, holding, names, key):
                raise Unfit("what its message names is defined in another file")

    def _contents(self, commit: Commit) -> Iterator[ChangedFile]:
        """Yield the files that it changes in more than white space and comments."""
        for change in self._sources(commit):
            before = self.objects.read(change.before) if change.before else b""
            after = self.objects.read(change.after) if change.after else None
            if before is None or (change.after and after is None):
                raise Unfit("a file too large to read")
            if self.wanted.files.is_generated(change.path, before or after or b""):
                continue
            file = ChangedFile(path=change.path, target=change.target, before=before, after=after)
            if file.is_huge:
                raise Unfit("a file rewritten")
            if any(file.lines):
                yield file

    def _key(self, files: Sequence[ChangedFile]) -> AnswerKey:
        if self.wanted.on is None:
            symbols = tuple(symbol for file in files for symbol in file.symbols)
            return AnswerKey(files=tuple(sorted(file.path for file in files)), symbols=symbols)
        standing = {file.target: self._standing(file, self.wanted.on) for file in files}
        symbols = tuple(symbol for path in sorted(standing) for symbol in standing[path])
        return AnswerKey(files=tuple(sorted(standing)), symbols=symbols)

    def _standing(self, file: ChangedFile, tree: Tree) -> tuple[str, ...]:
        symbols = file.stands_in(tree.read(file.target) or b"") if file.lines[1] else None
        if symbols is None:
            raise Unfit("it does not stand any more")
        return symbols

    def _written(self, commit: Commit, message: Message, key: AnswerKey) -> Task:
        finished = self.wanted.on is not None
        languages = {language_of(path) or "" for path in key.files}
        return Task(
            id=joined_id("change", *_parts(message)),
            title=_title(message.subject),
            prompt=f"{_IMPLEMENTS if finished else _TO_CHANGE}\n{message.text}",
            keywords=first_words(message.keywords),
            commit=None if finished else commit.parents[0],
            written=commit.written,
            key=key,
            tags=("changes", *sorted(languages)),
        )


def _parts(message: Message) -> list[str]:
    return re.findall(r"[a-z0-9]+", " ".join(message.keywords[:4]).lower())


def _title(subject: str) -> str:
    return subject if len(subject) <= 70 else f"{subject[:67].rsplit(' ', 1)[0]} …"


class Asked:
    """What is asked already."""

    def __init__(self) -> None:
        self._keys = set[AnswerKey]()
        self._with = defaultdict[str, list[set[str]]](list)
        """Questions by each of their words that are looked for."""

    def is_new(self, key: AnswerKey, message: Message) -> bool:
        """Tell whether nothing is asked that has the same key or nearly the same words, and take
        this for asked then."""
        telling = {word.lower() for word in telling_words(message.text)}
        # Two questions that share so many words have one of these in common, if all have them in
        # one order (prefix filtering; Chaudhuri, Ganti and Kaushik, 2006). Long words are rare.
        least = math.ceil(_NEARLY_ALL * len(telling))
        some = sorted(telling, key=lambda word: (-len(word), word))[: len(telling) - least + 1]
        others = (other for word in some for other in self._with[word])
        if key in self._keys or any(_are_alike(telling, other) for other in others):
            return False
        self._keys.add(key)
        for word in some:
            self._with[word].append(telling)
        return True


def _are_alike(some: set[str], others: set[str]) -> bool:
    return len(some & others) >= _NEARLY_ALL * len(some | others)

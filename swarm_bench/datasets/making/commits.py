"""What a commit changed in a file (lines, functions and classes), and which commits make no task,
as far as their messages and the names of their files tell."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import chain, zip_longest

from tree_sitter import Node

from swarm_bench.core.session.tasks import SYMBOL_MARK
from swarm_bench.datasets.making.code import is_of_tests
from swarm_bench.datasets.making.messages import clean, names_commit, names_file
from swarm_bench.runtime.workspaces.history import Commit, FileChange
from swarm_bench.source.definitions import Definition, definitions, is_supported
from swarm_bench.source.files import UNDECLARED, Files, Purpose, is_line
from swarm_bench.source.grammars import comment_lines, grammar_of, parse
from swarm_bench.text.languages import language_of

MOST_LINES = 400
"""Changed in one file; more is a rewrite, which no sentence describes."""
_MOST_COMPARED = 5_000
"""Lines between those that are the same at the beginning and at the end: comparing them takes a
time that grows with the square."""
_MEANING = re.compile(rb"\w")
_IMPORTS = frozenset(
    {"import_statement", "import_from_statement", "future_import_statement", "import_declaration"}
    | {"use_declaration"}
)
_OUTSIDE_KINDS = _IMPORTS | frozenset(
    {"type", "type_annotation", ":", "->", "comment", "line_comment"} | {"block_comment"}
)
"""Parts of a program that say nothing of what it does."""
_STILL = 0.7
"""Share of the added lines that must still be there for a change to stand."""


@dataclass(frozen=True, kw_only=True)
class ChangedFile:
    """A file before and after a commit; `None` where it is not there."""

    path: str
    target: str
    old_source: bytes
    new_source: bytes | None

    @cached_property
    def lines(self) -> tuple[frozenset[int], frozenset[int]]:
        """Numbers of the lines that were removed, and of those that were added. Those of comments
        and of modules of tests, those without a letter or a digit, and those that differ in white
        space only do not count."""
        if self._has_same_words:
            return frozenset(), frozenset()
        old, new = self._stripped_lines
        start, end = _count_equal_ends(old, new)
        matcher = SequenceMatcher(None, old[start : len(old) - end], new[start : len(new) - end])
        removed, added = set[int](), set[int]()
        for tag, first, last, new_first, new_last in matcher.get_opcodes():
            if tag != "equal":
                removed |= _numbers(old, start + first, start + last)
                added |= _numbers(new, start + new_first, start + new_last)
        old_outside, new_outside = self._outside_lines
        return frozenset(removed) - old_outside, frozenset(added) - new_outside

    @property
    def is_huge(self) -> bool:
        """Tell whether too much changed; where that is clear, the lines are not compared."""
        if self._has_same_words:
            return False
        old, new = self._stripped_lines
        compared_lines = max(len(old), len(new)) - sum(_count_equal_ends(old, new))
        if compared_lines > _MOST_COMPARED or self._fewest_lines > MOST_LINES:
            return True
        return sum(map(len, self.lines)) > MOST_LINES

    @cached_property
    def _has_same_words(self) -> bool:
        return self.new_source is not None and self.old_source.split() == self.new_source.split()

    @property
    def _fewest_lines(self) -> int:
        """How many `lines` has at least: those that stand more often on the one side."""
        sides = [
            Counter(line for number, line in enumerate(lines, 1) if number not in outside)
            for lines, outside in zip(self._stripped_lines, self._outside_lines, strict=True)
        ]
        counts = [*map(Counter, self._stripped_lines)]
        removed_or_added = (sides[0] - counts[1]) + (sides[1] - counts[0])
        return sum(times for line, times in removed_or_added.items() if _MEANING.search(line))

    @cached_property
    def _stripped_lines(self) -> tuple[list[bytes], list[bytes]]:
        old, new = self.old_source.splitlines(), (self.new_source or b"").splitlines()
        return [line.rstrip() for line in old], [line.rstrip() for line in new]

    @cached_property
    def _outside_lines(self) -> tuple[frozenset[int], frozenset[int]]:
        """The lines of either side that are no part of the program."""
        return (
            _find_outside_lines(self.path, self.old_source, self._earlier),
            _find_outside_lines(self.target, self.new_source or b"", self._later),
        )

    @property
    def does_the_same(self) -> bool:
        """Tell whether nothing but imports, types and comments changed: no question leads there."""
        if not (is_supported(self.path) and is_supported(self.target)):
            return False
        sources = self.old_source, self.new_source or b""
        old, new = (source.splitlines() for source in sources)
        start, end = _count_equal_ends(old, new)
        rows = ((start, len(lines) - end) for lines in (old, new))
        tokens = map(_tokens, (self.path, self.target), sources, rows)
        return all(old_token == new_token for old_token, new_token in zip_longest(*tokens))

    @cached_property
    def texts(self) -> tuple[frozenset[str], frozenset[str]]:
        """What the removed lines and the added ones say."""
        removed, added = self.lines
        return _texts(self.old_source, removed), _texts(self.new_source or b"", added)

    @property
    def names(self) -> str:
        """Its own, and those of the functions and classes around its change."""
        names = (symbol.partition(SYMBOL_MARK)[2] for symbol in self.symbols)
        return "\n".join((self.path.rpartition("/")[2], *names))

    @property
    def says(self) -> str:
        """What can lead to its change: the lines, the functions around them and its name."""
        return "\n".join((self.names, *chain(*self.texts)))

    @property
    def only_adds(self) -> bool:
        """Tell whether all that it had is as before, but for imports."""
        kinds = {definition.name: definition.kind for definition in self._earlier}
        parent_kinds = (kinds[symbol.partition(SYMBOL_MARK)[2]] for symbol in self.symbols)
        return not (
            self.lines[0] - _import_lines(self.path, self.old_source)
            or any(kind in ("function", "method") for kind in parent_kinds)
        )

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """Functions and classes that stand in the file before, and whose lines the commit
        changed."""
        removed, added = self.lines
        old = self._earlier
        names = _name_enclosing(old, removed) | _name_enclosing(
            [new for new in self._later if new.name in {definition.name for definition in old}],
            added,
        )
        return tuple(
            f"{self.path}{SYMBOL_MARK}{name}" for name in sorted(names - self._unchanged_names)
        )

    @cached_property
    def _earlier(self) -> tuple[Definition, ...]:
        return definitions(self.path, self.old_source)

    @cached_property
    def _later(self) -> tuple[Definition, ...]:
        return definitions(self.target, self.new_source or b"")

    @cached_property
    def _unchanged_names(self) -> frozenset[str]:
        """Names of what reads as before. Lines that come after a function and end as it does can be
        taken for a part of it."""
        old, new = (
            {definition.name: source[slice(*definition.span)] for definition in all_definitions}
            for all_definitions, source in (
                (self._earlier, self.old_source),
                (self._later, self.new_source or b""),
            )
        )
        return frozenset(name for name, text in old.items() if new.get(name) == text)

    def stands_in(self, source: bytes) -> tuple[str, ...] | None:
        """Return the symbols of the change in a later version of the file; `None` when the change
        does not stand there any more."""
        later = set(source.splitlines())
        new = (self.new_source or b"").splitlines()
        added = [new[number - 1] for number in self.lines[1]]
        if sum(line in later for line in added) < _STILL * max(1, len(added)):
            return None
        changed = _name_enclosing(self._later, self.lines[1]) - self._unchanged_names
        if not changed <= {definition.name for definition in definitions(self.target, source)}:
            return None
        return tuple(f"{self.target}{SYMBOL_MARK}{name}" for name in sorted(changed))


def _tokens(path: str, source: bytes, rows: tuple[int, int]) -> Iterator[bytes]:
    """Yield the words and signs of the rows of a program, the last one excluded, but for those of
    imports, types and comments; all of one that takes too long to parse."""
    grammar = grammar_of(path)
    assert grammar
    if (root := parse(grammar, source)) is None:
        yield from source.split()
        return
    pending = [root]
    while pending:
        node = pending.pop()
        if node.type in _OUTSIDE_KINDS or not _is_on(node, rows):
            continue
        if children := node.children:
            pending += reversed(children)
        elif node.text:
            yield node.text


def _is_on(node: Node, rows: tuple[int, int]) -> bool:
    return node.start_point.row < rows[1] and node.end_point.row >= rows[0]


def _import_lines(path: str, source: bytes) -> frozenset[int]:
    grammar = grammar_of(path)
    root = parse(grammar, source) if grammar else None
    nodes = root.children if root else ()
    spans = ((n.start_point.row, n.end_point.row) for n in nodes if n.type in _IMPORTS)
    return frozenset().union(*(range(first + 1, last + 2) for first, last in spans))


def _count_equal_ends(old: Sequence[bytes], new: Sequence[bytes]) -> tuple[int, int]:
    """Return how many lines are the same at the beginning, and how many at the end."""
    start = _count_shared(old, new)
    return start, _count_shared(old[start:][::-1], new[start:][::-1])


def _count_shared(old: Sequence[bytes], new: Sequence[bytes]) -> int:
    """Return how many lines are the same from the beginning."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((number for number, (a, b) in pairs if a != b), min(len(old), len(new)))


def _numbers(lines: Sequence[bytes], first: int, last: int) -> set[int]:
    return {number + 1 for number in range(first, last) if _MEANING.search(lines[number])}


def _texts(source: bytes, numbers: frozenset[int]) -> frozenset[str]:
    lines = source.splitlines()
    return frozenset(lines[number - 1].decode("utf-8", "replace") for number in numbers)


def _find_outside_lines(
    path: str, source: bytes, all_definitions: Sequence[Definition]
) -> frozenset[int]:
    """Return the lines of comments, and of the modules that Rust has for tests inside a file."""
    tests = filter(is_of_tests, all_definitions)
    return comment_lines(path, source).union(*(range(d.first_line, d.last_line + 1) for d in tests))


def _name_enclosing(all_definitions: Sequence[Definition], lines: frozenset[int]) -> set[str]:
    """Return for each line the name of the innermost definition that it stands in."""
    enclosing = (
        [d for d in all_definitions if d.first_line <= line <= d.last_line] for line in lines
    )
    return {
        min(group, key=lambda d: (d.last_line - d.first_line, d.name)).name
        for group in enclosing
        if group
    }


MOST_FILES = 6
_LONGEST = 400
"""Characters of a first sentence; longer ones are logs and lists, and no question. Nor is more of
a first line looked at: expressions take a time that grows with the square."""
_REVERT = re.compile(
    r"^\W*(revert(s|ed|ing)?|back\s?out|backed out|undo)\b|This reverts commit", re.IGNORECASE
)
_MERGE = re.compile(r"^\s*(merged?\b|(appl(y|ied|ies)|commit(ted)?)\b.*\bpatch)", re.IGNORECASE)
_BUMP = re.compile(
    r"\b(bump|upgrade|update|pin|unpin)[sd]?\b.*\b(to|from)\s+[\w./-]*\d|^\s*bump|^\s*v?\d+(\.\d+)+\S*\s*$|"
    r"^\s*(deps|build|release)\b\s*[:(]|\(deps(-dev)?\)|\bdependenc(y|ies)\b|"
    r"^\s*(release|prepare|tag|version|cut)\b|\bchange ?log\b|\b(version|release) (bump|number)|"
    r"^\s*\S+@[~^]?\d|\bnext (version|release)\b|\b(back to|start) (development|dev)\b",
    re.IGNORECASE,
)
_FORMATTING = re.compile(
    r"\b(pep-?8|pep-?257|flake8|pylint|lint(s|er|ing|ed)?|pyflakes|isort|black|ruff|prettier|"
    r"eslint|standard style|gofmt|gofumpt|rustfmt|cargo fmt|golint|golangci\S*|clippy|pyupgrade|"
    r"autopep8|mypy|white ?spaces?|indent(ation|s|ed)?|formatting|coding style|code style|"
    r"(re)?format(ting|ted)? (the )?(code|files?|source)|cosmetic(s)?|typos?|spell(ing)?|"
    r"misspell\w*|grammar|wording|type (hints?|annotations?)|typing|type ignores?|unused|"
    r"dead.code|line length|trailing|quotes|f-strings?|nits?)\b|^\s*style\b",
    re.IGNORECASE,
)
_DOCUMENTATION = re.compile(
    r"^\s*(docs?|test|tests|ci|readme)\s*(\([^)]*\))?!?\s*:|^\s*(document|annotat)|"
    r"\b(annotations?|doc ?strings?|documentation|docs?|javadoc|jsdoc|godoc|readme|comments?|"
    r"commented|doc comments?|licen[sc]es?|copyrights?|code of conduct|authors?|contributors?|"
    r"travis|tox|(github )?workflows?|github actions?|appveyor|codecov|coverage|test suite|"
    r"unit ?tests?|tests?|test_\w+)\b",
    re.IGNORECASE,
)
_TIDYING = re.compile(
    r"^\W*(\w+(\([^)]*\))?: *)?(refactor|clean|simplif|polish|reorgani|restructur|tid(y|ied)|"
    r"moderni|extract|split|mov(e|ed|es|ing)\b|renam|replac|reorder|re-?arrang|unif(y|i)|"
    r"consolidat|another\b|more\b|attempt|try|tried|experiment|wip\b|first\b|initial|start|"
    r"temporar|no need|s/|adjust|tweak|modif|minor|small|convert|switch|migrat|port(ed)?\b|reduc|"
    r"reus|address|follow|fixup|squash|hack|todo|we\b|use\b.*\b(instead|replace|similar)\b|prefer\b|"
    r"optimi|speed|performance|inlin|working on)|"
    r"\b(duplicated? code|refactor\w*|simplifications|automated|auto[ -]?fix\w*|moderni[sz]\w*|"
    r"pre-?commit|hard-?coded?|more explicit|readability|unkeyed|variable names?|"
    r"un(necessary|needed)|needless|redundant|tedious|superfluous|obsolete)\b|"
    r"^\W*(oops|us(e|es|ed|ing) .*\b(constants?|standard)\b)|"
    r"\b(various|misc\.?|miscellaneous|several|some|a bunch of|a lot of|lots of) (\w+ )?"
    r"(changes|enhancements|fixes|improvements)\b|"
    r"\b(code|build|ci|windows build|compile|compil\w+ (warnings?|errors?)|refactor(s|ing|ed)?|"
    r"clean(s|ed)? ?up|deploy|simplif\w+|style|deprecat\w* (code|features?)|warnings?|"
    r"performance)\s*(\(#\d+\))?\s*$",
    re.IGNORECASE,
)
"""Changes to code that nobody outside of it would notice: a sentence about them rarely says
where."""


def sources(commit: Commit, files: Files = UNDECLARED) -> tuple[FileChange, ...]:
    """Return the changes of source files."""
    changes = commit.changes
    return tuple(c for c in changes if files.purpose_of(c.path) is Purpose.SOURCE)


def find_rejection_reason(
    commit: Commit, files: Files = UNDECLARED, folders: Collection[str] = ()
) -> str | None:
    """Say why no task is made of a commit; `None` when nothing speaks against it. `folders` are
    those that a message may have as its scope."""
    return next(_reasons(commit, files, folders), None)


def _reasons(commit: Commit, files: Files, folders: Collection[str]) -> Iterator[str]:
    subject = commit.message.partition("\n")[0][:_LONGEST]
    if len(commit.parents) > 1 or _MERGE.match(subject):
        yield "merge"
    if not commit.parents:
        yield "the commit has no parent here"
    if _REVERT.search(commit.message):
        yield "revert"
    if _BUMP.search(subject):
        yield "bump of a version or a dependency"
    if _FORMATTING.search(subject):
        yield "formatting, by its message"
    if _DOCUMENTATION.search(subject):
        yield "documentation or tests, by its message"
    if _TIDYING.search(subject):
        yield "tidying, by its message"
    yield from _check_files(commit, files)
    yield from _check_question(commit, folders)


def _check_question(commit: Commit, folders: Collection[str]) -> Iterator[str]:
    paths = [path for change in commit.changes for path in (change.path, change.target)]
    message = clean(commit.message, paths, folders)
    if not message.says_something:
        yield "message that says too little"
    if len(message.subject) > _LONGEST:
        yield "message with too long a first sentence"
    if names_file(message.subject, paths) or names_commit(message.subject):
        yield "message that names a file of it, or a commit"


def _check_files(commit: Commit, files: Files) -> Iterator[str]:
    names = {name for change in commit.changes for name in (change.path, change.target)}
    if any(language_of(name) and not is_line(name) for name in names):
        yield "a source file whose name is no UTF-8, or not on one line"
    purposes = {files.purpose_of(change.path) for change in commit.changes}
    if Purpose.SOURCE not in purposes:
        yield (
            "generated or vendored files only"
            if Purpose.GENERATED in purposes
            else "no source files: tests, documentation, settings"
        )
    changed = sources(commit, files)
    if len(changed) > MOST_FILES:
        yield f"more than {MOST_FILES} source files"
    existing = [change for change in changed if change.old_hash]
    if not existing:
        yield "new files only"
    if all(change.old_hash == change.after for change in existing):
        yield "renames without content"

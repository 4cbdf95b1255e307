"""What a commit changed in a file: lines, functions and classes."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import chain, zip_longest

from tree_sitter import Node

from swarm_bench.core.session.tasks import SYMBOL_MARK
from swarm_bench.datasets.making.code import is_of_tests
from swarm_bench.source.comments import comment_lines
from swarm_bench.source.definitions import Definition, definitions, is_supported
from swarm_bench.source.grammars import grammar_of, parse

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
"""Of the added lines, so that a change still stands."""


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

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
from swarm_bench.source.grammars import grammar_of, parsed

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
_BESIDE = _IMPORTS | frozenset(
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
    before: bytes
    after: bytes | None

    @cached_property
    def lines(self) -> tuple[frozenset[int], frozenset[int]]:
        """Numbers of the lines that were removed, and of those that were added. Those of comments
        and of modules of tests, those without a letter or a digit, and those that differ in white
        space only do not count."""
        if self._has_same_words:
            return frozenset(), frozenset()
        old, new = self._stripped
        start, end = _ends(old, new)
        matcher = SequenceMatcher(None, old[start : len(old) - end], new[start : len(new) - end])
        removed, added = set[int](), set[int]()
        for tag, first, last, new_first, new_last in matcher.get_opcodes():
            if tag != "equal":
                removed |= _numbers(old, start + first, start + last)
                added |= _numbers(new, start + new_first, start + new_last)
        return frozenset(removed) - self._beside[0], frozenset(added) - self._beside[1]

    @property
    def is_huge(self) -> bool:
        """Tell whether too much changed; where that is clear, the lines are not compared."""
        if self._has_same_words:
            return False
        old, new = self._stripped
        compared = max(len(old), len(new)) - sum(_ends(old, new))
        if compared > _MOST_COMPARED or self._fewest_lines > MOST_LINES:
            return True
        return sum(map(len, self.lines)) > MOST_LINES

    @cached_property
    def _has_same_words(self) -> bool:
        return self.after is not None and self.before.split() == self.after.split()

    @property
    def _fewest_lines(self) -> int:
        """How many `lines` has at least: those that stand more often on the one side."""
        sides = [
            Counter(line for number, line in enumerate(lines, 1) if number not in beside)
            for lines, beside in zip(self._stripped, self._beside, strict=True)
        ]
        every = [*map(Counter, self._stripped)]
        more = (sides[0] - every[1]) + (sides[1] - every[0])
        return sum(times for line, times in more.items() if _MEANING.search(line))

    @cached_property
    def _stripped(self) -> tuple[list[bytes], list[bytes]]:
        old, new = self.before.splitlines(), (self.after or b"").splitlines()
        return [line.rstrip() for line in old], [line.rstrip() for line in new]

    @cached_property
    def _beside(self) -> tuple[frozenset[int], frozenset[int]]:
        """The lines of either side that are no part of the program."""
        return (
            _beside_the_program(self.path, self.before, self._earlier),
            _beside_the_program(self.target, self.after or b"", self._later),
        )

    @property
    def does_the_same(self) -> bool:
        """Tell whether nothing but imports, types and comments changed: no question leads there."""
        if not (is_supported(self.path) and is_supported(self.target)):
            return False
        sources = self.before, self.after or b""
        old, new = (source.splitlines() for source in sources)
        start, end = _ends(old, new)
        rows = ((start, len(lines) - end) for lines in (old, new))
        tokens = map(_tokens, (self.path, self.target), sources, rows)
        return all(before == after for before, after in zip_longest(*tokens))

    @cached_property
    def texts(self) -> tuple[frozenset[str], frozenset[str]]:
        """What the removed lines and the added ones say."""
        removed, added = self.lines
        return _texts(self.before, removed), _texts(self.after or b"", added)

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
        kinds = {each.name: each.kind for each in self._earlier}
        around = (kinds[symbol.partition(SYMBOL_MARK)[2]] for symbol in self.symbols)
        return not (
            self.lines[0] - _import_lines(self.path, self.before)
            or any(kind in ("function", "method") for kind in around)
        )

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """Functions and classes that stand in the file before, and whose lines the commit
        changed."""
        removed, added = self.lines
        old = self._earlier
        names = _around(old, removed) | _around(
            [new for new in self._later if new.name in {each.name for each in old}], added
        )
        return tuple(f"{self.path}{SYMBOL_MARK}{name}" for name in sorted(names - self._alike))

    @cached_property
    def _earlier(self) -> tuple[Definition, ...]:
        return definitions(self.path, self.before)

    @cached_property
    def _later(self) -> tuple[Definition, ...]:
        return definitions(self.target, self.after or b"")

    @cached_property
    def _alike(self) -> frozenset[str]:
        """Names of what reads as before. Lines that come after a function and end as it does can be
        taken for a part of it."""
        old, new = (
            {definition.name: source[slice(*definition.span)] for definition in every}
            for every, source in (
                (self._earlier, self.before),
                (self._later, self.after or b""),
            )
        )
        return frozenset(name for name, text in old.items() if new.get(name) == text)

    def stands_in(self, source: bytes) -> tuple[str, ...] | None:
        """Return the symbols of the change in a later version of the file; `None` when the change
        does not stand there any more."""
        later = set(source.splitlines())
        new = (self.after or b"").splitlines()
        added = [new[number - 1] for number in self.lines[1]]
        if sum(line in later for line in added) < _STILL * max(1, len(added)):
            return None
        changed = _around(self._later, self.lines[1]) - self._alike
        if not changed <= {definition.name for definition in definitions(self.target, source)}:
            return None
        return tuple(f"{self.target}{SYMBOL_MARK}{name}" for name in sorted(changed))


def _tokens(path: str, source: bytes, rows: tuple[int, int]) -> Iterator[bytes]:
    """Yield the words and signs of the rows of a program, the last one excluded, but for those of
    imports, types and comments; all of one that takes too long to parse."""
    grammar = grammar_of(path)
    assert grammar
    if (root := parsed(grammar, source)) is None:
        yield from source.split()
        return
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type in _BESIDE or not _is_on(node, rows):
            continue
        if children := node.children:
            waiting += reversed(children)
        elif node.text:
            yield node.text


def _is_on(node: Node, rows: tuple[int, int]) -> bool:
    return node.start_point.row < rows[1] and node.end_point.row >= rows[0]


def _import_lines(path: str, source: bytes) -> frozenset[int]:
    grammar = grammar_of(path)
    root = parsed(grammar, source) if grammar else None
    nodes = root.children if root else ()
    spans = ((n.start_point.row, n.end_point.row) for n in nodes if n.type in _IMPORTS)
    return frozenset().union(*(range(first + 1, last + 2) for first, last in spans))


def _ends(old: Sequence[bytes], new: Sequence[bytes]) -> tuple[int, int]:
    """Return how many lines are the same at the beginning, and how many at the end."""
    start = _shared(old, new)
    return start, _shared(old[start:][::-1], new[start:][::-1])


def _shared(old: Sequence[bytes], new: Sequence[bytes]) -> int:
    """Return how many lines are the same from the beginning."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((number for number, (a, b) in pairs if a != b), min(len(old), len(new)))


def _numbers(lines: Sequence[bytes], first: int, last: int) -> set[int]:
    return {number + 1 for number in range(first, last) if _MEANING.search(lines[number])}


def _texts(source: bytes, numbers: frozenset[int]) -> frozenset[str]:
    lines = source.splitlines()
    return frozenset(lines[number - 1].decode("utf-8", "replace") for number in numbers)


def _beside_the_program(path: str, source: bytes, every: Sequence[Definition]) -> frozenset[int]:
    """Return the lines of comments, and of the modules that Rust has for tests inside a file."""
    tests = filter(is_of_tests, every)
    return comment_lines(path, source).union(*(range(d.first_line, d.last_line + 1) for d in tests))


def _around(every: Sequence[Definition], lines: frozenset[int]) -> set[str]:
    """Return for each line the name of the innermost definition that it stands in."""
    around = ([d for d in every if d.first_line <= line <= d.last_line] for line in lines)
    return {
        min(some, key=lambda d: (d.last_line - d.first_line, d.name)).name
        for some in around
        if some
    }

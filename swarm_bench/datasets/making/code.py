"""All source code of a repository at one commit, and what is said in it of a name."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from random import Random
from weakref import WeakKeyDictionary

from swarm_bench.core.ports import Tree
from swarm_bench.source.definitions import LARGEST, Definition, definitions, is_supported
from swarm_bench.source.files import UNDECLARED, Files, Purpose
from swarm_bench.text.languages import language_of

_WORD = re.compile(rb"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*")
_PROSE = frozenset({".md", ".rst", ".txt", ".adoc", ".markdown", ".html", ".svg", ".po"})
_SHORTEST = 4
"""Characters of a name."""
_DEFINES = re.compile(rb"""(?x)
    ^[ \t]*(?:(?:export|default|declare|abstract|pub|pub\([^)]*\)|async|static|public|private|
        protected|final|unsafe|const|inline|extern(?:\s"C")?)\s+)*
    (?:def|class|cdef|cpdef|func|fn|function\s?\*?|struct|enum|type|interface|trait|const|let|var|
        static|mut|union|namespace|module|sub|macro_rules!|\#\s*define|func\s*\([^)\n]*\))
    \s+(?:mut\s+)?([\w$]+)\b(?!\s*=\s*(?:\w+\()?require\b)
  | ^[ \t]*(?:[\w$]+\.)*([\w$]+)(?:[ \t]*:[^=\n()]{1,60}=|[ \t]+:?=)(?![=>]|\s*\2\b)
  | \b([\w$]+)\s*:\s*(?:async\s+)?(?:function\b|\([^()\n]*\)\s*=>)
  | ^[ \t]*(?:(?:async|static|public|private|protected|get|set|override|readonly)[ \t]+|\*)*
    ([\w$]+)\s*(?:<[^>\n]*>)?\([^()\n]*\)[^;\n=]*\{[ \t]*$
  | \bas[ \t]+([\w$]+)\b
""")
"""Line that looks like a definition of a name in any language, or like an assignment to it."""
_LONGEST_LINE = 2_000
"""Bytes; a longer one was hardly written by hand."""
_MODULES = ("module", "namespace")
_OF_TESTS = re.compile(r"tests?|testing")
"""Names of modules inside a file, as Rust has them."""


@dataclass(kw_only=True)
class Code:
    """The text files of a tree."""

    texts: dict[str, bytes]
    """Text of each file without its prose, by path."""
    files: Files = UNDECLARED
    _definitions: dict[str, tuple[Definition, ...]] = field(default_factory=dict)
    _only: dict[Definition, bool] = field(default_factory=dict)

    @cached_property
    def mentions(self) -> dict[bytes, list[str]]:
        """The files in which each word stands."""
        files: dict[bytes, list[str]] = defaultdict(list)
        for path, text in self.texts.items():
            for word in set(_WORD.findall(text)):
                files[word].append(path)
        return files

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """Files of the program itself that people wrote, and that can be parsed."""
        return tuple(path for path in sorted(self.texts) if self._is_source(path))

    @cached_property
    def modules(self) -> frozenset[str]:
        """Paths without their endings."""
        return frozenset(map(strip_ending, self.texts))

    @cached_property
    def classes(self) -> dict[str, list[Definition]]:
        """Classes of the program, by their names."""
        by_name: dict[str, list[Definition]] = defaultdict(list)
        for path in self.sources:
            for definition in self.definitions(path):
                if definition.kind == "class":
                    by_name[definition.own_name].append(definition)
        return by_name

    def definitions(self, path: str) -> tuple[Definition, ...]:
        """Return the definitions of a file; each is parsed once."""
        if path not in self._definitions:
            self._definitions[path] = definitions(path, self.texts[path])
        return self._definitions[path]

    def candidates(self) -> Iterator[Definition]:
        """Yield the definitions of the program that can be asked about: with a name of some length,
        outside of functions and of tests, no modules, and not only declared."""
        for path in self.sources:
            all_here = self.definitions(path)
            kinds = {definition.name: definition.kind for definition in all_here}
            tests = [definition for definition in all_here if is_of_tests(definition)]
            for definition in all_here:
                parent_kind = kinds.get(definition.parent_name, "")
                is_inner = definition.is_local or parent_kind in ("interface", "trait")
                is_in_test = any(_holds(test, definition) for test in tests)
                is_asked = definition.kind not in _MODULES and _can_be_asked(definition.own_name)
                if is_asked and not is_inner and not is_in_test:
                    yield definition

    def other_definitions(self, definition: Definition) -> Iterator[str]:
        """Yield the files with something that looks like another definition of its name."""
        name = definition.own_name.encode()
        first, last = definition.span
        for path in self.mentions.get(name, ()):
            outside = (
                line
                for span, line in _lines_with(self.texts[path], name)
                if path != definition.path or span[0] < first or last <= span[1]
            )
            if any(name in line_name for line in outside for line_name in _DEFINES.findall(line)):
                yield path

    def is_only(self, definition: Definition) -> bool:
        """Tell whether nothing else in the repository has its name; it is looked for once."""
        if definition not in self._only:
            name = definition.own_name
            same = [
                other_definition
                for other_definition in self.definitions(definition.path)
                if other_definition.own_name == name
            ]
            elsewhere = self.other_definitions(definition)
            self._only[definition] = same == [definition] and not any(elsewhere)
        return self._only[definition]

    def _is_source(self, path: str) -> bool:
        return (
            is_supported(path)
            and self.files.purpose_of(path) is Purpose.SOURCE
            and not self.files.is_generated(path, self.texts[path])
        )


_CODE: "WeakKeyDictionary[Tree, Code]" = WeakKeyDictionary()


def code_of(tree: Tree, files: Files = UNDECLARED) -> Code:
    """Read the text files of a tree, once for all kinds of tasks."""
    if tree not in _CODE:
        paths = (p for p in sorted(tree.files) if PurePosixPath(p).suffix.lower() not in _PROSE)
        contents = ((path, tree.read(path)) for path in paths)
        texts = {path: text for path, text in contents if text and _is_text(text)}
        _CODE[tree] = Code(texts=texts, files=files)
    return _CODE[tree]


def order_randomly(candidates: Iterable[Definition], random: Random) -> list[Definition]:
    """Put definitions into an order in which the first ones are of many files and folders."""
    files: dict[str, list[Definition]] = defaultdict(list)
    for definition in sorted(
        candidates, key=lambda definition: (definition.path, definition.name_at)
    ):
        files[definition.path].append(definition)
    folders: dict[str, list[str]] = defaultdict(list)
    for path in sorted(files, key=lambda _: random.random()):
        folders[path.rpartition("/")[0]].append(path)
    turns: list[tuple[int, int, float, Definition]] = []
    for paths in folders.values():
        for file_turn, path in enumerate(paths):
            random.shuffle(files[path])
            for turn, definition in enumerate(files[path]):
                turns.append((turn, file_turn, random.random(), definition))
    return [turn[3] for turn in sorted(turns, key=lambda turn: turn[:3])]


def is_of_tests(definition: Definition) -> bool:
    """Tell whether it is a module inside a file that only tests need."""
    return definition.kind == "module" and _OF_TESTS.fullmatch(definition.name) is not None


def describe_kind(definition: Definition) -> str:
    """Return a name as people write it in its language."""
    mark = "::" if language_of(definition.path) == "rust" else "."
    return definition.name.replace(".", mark)


def parts_of(definition: Definition) -> list[str]:
    """List the parts of a name, without what stands between them."""
    return re.findall(r"[A-Za-z0-9_]+", definition.name)


def strip_ending(path: str) -> str:
    """Remove the ending of a file, which a module's name does not have."""
    return re.sub(r"(\.d)?\.\w+$", "", path)


def _lines_with(text: bytes, name: bytes) -> Iterator[tuple[tuple[int, int], bytes]]:
    """Yield the lines that mention a name, each with the offsets of its first and last mention."""
    start = text.find(name)
    while start >= 0:
        begin, end = text.rfind(b"\n", 0, start) + 1, text.find(b"\n", start)
        end = len(text) if end < 0 else end
        if end - begin <= _LONGEST_LINE:
            yield (start, text.rfind(name, begin, end)), text[begin:end]
        start = text.find(name, end)


def _can_be_asked(name: str) -> bool:
    is_plain = name.replace("$", "").isidentifier() and not name.startswith("__")
    return is_plain and len(name) >= _SHORTEST


def _holds(outer: Definition, inner: Definition) -> bool:
    return outer.span[0] <= inner.span[0] and inner.span[1] <= outer.span[1]


def _is_text(content: bytes) -> bool:
    return len(content) <= LARGEST and b"\0" not in content

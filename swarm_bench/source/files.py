"""What the files of a repository are for, by their paths."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from swarm_bench.source.generated import GENERATED, VENDORED, says_generated
from swarm_bench.text.languages import language_of

_TEST = re.compile(
    r"(^|/)(tests?|test_?(suites?|utils?|helpers?)|\w+_tests?|__tests__|specs?|testdata|fixtures|__fixtures__|__mocks__|e2e)/"
    r"|(^|/)(?!(la|con|at)test/)[a-z]+test/[^/]*\.go$"
    r"|(^|/)(tests?_[^/]*|tests?|conftest)\.\w+$|[._-](tests?|spec)(-d)?\.\w+$"
)
_MAY_BE_TEST = re.compile(r"tests?(_?(utils?|helpers?|case|client))?\.\w+")
_DOCUMENTATION = re.compile(
    r"(^|/)(docs?|documentation|website|examples?|_?samples?|demos?|tutorials?|bench(es|marks?)?|"
    r"perf)/|[._-]bench([._-][^/]*)?\.\w+$",
    re.IGNORECASE,
)
_SETTINGS = re.compile(
    r"(^|/)(\.[^/]+/|ci/|(setup|noxfile|fabfile|conf|tasks|_?_?version_?_?|__about__)\.py$|build\.rs$|"
    r"version\.\w+$|(gulp|grunt|jake|rake|cake)file\.\w+$|[^/]+\.config\.\w+$|\.[^/]+$)",
    re.IGNORECASE,
)
_NO_LINE = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]")


class Purpose(Enum):
    """What a file is for."""

    SOURCE = auto()
    TEST = auto()
    DOCUMENTATION = auto()
    """Examples and benchmarks too."""
    GENERATED = auto()
    """Or written elsewhere, and copied."""
    OTHER = auto()
    """Settings, data, and what builds and releases the program."""


_PURPOSES = (
    (_TEST, Purpose.TEST),
    (_DOCUMENTATION, Purpose.DOCUMENTATION),
    (_SETTINGS, Purpose.OTHER),
)


@dataclass(frozen=True, kw_only=True)
class Declared:
    """What a `.gitattributes` says of a file, which has the last word; `None`: nothing."""

    generated: bool | None = None
    vendored: bool | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Files:
    """What the files of a repository are for."""

    declared: Mapping[str, Declared] = field(default_factory=dict)
    """By path, where something is."""

    def purpose_of(self, path: str) -> Purpose:
        """Tell what a file is for, by its path and what is declared of it."""
        if language_of(path) is None or not is_line(path):
            return Purpose.OTHER
        declaration = self.declared.get(path, Declared())
        vendored, generated = declaration.vendored, declaration.generated
        if VENDORED.search(path) if vendored is None else vendored:
            return Purpose.GENERATED
        if GENERATED.search(path) if generated is None else generated:
            return Purpose.GENERATED
        for pattern, purpose in _PURPOSES:
            if pattern.search(path):
                return purpose
        return Purpose.SOURCE

    def is_generated(self, path: str, source: bytes) -> bool:
        """Tell whether a program wrote a file, by its content and what is declared of it."""
        declared = self.declared.get(path, Declared()).generated
        return says_generated(source) if declared is None else declared


UNDECLARED = Files()
"""What tells without a `.gitattributes`."""


def purpose_of(path: str) -> Purpose:
    """Tell what a file is for, by its path alone."""
    return UNDECLARED.purpose_of(path)


def may_be_test(path: str) -> bool:
    """Tell whether its name leaves open if it holds tests, or helps with them and is part of the
    program."""
    folder, _, name = path.rpartition("/")
    return _MAY_BE_TEST.fullmatch(name) is not None and _TEST.search(f"{folder}/") is None


def is_line(path: str) -> bool:
    """Tell whether a path is text on one line: an answer can name no other one."""
    return _NO_LINE.search(path) is None

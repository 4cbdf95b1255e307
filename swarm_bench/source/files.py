"""What the files of a repository are for, by their paths."""

import re
from enum import Enum, auto

from swarm_bench.models.lexical.languages import language_of

_GENERATED = re.compile(
    r"(^|/)(__generated__|generated|dist|build|out|node_modules|vendor(s|ed)?|_vendor|third_?party|"
    r"3rdparty|external|extern|deps|bundled|bower_components|site-packages)/"
    r"|\.(min|bundle|generated|gen|g)\.\w+$|(_pb2(_grpc)?\.pyi?|\.pb\.go|_gen\.go)$"
    r"|(^|/)(zz_generated|parsetab)[^/]*$"
)
_TEST = re.compile(
    r"(^|/)(tests?|test_?suites?|\w+_tests?|__tests__|specs?|testdata|fixtures|__fixtures__|__mocks__|e2e)/"
    r"|(^|/)(tests?_[^/]*|tests?|conftest)\.\w+$|[._-](tests?|spec)\.\w+$"
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
_MARK = re.compile(rb"@generated\b|\bDO NOT EDIT\b|[Aa]utomatically generated\b|[Aa]utogenerated\b")
_HEAD = 1500
"""Bytes at the beginning of a file in which it says that a program wrote it."""


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


def purpose_of(path: str) -> Purpose:
    """Tell what a file is for."""
    if language_of(path) is None or not is_line(path):
        return Purpose.OTHER
    for pattern, purpose in (
        (_GENERATED, Purpose.GENERATED),
        (_TEST, Purpose.TEST),
        (_DOCUMENTATION, Purpose.DOCUMENTATION),
        (_SETTINGS, Purpose.OTHER),
    ):
        if pattern.search(path):
            return purpose
    return Purpose.SOURCE


def may_be_test(path: str) -> bool:
    """Tell whether its name leaves open if it holds tests, or helps with them and is part of the
    program."""
    folder, _, name = path.rpartition("/")
    return _MAY_BE_TEST.fullmatch(name) is not None and _TEST.search(f"{folder}/") is None


def is_line(path: str) -> bool:
    """Tell whether a path is text on one line: an answer can name no other one."""
    return _NO_LINE.search(path) is None


def says_generated(source: bytes) -> bool:
    """Tell whether the content of a file says that a program wrote it."""
    return _MARK.search(source[:_HEAD]) is not None

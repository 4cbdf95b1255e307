"""Searching: by line, by byte, and the same with and without ripgrep."""

import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from swarm_bench.programs.scout import grep
from swarm_bench.programs.scout.grep import Query, find_required
from swarm_bench.programs.scout.workspace_files import Files, Refused

PIECES = ["a", "b", "abc", "foo", "Foo", "_", "\n", "\r\n", "1", ".", '"', ":", "\t", "é", " "]
ATOMS = [
    "a",
    "ab",
    "abc",
    "foo",
    "Foo",
    "_",
    r"\b",
    r"\w",
    r"\s",
    ".",
    "[ab]",
    "[^a]",
    "^",
    "$",
    r"[(\[b:]",
]
QUANTIFIERS = ["", "", "", "*", "+", "?", "{1,2}", "{2}", "*?"]


def expressions(chance: random.Random, count: int) -> Iterator[str]:
    def make(depth: int) -> str:
        parts = []
        for _ in range(chance.randint(1, 4)):
            nested = depth < 2 and chance.random() < 0.2
            atom = f"(?:{make(depth + 1)})" if nested else chance.choice(ATOMS)
            # A repeated group of repetitions would take Python for ever.
            parts.append(atom + chance.choice(["", "?", "{2}"] if nested else QUANTIFIERS))
        more = "|" + make(depth + 1) if depth < 2 and chance.random() < 0.3 else ""
        return "".join(parts) + more

    made = 0
    while made < count:
        expression = make(0)
        try:
            re.compile(expression)
        except re.error:
            continue
        made += 1
        yield expression


@pytest.fixture
def files(tmp_path: Path) -> Files:
    chance = random.Random(7)
    for number in range(8):
        text = "".join(chance.choice(PIECES) for _ in range(60))
        (tmp_path / f"f{number}.txt").write_bytes(text.encode())
    (tmp_path / "binary").write_bytes(b"abc\0foo\n")
    (tmp_path / "utf16").write_bytes("abc".encode("utf-16"))
    (tmp_path / "latin").write_bytes(b"ab\xff\xfeabc\n\xe9foo")
    (tmp_path / ".hidden").write_bytes(b"\xef\xbb\xbfabc\n")
    (tmp_path / ".gitignore").write_bytes(b"ignored*\n")
    (tmp_path / "ignored.txt").write_bytes(b"abc\n")
    return Files(tmp_path)


def by_hand(source: str, files: Files, *, ignore_case: bool) -> dict[str, int]:
    expression = re.compile(source.encode(), re.MULTILINE | (re.IGNORECASE if ignore_case else 0))
    found = {}
    for path in files.paths:
        data = files.text(path)
        lines = data.removesuffix(b"\n").split(b"\n") if data else []
        if count := sum(1 for line in lines if expression.search(line)):
            found[path] = count
    return found


@pytest.mark.parametrize("ignore_case", [False, True])
def test_counts_are_those_of_each_line_by_itself(files: Files, ignore_case: bool) -> None:
    for source in expressions(random.Random(1), 300):
        query = Query.parse(source, ignore_case=ignore_case)
        counted = grep._count_with_python(query, files, files.paths)
        assert counted == by_hand(source, files, ignore_case=ignore_case), source


@pytest.mark.skipif(not shutil.which("rg"), reason="ripgrep is not installed: not compared with it")
@pytest.mark.parametrize("ignore_case", [False, True])
def test_ripgrep_counts_the_same(files: Files, ignore_case: bool) -> None:
    for source in expressions(random.Random(2), 40):
        query = Query.parse(source, ignore_case=ignore_case)
        assert grep.counts(query, files, files.paths) == by_hand(
            source, files, ignore_case=ignore_case
        ), source


def test_lines_have_numbers_and_no_carriage_return() -> None:
    lines = list(Query.parse("b").lines(b"ab\r\n\nc\nb"))
    assert lines == [(1, b"ab"), (4, b"b")]


@pytest.mark.parametrize("source", ["(", "a**", "[z-a]", "a{3,2}", "\\"])
def test_a_wrong_expression_is_refused(source: str) -> None:
    with pytest.raises(Refused, match="is not a regular expression"):
        Query.parse(source)


@pytest.mark.parametrize(
    ("source", "literals"),
    [
        ("abc", [b"abc"]),
        ("abc|de", [b"abc", b"de"]),
        ("abcd?", [b"abc"]),
        ("(?:abc)?", None),
        ("(?:abc|xy)+z", [b"abc", b"xy"]),
        (r"^\s*(?:def|class)\s+\w*(?:login|Login)", [b"login", b"Login"]),
        ("ab{2,3}cd", [b"cd"]),
        ("[abc]{100}", None),
        (r"[\]abc]x", None),
        (r"\x41bcd", None),
        ("(?i)abc", None),
        ("a|bcd", None),
        ("", None),
        ("café", None),
    ],
)
def test_required_literals(source: str, literals: list[bytes] | None) -> None:
    assert find_required(source) == literals

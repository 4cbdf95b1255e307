"""Texts that somebody looked at. `make golden` writes them anew; then read the difference."""

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import unified_diff
from pathlib import Path

import pytest

from tests.builders.settled import masked

TESTS = Path(__file__).parents[1]
GOLDEN = TESTS / "golden"
SENTENCES = GOLDEN / "sentences"
RENEWED = "RENEW" in os.environ
_PORT = re.compile(r"(?<=\b127\.0\.0\.1:)\d{4,5}")
_LINE_OF_A_TEST = re.compile(r"(?<=/test_)(\w+\.py, line )\d+")
_PROGRESS = re.compile(r"^\[ *\d+\.\ds\] .*\n", re.MULTILINE)
_SECTION = re.compile(r"^=== (.+)\n((?:(?!=== ).*\n)*)", re.MULTILINE)


def hold(name: str, text: str) -> None:
    """Compare a text with the golden file of that name below tests/golden."""
    path = GOLDEN / name
    if RENEWED:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    _compare(f"golden/{name}", path.read_text(encoding="utf-8"), text)


class Sentences:
    """What the code says in one test, in the golden file of its module: a section for each call,
    with the texts line by line."""

    def __init__(self, module: Path, test: str, folder: Path) -> None:
        self.path = SENTENCES / module.relative_to(TESTS).with_suffix(".txt")
        self._test, self._folder, self._number = test, folder, 0
        if RENEWED and self._held():
            with _locked():
                rest = {
                    name: text
                    for name, text in sections(self.path).items()
                    if not self._is_own(name)
                }
                write_sections(self.path, rest)

    def __call__(self, *texts: str) -> None:
        self._number += 1
        heading = f"{self._test}: {self._number}"
        whole = masked("\n".join(texts), self._folder)
        text = (
            _PROGRESS.sub("", _LINE_OF_A_TEST.sub(r"\1N", _PORT.sub("PORT", whole))).strip("\n")
            + "\n"
        )
        if RENEWED:
            with _locked():  # tests of one module may run in several processes
                write_sections(self.path, {**sections(self.path), heading: text})
        _compare(f"{self.path.name}: {heading}", sections(self.path).get(heading, ""), text)

    def check_whole(self) -> None:
        """Fail where the file has sections that the test did not fill."""
        assert self._held() == self._number, f"{self.path.name} has more of {self._test}"

    def _held(self) -> int:
        return sum(map(self._is_own, sections(self.path)))

    def _is_own(self, heading: str) -> bool:
        return heading.rpartition(": ")[0] == self._test


def sections(path: Path) -> dict[str, str]:
    """The texts in a golden file of sentences, by heading."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return dict(_SECTION.findall(text))


def write_sections(path: Path, texts: dict[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    ordered = (f"=== {heading}\n{texts[heading]}" for heading in sorted(texts))
    path.write_text("".join(ordered), encoding="utf-8")


@contextmanager
def _locked() -> Iterator[None]:
    with (GOLDEN / "README.md").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _compare(name: str, golden: str, text: str) -> None:
    if text != golden:
        before, after = golden.splitlines(), text.splitlines()
        difference = unified_diff(before, after, name, "now", n=0, lineterm="")
        pytest.fail("\n".join(difference), pytrace=False)


def parts(document: str, *titles: str) -> str:
    """The sections of a document that have these titles, and what is read first without any."""
    found = re.findall(r"^## (.+)\n((?:(?!## ).*\n?)*)", document, re.MULTILINE)
    wanted = titles or ("Headline", "Warnings", "Notes")
    return "\n".join(f"## {title}\n{text}".rstrip() for title, text in found if title in wanted)

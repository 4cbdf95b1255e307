"""What a row of a benchmark of diffs has."""

import shlex
from pathlib import PurePosixPath
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from swarm_bench.benchmarks.cases.python_code import parse_python
from swarm_bench.benchmarks.diffs.applying import PATCH
from swarm_bench.benchmarks.diffs.unit_tests import find_fault
from swarm_bench.environments.files import is_inside, is_text

PYTHON, JAVASCRIPT = "python", "javascript"
_FILES = {PYTHON: "main.py", JAVASCRIPT: "main.js"}
"""What the file is called where a row does not say."""
_COMMANDS = {JAVASCRIPT: "node {tests}"}


class Checkout(BaseModel):
    """A repository, of which the tests need all files at a commit."""

    folder: str
    """Of a clone, which is only read."""
    commit: str
    tests: dict[str, str] = {}
    """Files that are otherwise when the tests run, by their paths."""


class Edit(BaseModel):
    """A file that is to be changed, and tests of what comes of it."""

    model_config = ConfigDict(populate_by_name=True)

    id: str | None = None
    source_code: str = Field(alias="sourceCode")
    unit_tests: str = Field(alias="unitTests", min_length=1)
    prompt: str = ""
    """What is to be changed; empty: the tests are shown, and must pass."""
    language: str = PYTHON
    file: str = ""
    """Its path; otherwise `main.py`, `main.js`, or `main` with the name of the language."""
    files: dict[str, str] = {}
    """Others beside it, by their paths."""
    checkout: Checkout | None = None
    """Where all other files are, of which models see none; for rows with a command."""
    command: str = ""
    """Runs the tests, which stand in the file `{tests}`; empty for Python alone, whose tests run in
    another process than the answer."""
    solution: str | None = None
    """The file as it should be."""
    patch: str | None = None
    """The right diff, where there is no solution."""
    difficulty: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _add_defaults(cls, content: Any) -> Any:
        if not isinstance(content, dict):
            return content
        language = content.get("language") or PYTHON
        defaults = {
            "file": _FILES.get(language, f"main.{language}"),
            "command": _COMMANDS.get(language, ""),
        }
        return {
            **content,
            **{name: content.get(name) or default for name, default in defaults.items()},
        }

    @model_validator(mode="after")
    def _has_files(self) -> Self:
        paths = [self.file, *self.files]
        folders = {str(parent) for path in paths for parent in PurePosixPath(path).parents}
        if not all(map(is_inside, paths)) or len({*paths} - folders) < len(paths):
            raise ValueError("needs files with different paths below one folder; name file")
        if not all(map(is_text, self.every_file.values())):
            raise ValueError("has half a character in a file, which no file can hold")
        for path, subject in ((self.tests_file, "its tests are"), (PATCH, "an answer is")):
            if path in paths or path in folders:
                raise ValueError(f"has a file {path}, where {subject} written")
        return self

    @model_validator(mode="after")
    def _can_be_run(self) -> Self:
        if "\0" in self.command:
            raise ValueError("has a command with a null character, which no command can have")
        if self.checkout and not self.command:
            raise ValueError("has a checkout, and needs a command that runs its tests")
        if self.unit_tests and not self.command and (self.language != PYTHON or self.files):
            raise ValueError("needs a command that runs its tests, such as 'sh {tests}'")
        try:
            shlex.split(self.command)
        except ValueError as error:
            raise ValueError(f"has a command that cannot be read ({error})") from error
        if self.unit_tests and not self.command:
            tests = parse_python(self.unit_tests)
            if tests is None:
                raise ValueError("has unit tests that are no Python; give a command that runs them")
            if fault := find_fault(tests, self.file):
                raise ValueError(fault)
        return self

    @property
    def tests_file(self) -> str:
        """Where the tests are written that a command runs."""
        return f"unit_tests{PurePosixPath(self.file).suffix}"

    @property
    def tests(self) -> dict[str, str]:
        """The text of the file that the command names; of none where it names none."""
        return {self.tests_file: self.unit_tests} if "{tests}" in self.command else {}

    @property
    def every_file(self) -> dict[str, str]:
        """The text of each file, by its path."""
        return {self.file: self.source_code, **self.files}

    @property
    def argv(self) -> tuple[str, ...]:
        """The command, in words."""
        return tuple(word.replace("{tests}", self.tests_file) for word in shlex.split(self.command))

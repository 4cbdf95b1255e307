"""Words with arguments: registered classes are made with what stands behind the colon."""

import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from swarm_bench.core import entry_points
from swarm_bench.core.errors import ConfigError, UnknownName, UsageError
from swarm_bench.datasets.rows import find_dataset, hash_of, is_class, is_file, read_rows
from tests.builders.packages import install

CODE = """
from pathlib import Path
from swarm_bench.core.roles.dataset import RawRows

class Lines:
    about, licence, source, published = "Lines.", None, None, None

    def __init__(self, path=""):
        self.path = path

    def load(self):
        return RawRows.of({"line": line} for line in Path(self.path).read_text().split())

class Needy(Lines):
    def __init__(self, path):
        super().__init__(path)
"""
POINTS = "[swarm_bench.datasets]\nlines = {0}:Lines\nneedy = {0}:Needy\n"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    module = "lines_package"
    install(module, CODE, POINTS.format(module), tmp_path / "packages")
    monkeypatch.syspath_prepend(str(tmp_path / "packages"))
    monkeypatch.delitem(sys.modules, module, raising=False)
    return tmp_path


def test_a_registered_class_gets_what_stands_behind_its_colon(package: Path) -> None:
    file = package / "a:b.txt"
    file.write_text("one\n")
    word = f"lines:{file}"
    dataset: Any = find_dataset(word)
    assert dataset.path == str(file)
    before = hash_of(word)
    assert before == dataset.load().sha256
    file.write_text("two\n")
    assert hash_of(word) not in (before, None)
    assert not is_class(word)
    assert not is_file(word)
    assert not is_class("lines:Name")
    assert is_class("other:Name")
    assert is_file("./lines:rows.jsonl")
    assert hash_of("lines:nowhere") is None


def test_an_argument_is_refused_where_it_is_not_taken_and_missed_where_it_is(
    package: Path,
) -> None:
    assert entry_points.make("datasets", "lines").path == ""
    with pytest.raises(UsageError, match="humaneval takes nothing behind a colon; write humaneval"):
        find_dataset("humaneval:x")
    with pytest.raises(UsageError, match="needy needs an argument behind a colon; write needy:ARG"):
        find_dataset("needy")
    with pytest.raises(UsageError, match="local takes nothing behind a colon"):
        entry_points.make("environments", "local:podman")
    with pytest.raises(UnknownName):
        entry_points.make("environments", "nowhere")
    with pytest.raises(ConfigError, match="did you mean 'container'?"):
        entry_points.make("environments", "containr:x")
    with pytest.raises(UsageError, match="^container needs an argument behind a colon; write cont"):
        entry_points.make("environments", "container")
    with pytest.raises(ConfigError, match="nowhere:Box"):
        entry_points.make("environments", "nowhere:Box")


class Row(BaseModel):
    line: str


def test_what_its_reading_raises_names_the_word(package: Path) -> None:
    (package / "rows.txt").write_text("one\ntwo\n")
    rows = read_rows(f"lines:{package / 'rows.txt'}", Row)
    assert (rows.data.name, rows.data.rows) == (f"lines:{package / 'rows.txt'}", 2)
    with pytest.raises(
        ConfigError, match=r"'lines:nowhere' cannot be read: lines_package.py, line 12: File"
    ):
        read_rows("lines:nowhere", Row)

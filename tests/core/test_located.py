"""YAML of a person, read so that a mistake has its line."""

from pathlib import Path

import pytest

from swarm_bench.core.errors import ConfigError
from swarm_bench.core.located import LARGEST, read_located


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"a: [1\n", r"x.yaml:2: not YAML"),
        (b"a: 2026-99-99\n", r"x.yaml: not YAML"),
        (b"a: !!python/object/apply:os.getcwd []\n", r"x.yaml:1: not YAML"),
        (b"a: 1\nb: {c: 1, c: 2}\n", r"x.yaml:2: the key 'c' stands there a second time"),
        (b"\xff", r"is not UTF-8"),
        (b"#" * (LARGEST + 1), r"larger than 256 KiB"),
    ],
)
def test_a_file_that_cannot_be_read(tmp_path: Path, text: bytes, words: str) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(text)
    with pytest.raises(ConfigError, match=words):
        read_located(path, "agent file")


def test_the_line_of_a_place_or_of_what_is_around_it(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("a:\n  - b: 1\n  - c: 2\n", encoding="utf-8")
    located = read_located(path, "agent file")
    assert located.content == {"a": [{"b": 1}, {"c": 2}]}
    assert [located.line(place) for place in ((), ("a", 1, "c"), ("a", 7), ("z",))] == [1, 3, 2, 1]


def test_an_empty_file_has_no_content(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").touch()
    assert read_located(tmp_path / "x.yaml", "agent file").content is None

"""YAML of a person, read so that a mistake has its line."""

import time
from pathlib import Path

import pytest

from swarm_bench.config.located import read_located
from swarm_bench.config.text_file import LARGEST
from swarm_bench.core.errors import ConfigError

LARGEST_TEXT = 200_000


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"a: [1\n", r"x.yaml:2: not YAML"),
        (b"a: 2026-99-99\n", r"x.yaml: not YAML"),
        (b"a: !!python/object/apply:os.getcwd []\n", r"x.yaml:1: not YAML"),
        (b"a: 1\nb: {c: 1, c: 2}\n", r"x.yaml:2: the key 'c' appears twice"),
        (b"a: 1\nb:\n- {c: 1, c: 2}\n", r"x.yaml:3: the key 'c' appears twice"),
        (b"a: &a [*a]\n", r"x.yaml:1: what begins here holds itself"),
        (b"x: 1\na: &a\n  b: {c: *a}\n", r"x.yaml:2: what begins here holds itself"),
        (b"&a ? *a\n: 1\n", r"x.yaml:1: (not YAML|what begins here)"),
        (b"[" * 20_000, r"x.yaml: not YAML"),
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


def doubled(levels: int, first: str) -> str:
    """Each level names the one before it twice."""
    lines = [f"- &l0 {first}"]
    lines += [f"- &l{level} {{a: *l{level - 1}, b: *l{level - 1}}}" for level in range(1, levels)]
    return "\n".join(lines)


@pytest.mark.parametrize("text", [doubled(40, "x"), doubled(5, "x" * LARGEST_TEXT)])
def test_aliases_that_stand_for_too_much(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(text, encoding="utf-8")
    began = time.monotonic()
    with pytest.raises(ConfigError, match=r"x.yaml:\d+: the aliases here stand for far too much"):
        read_located(path, "agent file")
    assert time.monotonic() - began < 5


def test_an_alias_is_as_good_as_what_it_names(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("a: &a {b: 1}\nc: [*a, *a]\nd: {<<: *a}\n", encoding="utf-8")
    one = {"b": 1}
    assert read_located(tmp_path / "x.yaml", "x").content == {"a": one, "c": [one, one], "d": one}


def test_a_merged_key_has_the_line_where_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("a: &a\n  b: 1\n  c: 2\nd:\n  <<: *a\n  b: 3\n", encoding="utf-8")
    located = read_located(path, "x")
    assert located.content == {"a": {"b": 1, "c": 2}, "d": {"b": 3, "c": 2}}
    assert [located.line(("d", key)) for key in "bc"] == [6, 3]

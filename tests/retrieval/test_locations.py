"""Answers as real servers give them, and what is read from them."""

import json
from typing import Any

import pytest

from swarm_bench.core.session.experiment import SearchTool
from swarm_bench.retrieval.locations import Location, Unreadable, list_files, read_locations

FILES = {"shop/auth.py", "shop/models.py", "docs/my page.md", "main.py"}


def search(**reading: Any) -> SearchTool:
    return SearchTool(tool="find", arguments={"q": "{{ query }}"}, **reading)


def test_a_pattern_says_where_paths_and_lines_stand() -> None:
    answer = (
        '<file path="/w/shop/auth.py" lines="3-9">\n<file path="docs/my page.md" lines="1-1">\n'
        '<file path="/etc/passwd" lines="1-2">\n<file path="shop/old.py" lines="">\n'
    )
    how = search(pattern=r'<file path="(?P<path>[^"]+)" lines="(?:(?P<line>\d+)-(?P<last>\d+))?"')
    assert read_locations(answer, how, "/w", FILES) == [
        Location(path="shop/auth.py", line=3, last=9, exists=True),
        Location(path="docs/my page.md", line=1, last=1, exists=True),
        Location(path="/etc/passwd", line=1, last=2, exists=False),
        Location(path="shop/old.py", exists=False),
    ]


def test_a_pattern_has_limited_time() -> None:
    with pytest.raises(Unreadable, match="longer than 2 s"):
        read_locations("a" * 5000 + "!", search(pattern=r"(?P<path>(a|a)*)$"), "/w", FILES)


def test_a_json_path_selects_paths_or_what_names_them() -> None:
    hits = [{"file_path": "shop/auth.py", "line": 7}, {"file_path": "shop/auth.py", "line": 7}]
    answer = json.dumps({"hits": hits, "other": {"file": "shop/models.py"}})
    found = [Location(path="shop/auth.py", line=7, exists=True)]
    assert read_locations(answer, search(json_path="$.hits[*]"), "/w", FILES) == found
    paths = read_locations(answer, search(json_path="$.hits[*].file_path"), "/w", FILES)
    assert list_files(paths) == ["shop/auth.py"]
    several = f"{answer}\n{answer.replace('auth', 'models')}"
    found = read_locations(several, search(json_path="$.hits[*].file_path"), "/w", FILES)
    assert list_files(found) == ["shop/auth.py", "shop/models.py"]
    assert read_locations(answer, search(json_path="$.none"), "/w", FILES) == []
    behind = f"1 hit:\n```json\n{json.dumps({'hits': hits}, indent=2)}\n```\n"
    found = read_locations(behind, search(json_path="$.hits[*].file_path"), "/w", FILES)
    assert list_files(found) == ["shop/auth.py"]


@pytest.mark.parametrize("answer", ["no index", '"see {a"', "12 hits", "0" * 1_000_000])
def test_what_is_no_json_object_or_list_is_not_read_as_json(answer: str) -> None:
    with pytest.raises(Unreadable, match="not JSON"):
        read_locations(answer, search(json_path="$.hits"), "/w", FILES)


def test_without_either_whatever_looks_like_a_file_is_read() -> None:
    answer = "shop/auth.py:3: def login\n/w/shop/models.py:1: class User\nshop/gone.py:1: x\n"
    found = read_locations(answer, search(), "/w", FILES)
    assert [(place.path, place.line, place.exists) for place in found] == [
        ("shop/auth.py", 3, True),
        ("shop/models.py", 1, True),
        ("shop/gone.py", 1, False),
    ]
    assert read_locations(answer, None, "/w", FILES) == found


@pytest.mark.parametrize(
    "answer",
    [
        "1. main.py:12 starts it\n2. shop/auth.py",
        "1. main.py (score 0.9)\n2. shop/auth.py (score 0.4)",
        "File: main.py\n  12 | run()\nFile: shop/auth.py\n  3 | def login",
        "- main.py (lines 1-20)\n- shop/auth.py (lines 3-9)",
        "| main.py | 0.9 |\n| shop/auth.py | 0.4 |",
        "login (function) - main.py:12\nlogin (method) - shop/auth.py:3",
        '{"hits": [{"where": "main.py:12"}, {"where": "shop/auth.py:3"}]}',
    ],
)
def test_files_are_read_as_servers_write_them(answer: str) -> None:
    assert list_files(read_locations(answer, None, "/w", FILES)) == ["main.py", "shop/auth.py"]


@pytest.mark.parametrize(
    "reading",
    [
        {},
        {"json_path": "$..uri"},
        {"json_path": "$.hits[*]"},
        {"pattern": '"uri": "(?P<path>[^"]+)"'},
    ],
)
def test_a_file_is_the_one_that_an_address_encodes(reading: dict[str, str]) -> None:
    files = {"app/[id]/page.tsx", "src/fru\u0308h.py", "docs/my page.md"}
    uris = ["file:///w/app/%5Bid%5D/page.tsx", "src/früh.py", "/w/docs/my page.md"]
    answer = json.dumps({"hits": [{"uri": uri, "path": uri} for uri in uris]}, ensure_ascii=False)
    assert set(list_files(read_locations(answer, search(**reading), "/w", files))) == files


def test_the_end_of_a_path_is_no_path_where_a_mode_file_says_where_paths_stand() -> None:
    answer = '[{"path": "[id]/page.tsx"}]'
    (location,) = read_locations(answer, search(json_path="$..path"), "/w", {"app/[id]/page.tsx"})
    assert not location.exists

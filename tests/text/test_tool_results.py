"""Answers in the shapes that servers in the wild give them, with texts of our own."""

import base64
import json
import random

import pytest

from swarm_bench.text.tool_results import Location, locations, read_content, windows

WORK = "/my work/ü"


def line(path: str, number: int, text: str = "") -> Location:
    return Location(path=path, line=number, text=text)


def part(path: str, first: int, last: int) -> Location:
    return Location(path=path, line=first, last=last)


OUTLINE = f"""Pattern: login
<instructions>
- Search results organized by file.
</instructions>

<matches>

<file path="{WORK}/shop/auth.py">

   1 import hashlib
...
  28 def login(user):
1029
</file>
</matches>
<skipped_files>
  <file>
    <path>{WORK}/shop/views.py</path>
    <uniq>2</uniq>
  </file>
</skipped_files>
"""
REPORT = """**Exploration: login**

Found 2 symbols across 1 file.

- `login` (shop/auth.py:28) — 1 caller in `shop/views.py`

**`shop/auth.py`** — login(function)

```python
28\tdef login(user):
29\t    return check(user)
```
"""
SECTIONS = """## 1. `login`

- 📄 `shop/auth.py:28-40` (function)
- see `user.name` and `shop/views.py`, `check` (shop/users.py#L7-L9)

```python
def login(user):
```
"""
SYNTAX = {
    "text": "login",
    "range": {"start": {"line": 27, "column": 4}, "end": {"line": 27, "column": 9}},
    "file": f"{WORK}/shop/auth.py",
    "lines": "def login(user):",
}
NODES = [{"name": "login", "file_path": "shop/auth.py", "line_start": 28, "line_end": 40}]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        pytest.param(
            f"{WORK}/shop/auth.py:28:def login(user):\n/etc/passwd:1:login",
            [line("shop/auth.py", 28, "def login(user):")],
            id="a search on the command line",
        ),
        pytest.param(
            f"{WORK}/shop/auth.py\n{WORK}/shop",
            [Location(path="shop/auth.py"), Location(path="shop")],
            id="a list of files and folders",
        ),
        pytest.param(
            OUTLINE,
            [
                Location(path="shop/auth.py"),
                line("shop/auth.py", 1, "import hashlib"),
                line("shop/auth.py", 28, "def login(user):"),
                line("shop/auth.py", 1029),
                Location(path="shop/views.py"),
            ],
            id="XML with numbered lines",
        ),
        pytest.param(
            REPORT,
            [
                line("shop/auth.py", 28),
                Location(path="shop/views.py"),
                Location(path="shop/auth.py"),
                line("shop/auth.py", 28, "def login(user):"),
                line("shop/auth.py", 29, "    return check(user)"),
            ],
            id="Markdown with quoted source",
        ),
        pytest.param(
            SECTIONS,
            [
                part("shop/auth.py", 28, 40),
                Location(path="shop/views.py"),
                part("shop/users.py", 7, 9),
            ],
            id="Markdown with parts of files",
        ),
        pytest.param(
            "\n".join(json.dumps(each, indent=1) for each in (NODES[0], {"total": 1})),
            [part("shop/auth.py", 28, 40)],
            id="several JSON documents",
        ),
        pytest.param(
            f"Found 1 match\n\nMatches:\n{json.dumps([SYNTAX], indent=2)}",
            [line("shop/auth.py", 28, "def login(user):")],
            id="JSON behind words, lines from 0",
        ),
        pytest.param(
            json.dumps({"matches": [{"name": "login", "file": "shop/auth.py", "line": 28}]}),
            [line("shop/auth.py", 28)],
            id="JSON with files and lines",
        ),
        pytest.param(
            json.dumps(
                [
                    {
                        "name_path": "login",
                        "relative_path": "shop/auth.py",
                        "body_location": {"start_line": 28, "end_line": 40},
                    }
                ]
            ),
            [part("shop/auth.py", 28, 40)],
            id="JSON with a nested location",
        ),
        pytest.param(
            json.dumps({"file": "shop/auth.py", "matches": [{"line": 28, "text": "login"}]}),
            [Location(path="shop/auth.py"), line("shop/auth.py", 28, "login")],
            id="JSON with matches below their file",
        ),
        pytest.param(
            json.dumps({"shop/auth.py": ["  >  28:def login(user):"]}),
            [Location(path="shop/auth.py"), line("shop/auth.py", 28, "def login(user):")],
            id="JSON with files as keys",
        ),
        pytest.param("Use `user.name`, e.g. 12: login", [], id="words without a place"),
        pytest.param("Date: 2026-11-21 23:44:03\nx", [], id="a time of day"),
        pytest.param("[" * 100_000, [], id="JSON without an end"),
        pytest.param('{"file": 7, "line": "x"}', [], id="JSON of other types"),
    ],
)
def test_what_an_answer_names(text: str, named: list[Location]) -> None:
    assert list(locations(text, WORK)) == named


HOSTILE = {
    "base64": base64.b64encode(random.Random(1).randbytes(3000)).decode().rstrip("="),
    "folders without an end": "a/b",
    "words that may begin anywhere": "+",
    "many endings": "a/b.c.",
    "many lines of one file": "a/b.c#L1x",
    "openings of XML in a line": '<file path="',
    "attributes of a tag without an end": '<file path="a" ' + 'path="a" ' * 1000,
    "openings of XML": "<a \n",
    "ticks": "`",
    "ticks around names": "`a",
    "fences": "```\n",
    "openings of JSON": "[\n",
    "openings of JSON with keys": '{"a":\n',
    "long JSON without an end": "[" + "1," * 600 + "\n",
    "documents in a line": "{}",
    "a log": "[INFO] hello\n",
    "blank lines": "\n",
}
"""Texts that expressions with a choice have taken minutes for, when they are repeated."""


@pytest.mark.timeout(10)
@pytest.mark.parametrize("repeated", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_long_answer_is_read_in_seconds(repeated: str) -> None:
    text = repeated * (500_000 // len(repeated))
    assert len(locations(f"{text}\nsee shop/auth.py:28\n", WORK)) <= 1


def test_what_is_written_around_a_place_does_not_hide_it() -> None:
    text = "see (shop/auth.py:28), ./shop/views.py#L7-L9; a/b+c.py:3:x or a/b.py:1, not b.py:2"
    assert locations(text, WORK) == (
        line("shop/auth.py", 28),
        part("shop/views.py", 7, 9),
        line("a/b+c.py", 3),
        line("a/b.py", 1),
    )
    assert locations("x = 1 + " * 10_000 + "in a/b.py:1", WORK) == (line("a/b.py", 1),)


def test_truncated_json_is_read_as_far_as_it_goes() -> None:
    text = json.dumps({"hits": [{"file": f"a{n}.py", "line": 1} for n in range(50)]}, indent=1)
    assert len(locations(text[:-20], WORK)) == 49
    log = "[INFO] reading\n" * 500
    assert locations(f'{log}{{"file": "a.py", "line": 1}}', WORK) == (line("a.py", 1),)


def test_a_location_within_locations_is_looked_for_to_a_depth() -> None:
    nested = '{"range":' * 400 + '{"line": 1}' + "}" * 400
    assert locations(f'{{"path": "a.py", "x": {nested}}}', WORK) == (Location(path="a.py"),)


def test_many_lines_in_a_row_are_a_part_that_was_shown() -> None:
    shown = [line("a.py", number, f"x{number}") for number in range(5, 15)]
    others = [line("a.py", 30, "y"), line("b.py", 31, "z"), line("b.py", 32, "z")]
    (window,) = windows([*shown, *others])
    assert window == ("a.py", 5, [f"x{number}" for number in range(5, 15)])


def test_the_text_of_a_reader_has_its_own_numbers_or_those_asked_for() -> None:
    assert read_content("  7\ta\n  8\tb\n", 1) == (7, ["a", "b"])
    assert read_content("a\nb", 7) == (7, ["a", "b"])
    assert read_content("a: 1\n8: b", 7) == (7, ["a: 1", "8: b"])
    quoted = "# a.py, lines 7 to 9\n```python\n  7 | a\n  8 | \n  9 | c\n```\n"
    assert read_content(quoted, 1) == (7, ["a", "", "c"])
    assert read_content(" \n", 1) is None
    assert read_content("Error: no such file", 1) is None

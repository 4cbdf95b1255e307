from time import process_time

import pytest

from swarm_bench.source.references.extraction import references
from swarm_bench.source.references.symbols import names

FILES = frozenset({"src/a.py", "src/b.py", "lib/b.py", "Makefile", "docs/guide.md"})


def paths(text: str) -> list[str | None]:
    return [reference.path for reference in references(text, FILES, "/w")]


def test_a_reference_stands_where_its_mention_begins() -> None:
    text = "See `a.py:3-5`, [b](src/b.py#L7) and /w/docs/guide.md."
    a, b, guide = references(text, FILES, "/w")
    assert (a.path, a.first_line, a.last_line) == ("src/a.py", 3, 5)
    assert (b.path, b.first_line, b.symbol) == ("src/b.py", 7, "b")
    assert (guide.path, guide.mention) == ("docs/guide.md", "docs/guide.md")
    assert [text[each.position :][:4] for each in (a, b, guide)] == ["a.py", "src/", "/w/d"]


def test_several_symbols_of_a_file_are_references_at_one_position() -> None:
    listed = references("`src/a.py`: `run`, `stop` and `Player.play()`", FILES)
    assert [each.symbol for each in listed] == ["run", "stop", "Player.play"]
    assert {(each.path, each.position) for each in listed} == {("src/a.py", 1)}


@pytest.mark.parametrize(
    "text",
    [
        "`run` in `src/a.py`",
        "the class `run` (in `src/a.py`, line 3)",
        "`run` lives in the file src/a.py",
        "`src/a.py`'s `run`",
        "src/a.py:3 - function `run`",
        "`src/a.py::run()`",
        "| `run` | src/a.py |",
        "    at run (/w/src/a.py:3:1)",
    ],
)
def test_a_name_is_tied_to_the_file_that_it_stands_in(text: str) -> None:
    assert {(each.path, each.symbol) for each in references(text, FILES, "/w")} == {
        ("src/a.py", "run")
    }


@pytest.mark.parametrize(
    "text", ["src/a.py calls `run`", "See src/a.py. `run` is elsewhere.", "- `src/a.py`\n- `run`"]
)
def test_a_name_beside_a_file_is_not_always_tied_to_it(text: str) -> None:
    assert [each.symbol for each in references(text, FILES)] == [None]


def test_a_name_that_several_files_have_means_none() -> None:
    assert paths("b.py") == []
    assert paths("lib/b.py and src/b.py") == ["lib/b.py", "src/b.py"]


def test_what_reads_as_a_path_and_is_none_there_is_invented() -> None:
    assert paths("src/c.py, `c.py`, c.py, Node.js, e.g. v1.2.3, `request.json`") == [None, None]


def test_a_path_goes_on_in_the_next_line() -> None:
    assert paths("it is in src/\nb.py, and not in lib/\nelsewhere") == ["src/b.py"]


def test_a_text_in_json_is_read_as_a_text() -> None:
    text = '{"content": [{"type": "text", "text": "{\\"path\\": \\"src/a.py\\", \\"line\\": 4}"}]}'
    (reference,) = references(text, FILES)
    assert (reference.path, reference.first_line) == ("src/a.py", 4)


def test_quoted_source_names_nothing() -> None:
    assert paths("```py\nopen('src/a.py')\n```\n12\tsee src/a.py\nsrc/b.py:3:  # see src/a.py") == [
        "src/b.py"
    ]


def test_names_are_those_in_code_spans_and_those_that_no_word_looks_like() -> None:
    text = "`run` calls Player.play() and stop_all, an ordinary word, camelCase and `a/b.py`"
    assert names(text) == ("run", "Player.play", "stop_all", "camelCase")


HOSTILE = (
    *("a", "a.", "a/", "a.py:1:", "`a", "[a](", "a{", "a{b,", "```\n", "├ a\n", "@@ -1 +1 @@\n"),
    *(
        '<file path="a">\n',
        '{"path": "',
        "`a`, ",
        "a::",
        "``a`",
        "src/a.py ",
        " ",
        "https://a/blob/b/",
    ),
    *("lines 1 of ", "**a** (b)", "a(b), ", "a/{b,c}"),
)


@pytest.mark.parametrize("part", HOSTILE)
def test_a_long_text_takes_little_time(part: str) -> None:
    text = part * ((1 << 18) // len(part))
    begin = process_time()
    references(text, FILES, "/w")
    names(text)
    assert process_time() - begin < 20


@pytest.mark.parametrize(
    ("address", "paths"),
    [
        ("repo://acme/shop/contents/shop/tax.py", ["shop/tax.py"]),
        ("code://shop/tax.py#L3", ["shop/tax.py"]),
        ("s3://bucket/shop/tax.py", []),
        ("code://shop/other.py", []),
        ("pypi://shop/README.md", []),
    ],
)
def test_an_address_of_a_server_ends_with_a_path(address: str, paths: list[str]) -> None:
    files = frozenset({"shop/tax.py", "README.md"})
    assert [each.path for each in references(f"See {address}", files, "/w")] == paths

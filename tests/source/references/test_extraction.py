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
    *("lines 1 of ", "**a** (b)", "a(b), ", "a/{b,c}", "src:\n", "src:\na.py\n"),
    *("\\", "\\\\n", "a\\\\na.py", "g.h/blob/", "src/.../", "…/", "1:2:a/"),
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


FORMS_FILES = frozenset(
    {
        "web/api_v2/user_view.py",
        "web/__init__.py",
        "lib/x/tax.py",
        "lib/my part/tax.py",
        "Dockerfile",
        "App/Shop.tsx",
        "app/shop.tsx",
        "weird/größe.py",
    }
)


def named(text: str) -> list[str | None]:
    return [each.path for each in references(text, FORMS_FILES, "/w")]


@pytest.mark.parametrize(
    "text",
    [
        r"It is in web/api\_v2/user\_view.py.",
        r"- **user\_view\.py**",
        r"[user\_view.py](web/api_v2/user_view.py#L3)",
        r"web\api_v2\user_view.py",
        '{"path": "web\\/api_v2\\/user_view.py"}',
    ],
)
def test_characters_that_markdown_and_json_escape_are_of_the_name(text: str) -> None:
    assert named(text) == ["web/api_v2/user_view.py"]


def test_both_backslashes_of_windows_and_of_markdown_are_read() -> None:
    assert named(r"web\__init__.py and web/\_\_init\_\_.py") == ["web/__init__.py"] * 2


def test_slashes_that_json_escapes_are_of_names_with_blanks() -> None:
    assert named('Result: {"path":"lib\\/my part\\/tax.py"}') == ["lib/my part/tax.py"]


@pytest.mark.parametrize(
    "written",
    [r"gr\xc3\xb6\xc3\x9fe", r"gr\303\266\303\237e", r"gr\u00f6\u00dfe", r"gr\u{f6}\u{df}e"],
)
def test_letters_are_decoded_that_literals_escape(written: str) -> None:
    assert named(f"open(b'weird/{written}.py')") == ["weird/größe.py"]


@pytest.mark.parametrize(
    "row",
    [
        "1\tlib/x/tax.py\t0.93",
        "  1 | lib/x/tax.py | 0.93",
        "1 | `lib/x/tax.py` | 0.93 | sums up all of it",
        "1 |   0.93 | [tax](lib/x/tax.py)",
        "12→lib/x/tax.py",
        "4\t./lib/x/tax.py",
        "3\t1\tlib/x/tax.py",
        '7\t"lib/x/tax.py"',
    ],
)
def test_a_numbered_row_with_a_cell_that_is_a_file_is_no_source(row: str) -> None:
    assert named(row) == ["lib/x/tax.py"]
    assert named(row.replace("x/tax", "y/tax")) == [None]


def test_names_without_an_extension_are_cells() -> None:
    assert named("1\tDockerfile\t0.3\n2\tlib/my part/tax.py\t0.1") == [
        "Dockerfile",
        "lib/my part/tax.py",
    ]


@pytest.mark.parametrize(
    "row",
    [
        "12\timport lib/x/tax.py",
        "12\t    lib/x/tax.py",
        "12\t\tlib/x/tax.py",
        "12 | x = open('lib/x/tax.py') | None",
        "12→self.total",
        "12\tself.x\t# comment",
    ],
)
def test_numbered_source_names_nothing(row: str) -> None:
    assert named(row) == []


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[35mlib/x/tax.py\x1b[0m:\x1b[32m12\x1b[0m:import \x1b[1mweb/other.py\x1b[0m",
        "\x1b]8;;file:///w/lib/x/tax.py\x1b\\lib/x/tax.py:12\x1b]8;;\x1b\\",
        "\x1b]8;;file:///w/lib/x/tax.py\x07\x1b[1mlib/x/tax.py:12\x1b[22m\x1b]8;;\x07",
        '{"hits": "\\u001b[1mlib/x/tax.py:12\\u001b[0m"}',
    ],
)
def test_what_is_for_a_terminal_is_not_of_a_name(text: str) -> None:
    assert [(each.path, each.first_line) for each in references(text, FORMS_FILES)] == [
        ("lib/x/tax.py", 12)
    ]


def test_positions_are_those_in_the_text_with_its_colours() -> None:
    text = "\x1b[1mIn\x1b[0m \x1b[35mlib/x/tax.py\x1b[0m and \x1b[4mDockerfile\x1b[0m"
    listed = references(text, FORMS_FILES)
    assert [text[each.position :][:5] for each in listed] == ["lib/x", "Docke"]


def test_a_name_that_two_files_have_but_for_capital_letters_means_none() -> None:
    assert named("app/Shop.tsx") == []
    assert named("App/Shop.tsx, app/shop.tsx, LIB/X/TAX.PY") == [
        "App/Shop.tsx",
        "app/shop.tsx",
        "lib/x/tax.py",
    ]


@pytest.mark.parametrize(
    "span",
    [
        'cat "lib/x/tax.py"',
        "'lib/x/tax.py'",
        "open('lib/x/tax.py')",
        'import { sum } from "./lib/x/tax.py"',
        '{"path": "lib/x/tax.py"}',
        "run --file=lib/x/tax.py",
        "[lib/x/tax.py]",
    ],
)
def test_names_in_code_spans_may_be_quoted(span: str) -> None:
    assert named(f"See `{span}`.") == named(f"See ``{span}``.") == ["lib/x/tax.py"]


@pytest.mark.parametrize("span", ["tax.py(1)", "tax.py[0]", "'lib/y/tax.py'", "{tax}", "f({x: 1})"])
def test_what_is_called_in_a_code_span_is_no_file(span: str) -> None:
    assert named(f"See `{span}`.") == []


def test_names_with_blanks_are_quoted_in_code_spans() -> None:
    assert named("`cat 'lib/my part/tax.py'`") == ["lib/my part/tax.py"]


@pytest.mark.parametrize(
    "address",
    [
        "code:///lib/x/tax.py?line=12",
        "code://lib/x/tax.py?a=b&startLine=12",
        "code://lib/x/tax.py:12",
        "index://repo/lib/x/tax.py#L12",
        "repo://contents/lib/x/tax.py:12",
        "repo://acme/shop/contents/lib/x/tax.py#L12",
        "code://file/lib%2Fx%2Ftax.py?line=12",
        "editor://file/srv/clone/lib/x/tax.py:12",
        "index://clone/lib/x/tax.py:12",
        "bundle-internal:///(rsc)/./lib/x/tax.py:12:5",
        "bundle://_N_E/./lib/x/tax.py:12",
    ],
)
def test_an_address_of_a_server_is_read_in_texts_links_and_documents(address: str) -> None:
    for text in (address, f"See {address}.", f"[it]({address})", f'{{"uri": "{address}"}}'):
        if "(" not in address or not text.startswith("["):
            listed = references(text, FORMS_FILES, "/srv/clone")
            assert [(each.path, each.first_line) for each in listed] == [("lib/x/tax.py", 12)]


@pytest.mark.parametrize(
    "address",
    ["s3://bucket/lib/x/tax.py", "code://search?path=x/tax.py", "pypi://x/tax.py", "code://tax.py"],
)
def test_what_is_no_whole_path_in_an_address_is_no_file(address: str) -> None:
    assert named(f"See {address}") == []


def test_a_folder_may_begin_with_an_underscore() -> None:
    files = frozenset({"_parts/a.py", "parts/b.py"})
    for text in ("_parts/a.py:3", "_parts/a.py#L3", "see _parts/b.py:3_"):
        assert [each.first_line for each in references(text, files)] == [3]


def test_words_are_decoded_that_are_written_as_in_an_address() -> None:
    assert named("lib%2Fx%2Ftax.py") == ["lib/x/tax.py"]


@pytest.mark.parametrize("asked", ["path=lib/x/tax.py", "q=1&file=lib%2Fx%2Ftax.py"])
def test_an_address_may_ask_for_a_file(asked: str) -> None:
    assert named(f"code://search?{asked}") == ["lib/x/tax.py"]


@pytest.mark.parametrize(
    "line",
    [
        "\tfrom lib/x/tax.py:12:in `save'",
        "from /w/lib/x/tax.py:12:in 'Tax#save'",
        "HEAD:lib/x/tax.py:12:total",
        "v1.2~3:lib/x/tax.py:12",
        "lib/x/tax.py:12:5:error",
    ],
)
def test_what_stands_behind_a_line_is_not_of_the_name(line: str) -> None:
    listed = references(line, FORMS_FILES, "/w")
    assert [(each.path, each.first_line) for each in listed] == [("lib/x/tax.py", 12)]


@pytest.mark.parametrize(
    "address",
    [
        "https://github.com/a/b/blob/main/lib/x/tax.py?plain=1#L12",
        "https://github.com/a/b/blob/feature/vat/lib/x/tax.py#L12-L20",
        "github.com/a/b/blame/main/lib/x/tax.py#L12",
        "https://raw.githubusercontent.com/a/b/refs/heads/main/lib/x/tax.py#L12",
        "https://codeberg.org/a/b/src/branch/main/lib/x/tax.py#L12",
        "https://gitlab.example/a/src/b/-/blob/main/lib/x/tax.py?ref_type=heads#L12",
        "https://review.example/plugins/gitiles/b/+/refs/heads/main/lib/x/tax.py#12",
        "https://sourcegraph.example/b@main/-/blob/lib/x/tax.py#L12",
    ],
)
def test_an_address_of_a_forge_has_a_revision_of_any_length(address: str) -> None:
    for text in (f"See {address}.", f"[it]({address})"):
        listed = references(text, FORMS_FILES)
        assert [(each.path, each.first_line) for each in listed] == [("lib/x/tax.py", 12)]


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("https://bitbucket.org/a/b/src/ab12/lib/x/tax.py#lines-3:5", "lib/x/tax.py"),
        ("https://sourcegraph.example/b@main/-/blob/lib/x/tax.py?L3-5", "lib/x/tax.py"),
        ("https://dev.example/a/_git/b?path=/lib/x/tax.py&version=GBmain", "lib/x/tax.py"),
        ("idea://open?file=/srv/clone/lib/x/tax.py&line=3", "lib/x/tax.py"),
        ("https://codeberg.org/a/b/src/branch/main/setup.py", "setup.py"),
        ("https://github.com/a/other/blob/main/lib/setup.py", None),
        ("https://docs.example/lib/x/tax.py", None),
    ],
)
def test_the_path_in_an_address_is_a_whole_one(address: str, path: str | None) -> None:
    files = frozenset({"lib/x/tax.py", "setup.py"})
    listed = [each.path for each in references(f"See {address}.", files, "/srv/clone")]
    assert listed == ([path] if path else [])


@pytest.mark.parametrize(
    "text",
    [
        r"\boxed{lib/x/tax.py}",
        r"\texttt{lib/x/tax.py}",
        r"'lib/x/tax.py\nlib/x/cart.py'",
        r"`lib/x/tax.py\tclass Tax`",
        r"text='1 hit:\nlib/x/tax.py\n'",
        "```12:20:lib/x/tax.py\nimport web.api_v2\n# web/__init__.py\n```",
        "#file:lib/x/tax.py",
        "1.lib/x/tax.py",
        "-lib/x/tax.py",
        "lib/.../x/tax.py",
        "…/x/tax.py",
        "Binary files a/lib/x/tax.py and b/lib/x/tax.py differ",
    ],
)
def test_what_stands_around_a_name_is_not_of_it(text: str) -> None:
    assert {each.path for each in references(text, FORMS_FILES)} == {"lib/x/tax.py"}


def test_source_that_an_editor_cites_has_its_lines() -> None:
    (cited,) = references("```12:20:lib/x/tax.py\ntotal\n```", FORMS_FILES)
    assert (cited.path, cited.first_line, cited.last_line) == ("lib/x/tax.py", 12, 20)


def test_the_end_of_a_name_with_blanks_may_stand_behind_an_ellipsis() -> None:
    files = frozenset({"lib/my part/tax.py", "lib/part/tax.py"})
    for mark in ("…", "..."):
        assert [each.path for each in references(f"{mark}/my part/tax.py", files)] == [
            "lib/my part/tax.py"
        ]


LISTED = frozenset({"app/page.tsx", "app/[slug]/page.tsx", "src/page.tsx", "src/run"})


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("app:\npage.tsx\n\n./app/[slug]:\npage.tsx\n", ["app/page.tsx", "app/[slug]/page.tsx"]),
        ("'/w/app/[slug]':\r\ntotal 4\r\npage.tsx\r\n", ["app/[slug]/page.tsx"]),
        ("src/:\n-rwxr-xr-x 1 a a 4 Jan  1 10:00 page.tsx*\nrun*\n", ["src/page.tsx", "src/run"]),
        ("src:\n-rw-r--r--. 1 a a 4 Jan  1  2026 page.tsx\n", ["src/page.tsx"]),
        ("src:\n\npage.tsx\n", []),
        ("other:\npage.tsx\n", []),
        ("src:\nIt is page.tsx, I think.\n", []),
    ],
)
def test_a_list_of_a_folder_has_the_folder_in_its_heading(text: str, paths: list[str]) -> None:
    assert [each.path for each in references(text, LISTED, "/w")] == paths

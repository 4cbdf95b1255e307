"""Names of files that are no words, in all the ways in which texts write them."""

import json
import re
import shlex
import unicodedata
from collections.abc import Callable
from time import process_time
from urllib.parse import quote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as some

from swarm_bench.source.references.extraction import references

ROOT = "/srv/clone"
NAMES = (
    "app/[team]/settings/page.tsx",
    "pages/[[...path]].vue",
    "routes/(public)/+layout.svelte",
    "app/@drawer/(.)photo/[id]/page.tsx",
    "app/routes/orders.$order.tsx",
    "app/routes/_index.tsx",
    "app/$$.ts",
    "lib/F#/Parser.fs",
    "docs/Read Me First.md",
    "data/red, green.csv",
    "src/Bob's tools/main.py",
    'src/a "quoted" one.py',
    "src/semi;colon.py",
    "src/50%/half.py",
    "src/10:30.log",
    "src/Übung.py",
    unicodedata.normalize("NFD", "src/Äpfel/früh.py"),
    "src/文档/读我.md",
    "src/图（旧）、新.png",
    "src/🦉 night.py",
    ".config/.hidden file",
    "src/-dash.py",
    "src/--/two.py",
    "src/dots.../x.py",
    "src/no extension",
    "src/a&b=c?.py",
    "src/<T>|*.py",
    "src/tick`.py",
    "Makefile",
    "build/Dockerfile",
    "deep/" + "/".join(f"level {number}" for number in range(60)) + "/end.py",
    "ordinary/module.py",
)
FILES = frozenset(NAMES)


def of_git(path: str) -> str:
    """Write a path as git does."""
    written = "".join(
        character if 32 <= byte < 127 and character not in '"\\' else f"\\{byte:03o}"
        for byte in path.encode()
        for character in [chr(byte)]
    )
    return f'"{written}"'


def escaped(path: str) -> str:
    return re.sub(r"([^\w./-])", r"\\\1", path)


FORMS: dict[str, Callable[[str], str]] = {
    "alone": str,
    "dash": lambda path: f"- {path}\n- nothing else\n",
    "star": lambda path: f"* {path}\n",
    "number": lambda path: f"1. {path}\n",
    "span": lambda path: f"See ``{path}`` for that.",
    "bold": lambda path: f"It is **{path}**.",
    "quotes": lambda path: f'It is "{path}".',
    "document": lambda path: json.dumps({"path": path}),
    "documents in words": lambda path: f"Hits:\n{json.dumps([path], ensure_ascii=False)}\nEnd.",
    "link": lambda path: f"[the page](<{path}>)",
    "encoded link": lambda path: f"[the page]({quote(path)})",
    "hit": lambda path: f"{path}:1:first line",
    "range": lambda path: f"{path}:12-20",
    "anchor": lambda path: f"{path}#L10",
    "address": lambda path: f"file://{quote(f'{ROOT}/{path}')}",
    "address of this machine": lambda path: f"file://localhost{quote(f'{ROOT}/{path}')}",
    "forge": lambda path: f"https://github.com/a/b/blob/main/{quote(path)}#L3",
    "shell": lambda path: f"$ cat {shlex.quote('./' + path)} | head",
    "escaped": escaped,
    "git": of_git,
    "difference": lambda path: f"--- a/{path}\n+++ b/{path}\n",
    "here": lambda path: f"./{path}",
    "absolute": lambda path: f"{ROOT}/{path}",
    "composed": lambda path: unicodedata.normalize("NFC", path),
    "decomposed": lambda path: unicodedata.normalize("NFD", path),
}


def named(text: str, files: frozenset[str] = FILES) -> set[str]:
    """Return the files that a text names, and what it invents behind a `!`."""
    return {each.path or f"!{each.mention}" for each in references(text, files, ROOT)}


@pytest.mark.parametrize("form", FORMS)
def test_a_name_is_read_in_every_form(form: str) -> None:
    assert {name: named(FORMS[form](name)) for name in NAMES} == {name: {name} for name in NAMES}


def test_backslashes_are_separators_as_well() -> None:
    paths = [name for name in NAMES if "\\" not in name]
    assert [named(name.replace("/", "\\")) for name in paths] == [{name} for name in paths]


HOSTILE = "ab.-_~ ,;:!?'\"`()[]{}<>|*#%&=+@$\\^é\u0308ß名（、🦉"
SEGMENTS = some.text(HOSTILE, min_size=1, max_size=12).filter(lambda part: part.strip(". "))
PATHS = some.builds(
    lambda folders, name, ending: "/".join([*folders, name + ending]),
    some.lists(SEGMENTS, min_size=1, max_size=3),
    SEGMENTS,
    some.sampled_from([".py", ".tsx", ".md"]),
)


@given(PATHS, some.sampled_from(["document", "address", "git", "encoded link", "forge"]))
def test_any_name_is_read_where_its_characters_are_encoded(path: str, form: str) -> None:
    assert named(FORMS[form](path), frozenset({path, "x/y.py"})) == {path}


@given(PATHS, some.sampled_from(["alone", "dash", "hit", "range", "here", "absolute"]))
def test_any_name_is_read_as_it_stands(path: str, form: str) -> None:
    assume(path == path.strip() and path[0] not in "*_~" and "``" not in path)
    assert path in named(FORMS[form](path), frozenset({path}))


@given(some.lists(PATHS, min_size=1, max_size=5), some.text(HOSTILE + "\n/x", max_size=200))
def test_a_text_without_the_names_names_none(paths: list[str], text: str) -> None:
    composed = unicodedata.normalize("NFC", text).lower()
    ends = [unicodedata.normalize("NFC", path).lower().rpartition("/")[2] for path in paths]
    assume(not any(end in composed.replace("\\", "") for end in ends))
    assert not named(text, frozenset(paths)) & set(paths)


@pytest.mark.parametrize(
    ("text", "files", "right"),
    [
        ("You have to read me first.", {"read me"}, set()),
        ("You have to `read me` first.", {"read me"}, {"read me"}),
        ("1. read me\n", {"read me"}, {"read me"}),
        ("src/my and src/my tools/x.py", {"src/my", "src/my tools/x.py"}, None),
        ("a.py (old) and a.py", {"a.py (old)", "a.py"}, None),
        ("the tools/x.py", {"src/my tools/x.py"}, {"!tools/x.py"}),
        ("my tools/x.py", {"src/my tools/x.py"}, {"src/my tools/x.py"}),
        ("my tools/x.py", {"a/my tools/x.py", "b/my tools/x.py"}, set()),
        ("src/my tools/x.pyc", {"src/my tools/x.py"}, {"!tools/x.pyc"} - {"!tools/x.pyc"}),
        ("lib/src/my tools/x.py", {"src/my tools/x.py"}, set()),
        ("app/[b]/page.tsx", {"app/[a]/page.tsx"}, {"!/page.tsx"}),
        ("<root>/app/a.ts and (root)/app/a.ts", {"app/a.ts"}, {"app/a.ts"}),
        ("APP/[Id]/Page.tsx", {"app/[id]/page.tsx"}, {"app/[id]/page.tsx"}),
        ("请看src/名.py文件", {"src/名.py"}, {"src/名.py"}),
        ("**.github/x.yml** and **/*.py", {".github/x.yml", "a.py"}, {".github/x.yml"}),
        ("\U000f0000\U000f0000.x", {"a b.py"}, set()),
        ("x.py is here", {"x.py", "x.py ", " x.py"}, {"x.py"}),
        ("`u b.py:3-5` says it", {"u b.py"}, {"u b.py"}),
    ],
)
def test_a_name_is_taken_for_no_other(text: str, files: set[str], right: set[str] | None) -> None:
    assert named(text, frozenset(files)) == (files if right is None else right)


def test_lines_and_symbols_stand_beside_it_as_beside_any_other() -> None:
    files = frozenset({"app/[id]/page.tsx"})
    text = "`Page` in app/[id]/page.tsx (lines 3-5), app/[id]/page.tsx:7:  x"
    first, second = references(text, files)
    assert (first.symbol, first.first_line, first.last_line) == ("Page", 3, 5)
    assert (second.first_line, second.position) == (7, text.rindex("app"))


def test_a_name_stands_below_folders_of_a_tree() -> None:
    text = "app/\n├── [id]/\n│   ├── my file.py\n│   └── page.tsx  # it\n└── (a)\n    └── ü.py\n"
    files = {"app/[id]/my file.py", "app/[id]/page.tsx", "app/(a)/ü.py", "b/ü.py", "b/page.tsx"}
    assert named(text, frozenset(files)) == {path for path in files if path.startswith("app")}


@pytest.mark.parametrize(
    "part", ["[id]/page.tsx ", "\\[id\\]/", "%5Bid%5D/page.tsx\\", "e\u0308", "x/x b.py", "\u0308"]
)
def test_a_long_text_and_many_names_take_little_time(part: str) -> None:
    kinds = ("a{}/[id]/page.tsx", "b/x {}/b.py", "c/ë{}.py", "page.tsx {}/[id]/page.tsx")
    files = frozenset(kind.format(number) for kind in kinds for number in range(5_000))
    text = part * ((1 << 17) // len(part))
    begin = process_time()
    references(text, files, ROOT)
    assert process_time() - begin < 20


def test_git_writes_the_bytes_of_names_that_are_no_text() -> None:
    name = b"src/gr\xf6\xdfe.py".decode("utf-8", "surrogateescape")
    assert named(r'"src/gr\366\337e.py"', frozenset({name, "src/a.py"})) == {name}

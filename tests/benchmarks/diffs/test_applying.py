"""Diffs are applied where they belong, or not at all."""

import difflib
import random
import subprocess
import tempfile
from pathlib import Path

import pytest

from swarm_bench.benchmarks.diffs.applying import ApplyResult, apply, find_diff, read_diff
from swarm_bench.environments.unconfined import Unconfined

pytestmark = pytest.mark.anyio

OLD = """import math

def area(radius):
    if radius < 0:
        raise ValueError(radius)
    return math.pi * radius

def name():
    return "circle"
"""
NEW = OLD.replace("math.pi * radius", "math.pi * radius ** 2").replace('"circle"', '"disc"')
OTHER = "area = 1\n"


def diff_of(old: str, new: str, name: str = "shapes.py") -> str:
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    return "".join(difflib.unified_diff(before, after, f"a/{name}", f"b/{name}", n=1))


async def applied(text: str, *, tolerant: bool = True) -> ApplyResult:
    files = {"shapes.py": OLD, "other.py": OTHER}
    return await apply(
        Unconfined(), read_diff(find_diff(text)), files, "shapes.py", tolerant=tolerant
    )


def shifted(diff: str) -> str:
    return diff.replace("@@ -5,", "@@ -8,").replace(" +5,", " +8,")


WHOLE = diff_of(OLD, NEW)
STRICT = {
    "as written": WHOLE,
    "in a fence": f"Here it is:\n```diff\n{WHOLE}```\nDone.",
    "in a list": "1. This:\n   ```diff\n"
    + "".join(f"   {it}\n" for it in WHOLE.splitlines())
    + "   ```",
    "shifted numbers": shifted(WHOLE),
    "no prefixes": WHOLE.replace("a/shapes", "shapes").replace("b/shapes", "shapes"),
    "without its last line break": WHOLE.rstrip("\n"),
    "the old text beside it": WHOLE.replace("a/shapes.py", "a/shapes.py.orig"),
    "without prefixes, the old text beside it": WHOLE.replace(
        "a/shapes.py", "shapes.py.orig"
    ).replace("b/shapes", "shapes"),
    "a time behind a blank": WHOLE.replace(".py\n", ".py 2024-01-01 10:00:00.123 +0200\n"),
    "a time behind a tab": WHOLE.replace(".py\n", ".py\t2024-01-01 10:00:00.123 +0200\n"),
    "git's head": f"diff --git a/shapes.py b/shapes.py\nindex 123..456 100644\n{WHOLE}",
}
TOLERANT = {
    "wrong counts": WHOLE.replace(",5 ", ",9 "),
    "no numbers": "\n".join("@@" if it.startswith("@@") else it for it in WHOLE.split("\n")),
    "no headers": "\n".join(WHOLE.split("\n")[2:]),
    "CRLF": WHOLE.replace("\n", "\r\n"),
    "blanks at ends": WHOLE.replace("radius)\n", "radius)  \n"),
    "lost indentation": "\n".join(
        it if it[:2] in ("--", "++", "@@") else it[:1] + it[1:].lstrip() for it in WHOLE.split("\n")
    ),
    "one prefix": WHOLE.replace("--- a/shapes", "--- shapes"),
}
NOT = {
    "prose": "I would square the radius.",
    "empty": "",
    "other file": WHOLE.replace("shapes", "circles"),
    "upwards": WHOLE.replace("a/shapes", "../shapes").replace("b/shapes", "../shapes"),
    "absolute": WHOLE.replace("a/shapes", "/etc/shapes").replace("b/shapes", "/etc/shapes"),
    "new file": "--- /dev/null\n+++ b/shapes.py\n@@ -0,0 +1 @@\n+x = 1\n",
    "deleted file": "--- a/other.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-area = 1\n",
    "link": "diff --git a/shapes.py b/shapes.py\nold mode 100644\nnew mode 120000\n" + WHOLE,
    "renamed": "diff --git a/shapes.py b/b.py\nrename from shapes.py\nrename to b.py\n" + WHOLE,
    "renamed as git once wrote it": "diff --git a/other.py b/b.py\nsimilarity index 100%\n"
    f"rename old other.py\nrename new b.py\n{WHOLE}",
    "binary": "diff --git a/shapes.py b/shapes.py\nGIT binary patch\nliteral 3\nKcmZ>A00IC2\n",
    "two places": "--- a/shapes.py\n+++ b/shapes.py\n@@\n \n-def\n",
    "no place": WHOLE.replace("math.pi * radius\n", "math.tau * radius\n", 1),
    "the same": "--- a/other.py\n+++ b/other.py\n@@ -1 +1 @@\n-area = 1\n+area = 1\n",
    "the same, damaged": "--- a/other.py\n+++ b/other.py\n@@\n-area = 1\n+area = 1\n",
    "half a character": WHOLE.replace('"disc"', '"\ud800"'),
    "only new lines": "--- a/shapes.py\n+++ b/shapes.py\n@@\n+import os\n",
}


@pytest.mark.parametrize("damage", STRICT)
async def test_a_diff_that_git_applies(damage: str) -> None:
    result = await applied(STRICT[damage])
    assert (result.strict, result.files) == (True, {"shapes.py": NEW, "other.py": OTHER}), result


@pytest.mark.parametrize("damage", TOLERANT)
async def test_a_damaged_diff_is_applied_where_its_lines_are(damage: str) -> None:
    result = await applied(TOLERANT[damage])
    assert (result.strict, result.files) == (False, {"shapes.py": NEW, "other.py": OTHER}), result
    assert (await applied(TOLERANT[damage], tolerant=False)).files is None


@pytest.mark.parametrize("damage", NOT)
async def test_a_diff_of_something_else_is_not_applied(damage: str) -> None:
    result = await applied(NOT[damage])
    assert (result.strict, result.files) == (False, None)
    assert result.reason


async def test_a_time_by_which_git_removes_a_file_removes_none() -> None:
    epoch = "1970-01-01 00:00:00.000000000 +0000"
    result = await applied(
        f"--- a/other.py\t2020-01-01 00:00:00 +0000\n+++ b/other.py\t{epoch}\n"
        "@@ -1 +0,0 @@\n-area = 1\n"
    )
    assert (result.strict, result.files) == (False, {"shapes.py": OLD, "other.py": ""})
    assert result.reason


@pytest.fixture
def inside_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.mark.usefixtures("inside_a_repository")
async def test_a_repository_around_the_folder_is_none_of_it() -> None:
    result = await applied(STRICT["git's head"])
    assert (result.strict, result.files) == (True, {"shapes.py": NEW, "other.py": OTHER})


async def test_other_files_of_the_case_are_changed_by_their_names() -> None:
    diff = diff_of(OTHER, "area = 2\n", "other.py")
    assert (await applied(diff)).files == {"shapes.py": OLD, "other.py": "area = 2\n"}
    assert (await applied(diff.replace("@@ -1 +1 @@", "@@"))).files == {
        "shapes.py": OLD, "other.py": "area = 2\n",
    }  # fmt: skip


async def test_line_ends_stay_as_the_file_has_them() -> None:
    files = {"a.py": "x = 1\r\ny = 2\r\n"}
    diff = read_diff("--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n x = 1\n-y = 2\n+y = 3\n")
    result = await apply(Unconfined(), diff, files, "a.py", tolerant=True)
    assert result.files == {"a.py": "x = 1\r\ny = 3\r\n"}


@pytest.mark.parametrize("end", ["", "\n", "\n\n\n"])
async def test_a_hunk_may_end_with_a_blank_line(end: str) -> None:
    old, new = "a\nb\n\nc\n", "a\nB\n\nc\n"
    for diff in (diff_of(old, new, "a.py"), diff_of(old, new, "a.py").replace("\n \n", "\n\n")):
        for text in (diff, diff.rstrip(), f"```diff\n{diff}```\n", f"```\n{diff.rstrip()}\n```"):
            read = read_diff(find_diff(text + end))
            result = await apply(Unconfined(), read, {"a.py": old}, "a.py", tolerant=False)
            assert result.files == {"a.py": new}, (text, result)


@pytest.mark.timeout(180)
async def test_ten_megabytes_are_read_and_end() -> None:
    """Whatever is long: one hunk, many, names, or what is no diff at all."""
    size = 10_000_000
    longs = {
        "a hunk": f"--- a/shapes.py\n+++ b/shapes.py\n@@ -0,0 +1,{size // 7} @@\n"
        + "+x = 1\n" * (size // 7),
        "hunks": WHOLE + "@@ -1 +1 @@\n-a\n+b\n" * (size // 18),
        "files": "--- a/shapes.py\n+++ b/shapes.py\n" * (size // 30),
        "prose": "a diff " * (size // 7),
        "fences": "```\n" * (size // 4),
        "a line": "+" * size,
        "NULs": "@@\n+\0" * (size // 5),
    }
    for what, text in longs.items():
        result = await applied(text)
        assert (result.strict, result.files) == (False, None), what
    behind = await applied(WHOLE + "+x = 1\n" * (size // 7))  # which no hunk counts
    assert behind.files == {"shapes.py": NEW, "other.py": OTHER}


@pytest.mark.long
@pytest.mark.timeout(300)
async def test_random_edits_are_applied_as_they_were_made() -> None:
    draw = random.Random(7)
    for number in range(500):
        old = [
            f"{'  ' * draw.randrange(3)}{draw.choice('abcde')}{draw.randrange(6)}\n"
            if draw.random() < 0.8 else "\n"
            for _ in range(draw.randrange(1, 40))
        ]  # fmt: skip
        new = list(old)
        for _ in range(draw.randrange(1, 6)):
            at = draw.randrange(len(new) + 1)
            if draw.random() < 0.5 and at < len(new):
                del new[at]
            else:
                new.insert(at, f"new {draw.randrange(9)}\n")
        texts = "".join(old), "".join(new)
        if texts[0] == texts[1] or not texts[1]:
            continue
        diff = read_diff(find_diff(f"```diff\n{diff_of(*texts, 'a.py')}```"))
        result = await apply(Unconfined(), diff, {"a.py": texts[0]}, "a.py", tolerant=True)
        assert (result.strict, result.files) == (True, {"a.py": texts[1]}), (number, result)

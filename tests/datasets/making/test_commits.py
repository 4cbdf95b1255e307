"""Which lines of a file a commit changed, and of which files nobody compares them."""

from datetime import date
from random import Random

import pytest

from swarm_bench.datasets.making.commits import (
    MOST_LINES,
    ChangedFile,
    find_rejection_reason,
    sources,
)
from swarm_bench.runtime.workspaces.history import Commit, FileChange

FEW = [f"    total_{n} = {n}" for n in range(150)]


def changed(before: list[str], after: list[str]) -> ChangedFile:
    texts = ("\n".join(lines).encode() for lines in (before, after))
    old, new = texts
    return ChangedFile(path="a.py", target="a.py", old_source=old, new_source=new)


def drawn(count: int) -> list[str]:
    return Random(1).choices(FEW, k=count)


def mixed(lines: list[str]) -> list[str]:
    return Random(2).sample(lines, len(lines))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (drawn(30_000), [f"{line}0" if n % 100 else line for n, line in enumerate(drawn(30_000))]),
        (drawn(30_000), mixed(drawn(30_000))),
        ([], [f"a{n} = {n}" for n in range(MOST_LINES + 1)]),
    ],
)
def test_a_file_that_was_rewritten_is_not_compared(before: list[str], after: list[str]) -> None:
    file = changed(before, after)
    assert file.is_huge
    assert "lines" not in vars(file)


def test_lines_far_from_each_other_are_compared() -> None:
    lines = drawn(4_000)
    file = changed(lines, ["first = 1", *lines[1:-1], "last = 1"])
    assert not file.is_huge
    assert [len(side) for side in file.lines] == [2, 2]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["a = 1", "b = 2"], ["a = 1", *[f"# {n}" for n in range(MOST_LINES)], "b = 3"]),
        ([f"a{n} = {n}" for n in range(999)], [f"  a{n} = {n}" for n in range(999)]),
        (["x"] * 5_000, [*["x"] * 5_000, *["---"] * 500, "y"]),
    ],
)
def test_comments_and_white_space_make_no_file_rewritten(
    before: list[str], after: list[str]
) -> None:
    assert not changed(before, after).is_huge


GOOD = "Round coupon totals upwards in bills"


def _change(path: str, before: str | None = "a", after: str | None = "b") -> FileChange:
    return FileChange(path=path, target=path, old_hash=before, after=after)


def _commit(
    message: str = GOOD, *paths: str, parents: int = 1, changes: tuple[FileChange, ...] = ()
) -> Commit:
    return Commit(
        hash="c" * 40,
        parents=("p" * 40,) * parents,
        written_on=date(2026, 1, 1),
        message=message,
        changes=changes or tuple(map(_change, paths or ("shop/cart.py",))),
    )


def test_a_good_commit_is_fit() -> None:
    assert find_rejection_reason(_commit()) is None
    assert (
        find_rejection_reason(_commit(GOOD, "shop/cart.py", "tests/test_cart.py", "docs/bills.md"))
        is None
    )
    assert find_rejection_reason(_commit(GOOD, *(f"shop/cart{n}.py" for n in range(6)))) is None


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ("Merge branch 'main' of shop", "merge"),
        (f'Revert "{GOOD}"', "revert"),
        (f"{GOOD}\n\nThis reverts commit 123.", "revert"),
        ("Bump pytest from 7.0 to 8.0", "bump of a version or a dependency"),
        ("build(deps): pytest 8.0 everywhere", "bump of a version or a dependency"),
        ("updates clap to v2.23.0", "bump of a version or a dependency"),
        ("Release 2.0", "bump of a version or a dependency"),
        ("1.2.3", "bump of a version or a dependency"),
        ("Run black over the coupon code", "formatting, by its message"),
        ("Fix typos of coupon names everywhere", "formatting, by its message"),
        ("docs: explain rounding of coupon totals", "documentation or tests, by its message"),
        ("Add tests of the rounding of totals", "documentation or tests, by its message"),
        ("Refactor rounding of coupon totals", "tidying, by its message"),
        ("No need for two rounds of coupon totals", "tidying, by its message"),
        ("s/coupon totals/sums of all coupons", "tidying, by its message"),
        ("Remove duplicate code of coupon totals and sums", "tidying, by its message"),
        ("Remove an unnecessary variable of coupon totals", "tidying, by its message"),
        ("Use standard constants for all coupon totals", "tidying, by its message"),
        ("Some refactor of rounding the coupon totals", "tidying, by its message"),
        ("Automated changes of rounding coupon totals", "tidying, by its message"),
        ("Various improvements of coupons, carts and totals", "tidying, by its message"),
        ("Misc. changes of coupons, carts and totals", "tidying, by its message"),
        ("Round the coupon totals of this class upwards", "message that says too little"),
        ("Solution for coupons of European shops?", "message that says too little"),
        ("Round coupon totals\n* Count the customers twice", "message that says too little"),
        ("Reverted rounding of coupon totals", "revert"),
        ("Applied Ann's patch for loading local coupons", "merge"),
        ("Fix bug", "message that says too little"),
        (f"{GOOD} of {'very ' * 100}many customers", "message with too long a first sentence"),
        ("Round totals in cart.py for coupons", "message that names a file of it, or a commit"),
        ("Round totals as before 0d50ce8 coupons", "message that names a file of it, or a commit"),
    ],
)
def test_messages_drop_commits(message: str, why: str) -> None:
    assert find_rejection_reason(_commit(message)) == why


@pytest.mark.parametrize(
    ("paths", "why"),
    [
        (["tests/test_cart.py", "README.md"], "no source files: tests, documentation, settings"),
        (["setup.py", ".github/run.py"], "no source files: tests, documentation, settings"),
        (["dist/cart.js", "vendor/a/b.go"], "generated or vendored files only"),
        (["static/cart.min.js"], "generated or vendored files only"),
        ([f"shop/cart{n}.py" for n in range(7)], "more than 6 source files"),
        (["shop/a\n.py"], "a source file whose name is no UTF-8, or not on one line"),
        (["shop/\udcff.py"], "a source file whose name is no UTF-8, or not on one line"),
        (
            ["shop/cart.py", "gr\udcff.py"],
            "a source file whose name is no UTF-8, or not on one line",
        ),
        (["shop/gr\udcff.png"], "no source files: tests, documentation, settings"),
    ],
)
def test_files_drop_commits(paths: list[str], why: str) -> None:
    assert find_rejection_reason(_commit(GOOD, *paths)) == why


def test_merges_and_commits_without_a_parent_are_dropped() -> None:
    assert find_rejection_reason(_commit(parents=2)) == "merge"
    assert find_rejection_reason(_commit(parents=0)) == "the commit has no parent here"


def test_new_and_renamed_files_alone_make_no_task() -> None:
    assert (
        find_rejection_reason(_commit(changes=(_change("cart.py", before=None),)))
        == "new files only"
    )
    same = _change("cart.py", "a", "a")
    assert find_rejection_reason(_commit(changes=(same,))) == "renames without content"
    commit = _commit(changes=(_change("new.py", before=None), _change("old.py", after=None)))
    assert [change.path for change in sources(commit)] == ["new.py", "old.py"]

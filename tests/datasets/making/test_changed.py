"""Which lines of a file a commit changed, and of which files nobody compares them."""

from random import Random

import pytest

from swarm_bench.datasets.making.changed import MOST_LINES, ChangedFile

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

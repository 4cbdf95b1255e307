"""A plan that is dealt to slices."""

from itertools import chain

import pytest

from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.base import Slice
from swarm_bench.core.session.cases import Case
from swarm_bench.engine.plan import Block, check_slice, select_slice


def blocks(number: int) -> list[Block[Case]]:
    return [Block(run=run, order=("a", "b"), groups=()) for run in range(1, number + 1)]


@pytest.mark.parametrize(("number", "of"), [(1, 1), (2, 2), (3, 2), (7, 3), (12, 5), (12, 6)])
def test_each_block_is_in_one_slice(number: int, of: int) -> None:
    plan = blocks(number)
    parts = [select_slice(plan, Slice(number=part, total=of)) for part in range(1, of + 1)]
    assert sorted(block.run for block in chain(*parts)) == [block.run for block in plan]
    assert all(parts)
    sizes = [len(part) for part in parts]
    assert max(sizes) - min(sizes) <= 2


def test_the_blocks_of_a_pair_stay_together_where_there_are_enough() -> None:
    runs = [block.run for block in select_slice(blocks(12), Slice(number=2, total=3))]
    assert runs == [3, 4, 9, 10]
    assert [block.run for block in select_slice(blocks(5), Slice(number=2, total=3))] == [2, 5]


def test_a_plan_without_slices_is_whole() -> None:
    assert len(select_slice(blocks(3), None)) == 3
    check_slice(None, 0, "a block")


def test_there_are_no_more_slices_than_blocks() -> None:
    check_slice(Slice(number=2, total=3), 3, "a block")
    with pytest.raises(UsageError, match="each slice needs a block, and the plan has 2"):
        check_slice(Slice(number=2, total=3), 2, "a block")

"""Blocks that are cut into batches of cases."""

import pytest

from swarm_bench.core.session.base import stable_id
from swarm_bench.core.session.cases import Case
from swarm_bench.engine.plan import Block, cut_blocks, iterate_groups, plan_blocks


def blocks(cases: int, runs: int = 1) -> tuple[Block[Case], ...]:
    numbered = [(number, Case(id=f"c{number}", title="")) for number in range(1, cases + 1)]
    orders = [("b", "a"), ("a", "b")] * runs
    return plan_blocks(
        orders[:runs], [numbered], lambda run, arm, _, case: stable_id(run, arm, case.id)
    )


def ids(plan: tuple[Block[Case], ...]) -> list[str]:
    return sorted(trial.id for group in iterate_groups(plan) for trial in group.trials)


@pytest.mark.parametrize(
    ("cases", "runs", "wanted", "batches"),
    [(10, 1, 4, 4), (3, 1, 8, 3), (10, 3, 8, 9), (1, 2, 8, 2), (10, 3, 2, 3), (0, 0, 4, 0)],
)
def test_each_trial_is_in_one_batch_with_those_of_all_arms(
    cases: int, runs: int, wanted: int, batches: int
) -> None:
    plan = blocks(cases, runs)
    cut = cut_blocks(plan, wanted)
    assert len(cut) == batches
    assert ids(cut) == ids(plan)
    for batch in cut:
        first, *others = [{trial.case.id for trial in group.trials} for group in batch.groups]
        assert [group.arm for group in batch.groups] == [*batch.order]
        assert all(same == first for same in others)
        assert batch.of_run == sum(it.run == batch.run for it in cut)
    sizes = {len(batch.groups[0].trials) for batch in cut} or {0}
    assert max(sizes) - min(sizes) <= 1


def test_batches_have_numbers_and_groups_of_their_own() -> None:
    cut = cut_blocks(blocks(8, 2), 8)
    assert [(batch.run, batch.number) for batch in cut] == [(1, 1), (1, 2), (1, 3), (1, 4)] + [
        (2, 1), (2, 2), (2, 3), (2, 4),
    ]  # fmt: skip
    groups = [group.id for group in iterate_groups(cut)]
    assert len({*groups}) == len(groups) == 16

"""The plan of a session: what runs, and in which order, as plain data. A pure function of the
experiment, so it can be shown, compared and continued."""

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic

from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.base import C, Group, Slice, Trial, stable_id
from swarm_bench.core.session.cases import Case, CaseExperiment, R


@dataclass(frozen=True, kw_only=True)
class Block(Generic[C]):
    """A batch of cases x every arm, close together in time."""

    run: int
    number: int = 1
    """Number of the block within its run."""
    of_run: int = 1
    """Number of blocks of its run."""
    order: tuple[str, ...]
    groups: tuple[Group[C], ...]


def draw_order(
    arms: Sequence[str], blocks: int, seed: int, existing: Sequence[Sequence[str]] = ()
) -> tuple[tuple[str, ...], ...]:
    """Draw the order of the arms in so many blocks. What is `existing` stays; new arms come
    after.

    Blocks are pairs: the second one has the order of the first reversed, so that a drift within the
    pair falls on all arms alike. Each pair has a draw of its own from the seed, so more blocks do
    not change earlier ones. What is new is a pair with what is new: blocks of later tasks stand
    between those that there were.
    """
    orders: list[tuple[str, ...]] = []
    unpaired: tuple[str, ...] | None = None
    unpaired_before: tuple[str, ...] | None = None
    for number in range(blocks):
        old = tuple(existing[number]) if number < len(existing) else ()
        new = [arm for arm in arms if arm not in old]
        if not new:
            is_second = unpaired_before is not None and old == unpaired_before[::-1]
            unpaired_before = None if is_second else old
            orders.append(old)
            continue
        first = unpaired or (unpaired_before if unpaired_before in orders[-1:] else None)
        if first is None:
            random.Random(f"{seed}:{number + 1}").shuffle(new)
        else:
            new = [arm for arm in reversed(first) if arm in new]
        orders.append((*old, *new))
        unpaired = orders[-1] if first is None else None
    return tuple(orders)


def drop_finished(blocks: Sequence[Block[C]], finished: Collection[str]) -> tuple[Block[C], ...]:
    """Return the blocks without finished trials and without groups that have none left."""
    return tuple(
        unfinished for block in blocks if (unfinished := _drop_trials(block, finished)).groups
    )


def select_part(block: Block[C], trial_ids: Collection[str]) -> Block[C]:
    """Return the block with the chosen trials alone, and without groups that have none."""
    dropped = {trial.id for group in block.groups for trial in group.trials} - set(trial_ids)
    return _drop_trials(block, dropped)


def select_slice(blocks: Sequence[Block[C]], part: Slice | None) -> tuple[Block[C], ...]:
    """Return the blocks of a slice, whole, so that a machine runs every arm of them. Pairs of
    blocks stay together where there are enough."""
    if part is None:
        return tuple(blocks)
    size = 2 if len(blocks) >= 2 * part.total else 1
    batches = [blocks[first : first + size] for first in range(0, len(blocks), size)]
    return tuple(block for batch in part.select(batches) for block in batch)


def cut_blocks(blocks: Sequence[Block[C]], batches: int) -> tuple[Block[C], ...]:
    """Cut the blocks into at least so many batches of cases, each with all arms in their order, as
    far as there are cases. Ids of trials stay."""
    pieces = -(-batches // max(len(blocks), 1))
    cut = [tuple(_cut_block(block, pieces)) for block in blocks]
    of_run = Counter(batch.run for parts in cut for batch in parts)
    numbers = Counter[int]()
    planned = []
    for batch in (batch for parts in cut for batch in parts):
        numbers[batch.run] += 1
        planned.append(replace(batch, number=numbers[batch.run], of_run=of_run[batch.run]))
    return tuple(planned)


def _cut_block(block: Block[C], pieces: int) -> Iterator[Block[C]]:
    trials = [trial for group in block.groups for trial in group.trials]
    cases = [*dict.fromkeys(trial.case.id for trial in trials)]
    pieces = max(1, min(pieces, len(cases)))
    for number in range(pieces):
        batch = {*cases[number::pieces]}
        part = select_part(block, [trial.id for trial in trials if trial.case.id in batch])
        yield replace(part, groups=tuple(set_id(group) for group in part.groups))


def check_slice(part: Slice | None, number: int, needs: str) -> None:
    """Raise `UsageError` where there are more slices than what is dealt to them, of which the plan
    has so many."""
    if part is not None and part.total > number:
        raise UsageError(
            f"--slice {part}: each slice needs {needs}, and the plan has {number}; give no more "
            "slices than that, or more to run"
        )


def iterate_groups(blocks: Sequence[Block[C]]) -> Iterator[Group[C]]:
    """Yield all groups, in the order they run."""
    return (group for block in blocks for group in block.groups)


def _drop_trials(block: Block[C], finished: Collection[str]) -> Block[C]:
    groups = (group.drop_finished(finished) for group in block.groups)
    return replace(block, groups=tuple(group for group in groups if group.trials))


def plan_blocks(
    orders: Sequence[tuple[str, ...]],
    blocks: Sequence[Sequence[tuple[int, C]]],
    id_of: Callable[[int, str, int, C], str],
) -> tuple[Block[C], ...]:
    """Return the blocks of all runs, with the arms of each in their `orders`. `blocks` are those of
    one run: their cases, with the number of each; `id_of` gives a trial its id, by its run, arm,
    number and case."""
    planned = []
    for turn, order in enumerate(orders):
        run, number = divmod(turn, len(blocks))
        groups = tuple(_make_group(run + 1, arm, blocks[number], id_of) for arm in order)
        planned.append(
            Block(run=run + 1, number=number + 1, of_run=len(blocks), order=order, groups=groups)
        )
    return tuple(planned)


def _make_group(
    run: int,
    arm: str,
    cases: Sequence[tuple[int, C]],
    id_of: Callable[[int, str, int, C], str],
) -> Group[C]:
    trials = tuple(
        Trial(id=id_of(run, arm, number, case), run=run, arm=arm, case=case, number=number)
        for number, case in cases
    )
    return set_id(Group(id="", run=run, arm=arm, trials=trials))


def set_id(group: Group[C]) -> Group[C]:
    """Return the group with the id that one of these trials has."""
    ids = (trial.id for trial in group.trials)
    return replace(group, id=stable_id(group.run, group.arm, *ids))


def plan_cases(experiment: CaseExperiment) -> tuple[Block[Case], ...]:
    """Return a block for each run in which an arm is asked, with those in their drawn order. A
    slice has some of the cases, in all arms and runs."""
    runs = {arm: experiment.count_runs(arm) for arm in experiment.arms}
    orders = [
        tuple(arm for arm in order if run <= runs[arm])
        for run, order in enumerate(experiment.order, start=1)
    ]
    cases = tuple(enumerate(experiment.cases, start=1))
    if experiment.slice is not None:
        cases = experiment.slice.select(cases)
    planned = plan_blocks(orders, [cases], lambda run, arm, _, case: stable_id(run, arm, case.id))
    return tuple(block for block in planned if block.order)


def select_planned(experiment: CaseExperiment, records: Iterable[R]) -> list[R]:
    """Return the records of trials of the plan that say of themselves what the plan says."""
    trials = {
        trial.id: (trial.run, trial.arm, trial.case.id)
        for group in iterate_groups(plan_cases(experiment))
        for trial in group.trials
    }
    return [
        record
        for record in records
        if trials.get(record.trial) == (record.run, record.arm, record.case)
    ]

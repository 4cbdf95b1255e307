"""Blocks: batches of tasks that every mode works on, one mode after the other."""

from itertools import chain
from typing import Any

import pytest

from swarm_bench.benchmarks.swarm.plan.blocks import deal_blocks, draw_task_order
from swarm_bench.benchmarks.swarm.plan.resume import extend
from swarm_bench.benchmarks.swarm.plan.swarms import count_planned, cut_to_started, plan
from swarm_bench.core.session.beforehand import InterimVerdicts
from swarm_bench.core.session.designs import AB
from swarm_bench.core.session.experiment import Experiment, Repository, Setting, Task, check_stored
from swarm_bench.engine.plan import draw_order, iterate_groups
from tests.builders.experiments import experiment

MODES = ["baseline", "canopy", "placebo"]


def session(tasks: int, most: int | None = None, least: float = 0, **changes: Any) -> Experiment:
    named = [f"t{number}" for number in range(1, tasks + 1)]
    values = {"all_tasks": True, "runs": 2, "modes": MODES, **changes}
    return deal_blocks(experiment(tasks=named, **values), most, least)


def sizes(one: Experiment) -> list[int]:
    return [len(block) for block in one.agents_of_blocks]


@pytest.mark.parametrize(
    ("tasks", "expected"),
    [(3, [3]), (4, [4]), (5, [2, 3]), (8, [4, 4]), (12, [6, 6]), (24, [6] * 4),
     (30, [7, 8, 7, 8]), (60, [6] * 10)],
)  # fmt: skip
def test_a_block_has_about_six_tasks_and_a_run_an_even_number_of_them(
    tasks: int, expected: list[int]
) -> None:
    assert sizes(session(tasks)) == expected


@pytest.mark.parametrize(
    ("tasks", "most", "expected"),
    [(8, 2, [2] * 4), (8, 3, [2] * 4), (9, 4, [2, 2, 2, 3]), (8, 100, [4, 4]), (5, 1, [1] * 5)],
)
def test_a_block_has_at_most_as_many_tasks_as_was_said(
    tasks: int, most: int, expected: list[int]
) -> None:
    assert sizes(session(tasks, most, concurrency=1)) == expected


def test_blocks_are_larger_where_setting_up_takes_long_down_to_two_a_run() -> None:
    assert sizes(session(60, least=13)) == [15] * 4
    assert sizes(session(60, least=1000)) == [30] * 2
    assert sizes(session(4, least=1000)) == [4], "they run at once"


def test_as_many_run_at_once_as_may() -> None:
    one = session(30, concurrency=10)
    assert (sizes(one), one.at_once) == ([15, 15], 10)
    few = session(12, concurrency=10)
    assert (sizes(few), few.at_once) == ([6, 6], 6)


def test_every_mode_takes_its_turn_in_every_block_and_the_next_one_mirrors_it() -> None:
    one = session(24)
    blocks = plan(one)
    assert [(block.run, block.number, block.of_run) for block in blocks] == [
        (run, number, 4) for run in (1, 2) for number in (1, 2, 3, 4)
    ]
    for first, second in zip(blocks[::2], blocks[1::2], strict=True):
        assert first.order == second.order[::-1]
        assert sorted(first.order) == sorted(MODES)
    assert len({block.order for block in blocks[::2]}) > 1, "each pair has a draw of its own"
    for block in blocks:
        agents = {tuple(trial.number for trial in swarm.trials) for swarm in block.groups}
        assert len(agents) == 1
        assert [swarm.arm for swarm in block.groups] == [*block.order]
    assert count_planned(one) == dict.fromkeys(MODES, 48)


def test_runs_whose_agents_all_run_at_once_are_blocks_that_mirror_each_other() -> None:
    one = session(4, runs=3)
    assert one.order[0] == one.order[1][::-1]
    assert one.order[0] == experiment(modes=MODES).order[0], "as older sessions were drawn"


def test_more_runs_do_not_change_earlier_ones() -> None:
    for tasks in (3, 5, 12):
        two, five = session(tasks), session(tasks, runs=5)
        assert five.order[: len(two.order)] == two.order
        assert plan(five)[: len(plan(two))] == plan(two)


def test_tasks_have_their_trials_once_with_the_ids_of_before() -> None:
    new, old = session(30), experiment(all_tasks=True, tasks=[f"t{n}" for n in range(1, 31)])
    ids = [trial.id for swarm in iterate_groups(plan(new)) for trial in swarm.trials]
    assert len(ids) == len(set(ids)) == 30 * 3 * 2
    assert {trial.id for swarm in iterate_groups(plan(old)) for trial in swarm.trials} < set(ids)


def test_a_block_is_of_one_commit_and_the_next_one_mirrors_it() -> None:
    tasks = tuple(
        Task(id=f"t{n}", title="t", prompt=f"do {n}", commit="ab"[n % 2] * 40) for n in range(12)
    )
    repository = Repository(path="/r", kind="git", commit="a" * 40, tree="t", files=1, bytes=1)
    old = experiment(all_tasks=True, runs=1, modes=MODES, repository=repository)
    blocks = plan(deal_blocks(old.model_copy(update={"tasks": tasks}), None))
    swarms = [block.groups[0] for block in blocks]
    assert [swarm.commit for swarm in swarms] == ["a" * 40] * 2 + ["b" * 40] * 2
    assert [len(swarm.trials) for swarm in swarms] == [3] * 4
    assert [block.order for block in blocks[1::2]] == [block.order[::-1] for block in blocks[::2]]


def test_in_ab_and_in_growing_swarms_a_swarm_is_a_block() -> None:
    ab = session(5, design=AB, agents=1, concurrency=1)
    assert sizes(ab) == [1] * 5
    assert [block.order for block in plan(ab)[1::2]] == [
        block.order[::-1] for block in plan(ab)[::2]
    ]
    grown = session(3, agents=8, all_tasks=False, swarm_size=4, concurrency=2)
    assert sizes(grown) == [4, 4]


def test_a_session_grows_by_blocks() -> None:
    old = session(8, runs=1, modes=MODES[:2])
    new = session(14, runs=2)
    ids = [trial.id for swarm in iterate_groups(plan(old)) for trial in swarm.trials]
    grown = extend(old, new, ids)
    assert sizes(grown) == [4, 4, 3, 3]
    assert grown.order[:2] == tuple((*order, "placebo") for order in old.order)
    blocks = plan(grown)
    for first, second in zip(blocks[2::2], blocks[3::2], strict=True):
        assert first.order == second.order[::-1]
    swarms = {swarm.id for swarm in iterate_groups(plan(old))}
    assert swarms < {swarm.id for swarm in iterate_groups(blocks)}, "those that have run stay"
    stored = Experiment.from_json(grown.model_dump_json())
    assert plan(stored) == blocks


@pytest.mark.parametrize("seed", range(4))
def test_blocks_of_later_tasks_are_pairs_over_runs(seed: int) -> None:
    old, new = (session(tasks, runs=runs, seed=seed) for tasks, runs in ((8, 2), (9, 4)))
    grown = extend(old, new, [])
    assert sizes(grown) == [4, 4, 1]
    orders = grown.order
    assert (orders[:2], orders[3:5]) == (old.order[:2], old.order[2:])
    later = (orders[2], *orders[5:])
    assert all(first == second[::-1] for first, second in zip(later[::2], later[1::2], strict=True))


def test_more_tasks_have_blocks_of_the_size_that_was_said() -> None:
    size = {"block_size": Setting(value=2, source="session")}
    old = session(4, 2, concurrency=1, settings=size)
    new = session(9, 2, concurrency=1, settings=size)
    assert sizes(extend(old, new, [])) == [2, 2, 1, 1, 1, 2]


def test_a_session_of_before_keeps_a_run_as_its_block() -> None:
    orders = tuple(("baseline", "canopy")[::way] for way in (1, 1, -1))
    tasks = [f"t{number}" for number in range(1, 13)]
    old = experiment(all_tasks=True, tasks=tasks, runs=3, order=orders)
    new = session(13, runs=5, modes=MODES)
    ids = list(chain.from_iterable((t.id for t in s.trials) for s in iterate_groups(plan(old))))
    grown = extend(old, new.model_copy(update={"order": ()}), ids)
    assert grown.blocks is None
    assert grown.order[:3] == tuple((*order, "placebo") for order in orders)
    assert [(block.run, block.of_run) for block in plan(grown)] == [(n, 1) for n in range(1, 6)]
    assert {len(swarm.trials) for swarm in iterate_groups(plan(grown))} == {13}


def test_draws_are_of_the_seed() -> None:
    assert draw_order(MODES, 20, seed=1) == draw_order(MODES, 20, seed=1)
    assert draw_order(MODES, 20, seed=1) != draw_order(MODES, 20, seed=2)


def until_clear(tasks: int | list[Task], seed: int = 3) -> Experiment:
    """A session that ends when its verdict stands."""
    named = [f"t{n}" for n in range(1, tasks + 1)] if isinstance(tasks, int) else ["t1"]
    one = experiment(tasks=named, all_tasks=True, runs=1, modes=MODES, seed=seed)
    asked = Setting(value=True, source="command line")
    changes: dict[str, Any] = {"settings": {"until_clear": asked}, "session": "a1b2c3d4"}
    if not isinstance(tasks, int):
        changes["tasks"] = tuple(tasks)
    one = deal_blocks(one.model_copy(update=changes), None)
    return draw_task_order(one).preregister()


def test_the_tasks_of_a_session_that_may_end_early_are_drawn() -> None:
    first, again, other = (until_clear(30, seed) for seed in (3, 3, 4))
    ids = [[task.id for task in one.tasks] for one in (first, again, other)]
    assert ids[0] == ids[1] != ids[2]
    assert sorted(ids[0]) == sorted(ids[2]) == sorted(task.id for task in session(30).tasks)
    assert list(chain(*first.agents_of_blocks)) == list(range(1, 31))
    check_stored(first)


def test_so_are_blocks_of_several_commits_each_of_one() -> None:
    tasks = [Task(id=f"t{n}", title="", prompt="", commit="ab"[n % 5 == 0] * 40) for n in range(60)]
    drawn = [until_clear(tasks, seed) for seed in range(8)]
    for one in drawn:
        check_stored(one)
        assert {task.id for task in one.tasks} == {task.id for task in tasks}
    assert len({one.tasks[0].commit for one in drawn}) == 2


def test_a_session_that_may_end_early_is_read_as_far_as_it_was_run() -> None:
    one = until_clear(30)
    assert len(plan(one)) == 4
    begun = cut_to_started(one, {1, 2, 9})
    assert (len(begun.tasks), begun.tasks_named) == (15, 30)
    assert begun.tasks == one.tasks[:15]
    assert count_planned(begun) == dict.fromkeys(MODES, 15)
    assert not begun.tasks_changed
    assert cut_to_started(one, set(range(1, 31))) == one
    look = InterimVerdicts(blocks=3, tasks=22, verdicts={}, stands=False)
    assert len(cut_to_started(one.model_copy(update={"looks": (look,)}), {1}).tasks) == 22
    ordinary = session(30)
    assert cut_to_started(ordinary, {1}) is ordinary


def test_nothing_is_planned_after_a_verdict_that_stands() -> None:
    one = until_clear(30)
    for stands, blocks in ((False, 4), (True, 2)):
        look = InterimVerdicts(blocks=2, tasks=15, verdicts={"canopy": "helps"}, stands=stands)
        looked = one.model_copy(update={"looks": (look,)})
        assert len(plan(looked)) == blocks
        stored = Experiment.from_json(looked.model_dump_json())
        assert (stored.looks, stored.until_clear) == (looked.looks, True)
    assert "looks" not in session(30).model_dump(mode="json")

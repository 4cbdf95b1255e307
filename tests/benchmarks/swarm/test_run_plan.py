"""What is in no clone, of a session that goes on."""

from collections import Counter
from datetime import UTC, datetime
from itertools import chain
from typing import Any

import pytest

from swarm_bench.analysis.caveats.clones import had_keys
from swarm_bench.app.setup.experiment import check_same_measurement
from swarm_bench.benchmarks.swarm.run_plan import (
    add_back_ends,
    continue_repository,
    count_planned,
    cut_to_started,
    deal_blocks,
    draw_task_order,
    estimate_seconds,
    extend,
    list_commits,
    plan,
)
from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.designs import AB
from swarm_bench.core.session.experiment import (
    Experiment,
    Limits,
    Preparation,
    Program,
    Repository,
    Setting,
    Task,
    check_stored,
)
from swarm_bench.core.session.preregistration import InterimVerdicts
from swarm_bench.core.treatment.mode_parts import Purpose
from swarm_bench.engine.plan import draw_order, iterate_groups
from swarm_bench.runtime.workspaces.omissions import sentences_on
from tests.builders.experiments import experiment

OLD = Repository(
    path="/r", kind="git", commit="a" * 40, tree="t", files=1, bytes=1, left_out=("1 link is out",)
)
NEW = OLD.model_copy(
    update={"answers": ("keys.toml",), "left_out": (*OLD.left_out, "1 file was not looked through")}
)


def test_a_session_that_goes_on_says_what_is_in_no_clone_from_now_on() -> None:
    began = datetime.now(UTC)
    grown = continue_repository(OLD, NEW, any_recorded=True)
    answers, *others = sentences_on(grown)
    assert "keys.toml" in answers
    assert tuple(others) == NEW.left_out
    assert had_keys(grown, began), "also on the day on which it goes on"
    assert had_keys(grown, None), "an older version did not record when a trial started"
    assert not had_keys(grown, datetime.now(UTC))


def test_trials_had_no_such_files_where_there_are_none_and_where_none_was_run() -> None:
    nothing = NEW.model_copy(update={"answers": ()})
    looked = OLD.model_copy(update={"answers": ()})
    for old, new, any_recorded in ((OLD, nothing, True), (OLD, NEW, False), (looked, NEW, True)):
        grown = continue_repository(old, new, any_recorded=any_recorded)
        assert not had_keys(grown, None)


def test_it_says_the_same_once_however_often_it_goes_on() -> None:
    grown = continue_repository(OLD, NEW, any_recorded=True)
    assert continue_repository(grown, NEW, any_recorded=True) == grown


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


def trials(one: Experiment) -> list[tuple[int, str, int, str]]:
    return [
        (trial.run, trial.arm, trial.number, trial.case.id)
        for block in plan(one)
        for swarm in block.groups
        for trial in swarm.trials
    ]


def ids(one: Experiment) -> set[str]:
    return {t.id for block in plan(one) for swarm in block.groups for t in swarm.trials}


def test_tasks_go_round() -> None:
    found = [(agent, task) for run, mode, agent, task in trials(experiment()) if run == 1]
    assert Counter(found) == Counter({(1, "t1"): 2, (2, "t2"): 2, (3, "t3"): 2, (4, "t1"): 2})


def test_all_tasks_gives_every_task_one_trial_per_mode_and_run() -> None:
    found = [(run, mode, task) for run, mode, _, task in trials(experiment(all_tasks=True))]
    assert Counter(found) == Counter(
        (run, mode, task)
        for run in (1, 2)
        for mode in ("baseline", "canopy")
        for task in ("t1", "t2", "t3")
    )


def test_ab_has_a_swarm_of_one_for_every_task_and_mode() -> None:
    blocks = plan(experiment(design=AB, agents=1, runs=1))
    assert [len(block.groups) for block in blocks] == [2, 2, 2]
    assert all(len(swarm.trials) == 1 for block in blocks for swarm in block.groups)
    assert [block.groups[0].trials[0].case.id for block in blocks] == ["t1", "t2", "t3"]


def on(commit: str | None, id: str) -> Task:
    return Task(id=id, title=id, prompt=f"do {id}", commit=commit)


def test_tasks_of_one_commit_share_a_swarm_and_modes_stay_close_together() -> None:
    tasks = (on("b" * 40, "t1"), on(None, "t2"), on("b" * 40, "t3"), on("a" * 40, "t4"))
    repository = Repository(path="/r", kind="git", commit="a" * 40, tree="t", files=1, bytes=1)
    one = experiment(all_tasks=True, runs=1, repository=repository).model_copy(
        update={"tasks": tasks}
    )
    blocks = plan(one)
    assert [block.order for block in blocks] == [one.order[0]] * 2
    swarms = [
        (swarm.commit, [(trial.number, trial.case.id) for trial in swarm.trials])
        for block in blocks
        for swarm in block.groups
    ]
    first, second = ("b" * 40, [(1, "t1"), (3, "t3")]), ("a" * 40, [(2, "t2"), (4, "t4")])
    assert swarms == [first, first, second, second], "the session's own commit needs no other copy"
    assert list_commits(one) == ("b" * 40, "a" * 40)
    assert one.agents_by_commit == {"b" * 40: [1, 3], "a" * 40: [2, 4]}
    assert (one.concurrency, one.at_once) == (4, 2)
    assert ids(one) == ids(one.model_copy(update={"tasks": tuple(on(None, t.id) for t in tasks)}))

    dirty = one.model_copy(update={"repository": repository.model_copy(update={"dirty": True})})
    assert [swarm.commit for block in plan(dirty) for swarm in block.groups[:1]] == [
        "b" * 40,
        None,
        "a" * 40,
    ], "a commit is not what is copied with uncommitted changes"


def test_without_commits_the_swarms_are_as_they_were() -> None:
    """Sessions are continued by the ids of their swarms and trials."""
    swarms = [swarm for block in plan(experiment()) for swarm in block.groups]
    assert {swarm.commit for swarm in swarms} == {None}
    assert [(swarm.id, swarm.trials[0].id) for swarm in swarms[:2]] == [
        ("b0745a152f12", "b74894d73dd8"),
        ("0775c37d7c5e", "fef55f5d9ad9"),
    ]


def test_what_was_drawn_stays_when_the_session_grows() -> None:
    before = draw_order(["a", "b"], 2, seed=1)
    after = draw_order(["a", "b", "c"], 4, seed=1, existing=before)
    assert after[0] == (*before[0], "c")
    assert draw_order(["a", "b"], 4, seed=1)[:2] == before
    assert len(after) == 4


def test_ids_are_stable_and_unique() -> None:
    one = experiment()
    assert len(ids(one)) == len(trials(one)) == sum(count_planned(one).values()) == 16
    assert ids(one) == ids(experiment(session="another"))


def test_the_time_is_bounded() -> None:
    one = experiment(modes=["baseline", "canopy-service"], runs=1, concurrency=2)
    assert estimate_seconds(one) == 2 * (2 * 10) + 100


def test_a_warm_preparation_has_its_time_too() -> None:
    one = experiment(modes=["baseline", "canopy"], runs=1)
    canopy = {"servers": {"s": {"command": "s"}}, "prepare": Preparation(tool="build")}
    modes = (one.modes[0], one.modes[1].model_copy(update=canopy))
    cold = one.model_copy(update={"modes": modes})
    assert estimate_seconds(cold) == 2 * 10
    assert estimate_seconds(cold.model_copy(update={"index": "warm"})) == 2 * 10 + 100


def test_the_share_that_must_be_connected_may_change() -> None:
    old = experiment()
    assert extend(old, experiment(min_connected=0.5), ids(old)).min_connected == 0.5


def test_a_session_grows_by_runs_modes_and_tasks() -> None:
    old = experiment(all_tasks=True, runs=1)
    new = experiment(
        all_tasks=True, runs=3, modes=["baseline", "extra"], tasks=["t2", "t9"], session="other"
    )
    grown = extend(old, new, ids(old))
    assert grown.session == "s"
    assert [mode.name for mode in grown.modes] == ["baseline", "canopy", "extra"]
    assert [task.id for task in grown.tasks] == ["t1", "t2", "t3", "t9"]
    assert grown.runs == 3
    assert ids(grown) > ids(old)


def test_records_that_are_not_in_the_plan_are_not_passed_over() -> None:
    with pytest.raises(UsageError, match="not in its plan"):
        extend(experiment(), experiment(runs=3), ids(experiment()) | {"another"})


def test_what_tools_are_for_stays_as_it_was() -> None:
    """So that the trials of a session that is continued have labels of one kind."""
    old = experiment(tool_purposes={"canopy": {"mcp__canopy__query": "search"}})
    now: dict[str, dict[str, Purpose | None]] = {
        "canopy": {"mcp__canopy__query": None},
        "mine": {"mcp__mine__status": "other"},
    }
    grown = add_back_ends(old, {}, now)
    assert grown.tool_purposes == {**old.tool_purposes, "mine": now["mine"]}
    read = Experiment.from_json(grown.model_dump_json())
    assert read.tool_purposes == grown.tool_purposes


def test_another_back_end_is_refused() -> None:
    old = experiment(retrieval={"canopy": Program(name="canopy-mcp", version="0.4.0")})
    now = {"canopy": Program(name="canopy-mcp", version="0.5.0")}
    with pytest.raises(UsageError, match="canopy ran with canopy-mcp 0.4.0"):
        add_back_ends(old, now, {})


def test_what_does_not_grow_is_told_as_it_was() -> None:
    said = Setting(value=4, source="environment")
    old = experiment(settings={"agents": said}, machine={"system": "first"})
    new = experiment(
        runs=3,
        settings={"agents": Setting(value=4, source="session")},
        machine={"system": "second"},
        repository=Repository(path="/moved", kind="folder", tree="t", files=1, bytes=1),
    )
    grown = extend(old, new, ids(old))
    assert grown.settings["agents"] == said
    assert (grown.machine, grown.repository.path) == ({"system": "first"}, "/r")
    assert grown.runs == 3


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"answer_format": "short"}, "another answer_format"),
        ({"agents": 2}, "--agents was 4"),
        ({"seed": 1}, "--seed was 0"),
        ({"index": "warm"}, "--index was 'cold'"),
        ({"limits": Limits(max_turns=9, timeout=10, index_timeout=100)}, "--max-turns was 5"),
        ({"runs": 1}, "--runs 1: the session has 2 runs already; give 2 or more"),
        ({"agent": Program(name="b")}, "The agent was 'a'"),
        (
            {"repository": Repository(path="/r", kind="folder", tree="u", files=1, bytes=1)},
            "is not as it was",
        ),
        (
            {"tasks": ["t1", "t2", "t3", "t4"]},
            "cannot be given more tasks",
        ),
    ],
)
def test_what_a_session_cannot_change_is_refused(changes: dict[str, Any], words: str) -> None:
    old = experiment()
    with pytest.raises(UsageError, match=words):
        extend(old, experiment(**changes), ids(old))


@pytest.mark.parametrize(
    ("dirty", "words"),
    [(False, "check out abc123456789 again, or"), (True, "with the same uncommitted changes, or")],
)
def test_the_commit_that_is_missing_is_named(dirty: bool, words: str) -> None:
    then = Repository(path="/r", kind="git", tree="t", files=1, bytes=1, commit="abc1234567890")
    old = experiment(repository=then.model_copy(update={"dirty": dirty}))
    now = experiment(repository=then.model_copy(update={"tree": "u", "commit": "fed"}))
    with pytest.raises(UsageError, match=words):
        extend(old, now, ids(old))


def test_tasks_with_commits_do_not_mind_where_the_repository_is() -> None:
    repository = Repository(path="/r", kind="git", commit="a" * 40, tree="t", files=1, bytes=1)
    changes = {"tasks": (on("b" * 40, "t1"), on("a" * 40, "t2"))}
    old = experiment(all_tasks=True, repository=repository).model_copy(update=changes)
    moved = repository.model_copy(update={"commit": "c" * 40, "tree": "u"})
    now = old.model_copy(update={"repository": moved})
    assert plan(extend(old, now, ids(old))) == plan(old)
    check_same_measurement(now, old)

    more = now.model_copy(update={"tasks": (*now.tasks, on(None, "t3"))})
    with pytest.raises(UsageError, match="is not as it was"):
        extend(old, more, ids(old))
    other = old.model_copy(update={"tasks": (on("c" * 40, "t1"),)})
    with pytest.raises(UsageError, match="or on another commit"):
        extend(old, other, ids(old))


def test_a_task_keeps_its_question() -> None:
    old = experiment(all_tasks=True)
    new = old.model_copy(update={"tasks": (Task(id="t1", title="t1", prompt="else"),)})
    with pytest.raises(UsageError, match="asks something else"):
        extend(old, new, ids(old))


def test_a_plan_that_is_asked_for_again_is_the_same_and_another_one_is_not() -> None:
    one = experiment(runs=2)
    assert plan(one.model_copy(update={"retrieval": {}})) is plan(one)
    assert plan(experiment(runs=3)) != plan(one)

from collections import Counter
from typing import Any

import pytest

from swarm_bench.app.setup.experiment import check_same_measurement
from swarm_bench.benchmarks.swarm.plan.resume import add_back_ends, extend
from swarm_bench.benchmarks.swarm.plan.swarms import (
    count_planned,
    estimate_seconds,
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
)
from swarm_bench.core.treatment.mode_parts import Purpose
from swarm_bench.engine.plan import draw_order
from tests.builders.experiments import experiment


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

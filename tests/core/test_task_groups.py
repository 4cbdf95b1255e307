"""Which tasks are not independent of each other."""

from typing import Any

import pytest

from swarm_bench.core.session.tasks import AnswerKey, Task, group_tasks
from tests.builders.recomputing import recompute_groups

HASH = "a" * 40


def together(*tasks: dict[str, Any], commit: str | None = None) -> list[set[str]]:
    """Name the groups of more than one task."""
    made = [
        Task.model_validate({"id": f"t{n}", "title": "t", "prompt": f"p{n}", **task})
        for n, task in enumerate(tasks)
    ]
    groups = group_tasks(made, commit)
    assert groups.keys() == {task.id for task in made}
    members = _members(groups)
    assert all(group in ids for group, ids in members.items())
    stored = {
        "tasks": [task.model_dump(mode="json") for task in made],
        "repository": {"commit": commit},
    }
    assert [*_members(recompute_groups(stored)).values()] == [*members.values()], "in the docs too"
    return [ids for ids in members.values() if len(ids) > 1]


def _members(groups: dict[str, str]) -> dict[str, set[str]]:
    return {group: {id for id in groups if groups[id] == group} for group in groups.values()}


def key(*files: str, **parts: Any) -> dict[str, Any]:
    return {"key": AnswerKey(files=files, **parts)}


@pytest.mark.parametrize(
    "tasks",
    [
        [key("a.py", "b.py"), key("a.py")],
        [key("a.py"), key(symbols=("a.py::f",))],
        [key(facts=("x", "y")), key(facts=("x",))],
        [{"prompt": "Where is `C++`?"}, {"prompt": "where is C++"}],
        [{"group": "login", **key("a.py")}, {"group": "login", **key("b.py")}],
        [{"group": "a.py"}, key("a.py")],
        [{"prompt": "Where  is\nit?"}, {"prompt": " Where is it? "}],
        [{"prompt": "Where is it?"}, {"prompt": "where is\u200b it"}],
        [{"prompt": "q", "group": "one", **key("a")}, {"prompt": "q", "group": "two", **key("b")}],
        [{"prompt": "q", "commit": HASH}, {"prompt": "q"}],
    ],
)
def test_tasks_that_share_something_are_one_group(tasks: list[dict[str, Any]]) -> None:
    assert together(*tasks, commit=HASH) == [{"t0", "t1"}]


@pytest.mark.parametrize(
    "tasks",
    [
        [{}, {}],
        [{"prompt": "?"}, {"prompt": "!"}],
        [key("a.py", "b.py"), key("b.py", "a.py")],
        [{"group": "one", **key("a.py")}, {"group": "two", **key("a.py")}],
        [{"prompt": "q", "commit": HASH}, {"prompt": "q"}],
        [key(facts=("x", "y")), key(facts=("y",))],
        [key("a.py", facts=("x",)), key("b.py", facts=("x",))],
        [{"prompt": "Where is C?"}, {"prompt": "Where is C++?"}],
        [{"prompt": "Where is C?"}, {"prompt": "Where is C#?"}],
    ],
)
def test_tasks_that_share_nothing_are_groups_by_themselves(tasks: list[dict[str, Any]]) -> None:
    assert together(*tasks) == []


def test_groups_are_joined_by_a_task_that_is_in_both() -> None:
    chain = [key("a.py"), {"prompt": "q", **key("a.py")}, {"prompt": "q", "group": "z"}]
    assert together(*chain, {"group": "z"}, {}) == [{"t0", "t1", "t2", "t3"}]

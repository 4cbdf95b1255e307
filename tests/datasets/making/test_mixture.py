"""A few tasks of all kinds."""

from swarm_bench.core.session.tasks import Task
from swarm_bench.datasets.making.mixture import mixture


def _tasks(*ids: str) -> list[Task]:
    """Make tasks; those whose id ends with `!` are easy."""
    return [Task(id=id, title=id, prompt=id) for id in ids]


def _ids(*kinds: str) -> list[str]:
    tasks = mixture([_tasks(*kind.split()) for kind in kinds], lambda task: task.id.endswith("!"))
    return [task.id for task in tasks]


def test_each_kind_has_its_turn_and_hard_ones_come_first() -> None:
    drawn = _ids("a1! a2 a3 a4", "b1 b2 b3", "c1! c2! c3! c4!")
    assert sorted(drawn) == ["a2", "a3", "a4", "b1", "b2", "b3", "c1!", "c2!"]


def test_at_least_four_are_hard() -> None:
    drawn = _ids("a1 a2 a3 a4 a5", "b1! b2! b3! b4!", "c1! c2! c3!")
    assert {"a1", "a2", "a3", "a4"} < set(drawn)
    assert len(set(drawn)) == 8


def test_too_few_are_none() -> None:
    assert _ids("a1 a2 a3 a4", "b1 b2 b3") == []
    assert _ids("a1 a2 a3", "b1! b2! b3! b4! b5! b6!") == []

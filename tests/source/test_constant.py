"""What an answer finds that is always the same."""

from swarm_bench.source.constant import constant_recall
from swarm_bench.source.key_measures import ROOM
from tests.builders.trees import tree_of

LINE = "value = 1\n"
LARGE = {f"shop/part_{number}.py": LINE * (100 - number) for number in range(ROOM + 3)}


def test_only_as_many_of_the_largest_count_as_of_any_answer() -> None:
    tree = tree_of({**LARGE, "docs/guide.md": LINE * 1000, "tests/test_part.py": LINE * 1000})
    last = f"shop/part_{ROOM}.py"
    assert constant_recall(tree, [last]) == 1
    assert constant_recall(tree, [f"shop/part_{ROOM + 1}.py"]) == 0
    assert constant_recall(tree, [last, f"shop/part_{ROOM + 2}.py"]) == 0.5
    assert constant_recall(tree, ["docs/guide.md"]) == 0


def test_a_small_repository_is_all_of_it() -> None:
    assert constant_recall(tree_of({"a.py": LINE, "b.go": ""}), ["a.py", "b.go"]) == 1

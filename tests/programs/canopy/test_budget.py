from swarm_bench.programs.canopy.nodes import Handle, Node, NodeType
from swarm_bench.programs.canopy.search.budget import select_within_budget


def _sized_handle(
    path: str, line: int, tokens: int = 100, kind: NodeType = NodeType.CHUNK
) -> Handle:
    start = line * 1000
    node = Node(type=kind, start=start, end=start + 4 * tokens, first_line=line, last_line=line + 5)
    return Handle(hex=f"{path}{line}", path=path, node=node, preview="")


def test_everything_that_fits_is_taken() -> None:
    handles = [_sized_handle("a.py", line) for line in (1, 2, 3)]
    assert select_within_budget(handles, "x", 300, {}) == handles


def test_near_ones_and_many_of_a_file_are_left_out() -> None:
    handles = [_sized_handle("a.py", line) for line in (1, 7, 20, 40)] + [_sized_handle("b.py", 1)]
    chosen = select_within_budget(handles, "x", 450, {})
    assert [(each.path, each.node.first_line) for each in chosen] == [
        ("a.py", 1), ("a.py", 20), ("b.py", 1),
    ]  # fmt: skip


def test_what_was_expanded_often_before_goes_first() -> None:
    chunk = _sized_handle("a.py", 1)
    function = _sized_handle("b.py", 1, kind=NodeType.FUNCTION)
    assert select_within_budget([chunk, function], "x", 100, {}) == [function]
    priors = {NodeType.CHUNK: 0.9, NodeType.FUNCTION: 0.1}
    assert select_within_budget([chunk, function], "x", 100, priors) == [chunk]

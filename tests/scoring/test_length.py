import pytest

from swarm_bench.core.ports import ScoreContext
from swarm_bench.scoring.length import Length


@pytest.mark.parametrize(
    ("text", "lines"),
    [("", None), ("one", 1), ("one\n\n\n", 1), ("one\ntwo", 2), ("\n\nthree", 3), ("-n", 1)],
)
def test_lines_of_the_answer(text: str, lines: int | None) -> None:
    context = ScoreContext(text=text, workspace="", files=frozenset())
    assert Length().score(context) == {"result_lines": lines}

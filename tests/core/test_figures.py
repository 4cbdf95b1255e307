import pytest

from swarm_bench.core.figures import total


@pytest.mark.parametrize(
    ("figures", "whole"),
    [([], None), ([None], None), ([1, None], None), ([0], 0), ([1, 2], 3), ([0.5, 1], 1.5)],
)
def test_a_sum_without_one_of_its_figures_is_missing(
    figures: list[float | None], whole: float | None
) -> None:
    assert total(figures) == whole

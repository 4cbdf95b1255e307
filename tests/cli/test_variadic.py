import pytest
from typer import BadParameter

from swarm_bench.cli.variadic import spread


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("--modes a b c", "--modes a --modes b --modes c"),
        ("--modes a b --runs 2", "--modes a --modes b --runs 2"),
        ("--modes a --modes b", "--modes a --modes b"),
        ("--modes a,b", "--modes a,b"),
        ("--agents 1 2 --modes a b", "--agents 1 --agents 2 --modes a --modes b"),
        ("--agents 4 --plan", "--agents 4 --plan"),
        ("--modes=a --runs 2", "--modes=a --runs 2"),
        ("--modes=a b --runs 2", "--modes=a --modes b --runs 2"),
        ("--agents -1", "--agents -1"),
        ("--runs 2 --modes a b", "--runs 2 --modes a --modes b"),
        ("--continue", "--continue |"),
        ("--controls", "--controls instructions"),
        ("--controls --plan", "--controls instructions --plan"),
        ("--modes a --controls", "--modes a --controls instructions"),
        ("--controls placebo --plan", "--controls placebo --plan"),
        ("--controls placebo instructions", "--controls placebo --controls instructions"),
        ("--continue --runs 2", "--continue | --runs 2"),
        ("--continue results/x", "--continue results/x"),
        ("--modes a b --continue", "--modes a --modes b --continue |"),
    ],
)
def test_several_words_after_one_option(typed: str, read: str) -> None:
    assert spread(typed.split()) == ["" if word == "|" else word for word in read.split()]


def test_a_size_must_be_given() -> None:
    with pytest.raises(BadParameter, match="--agents needs at least one value"):
        spread(["--agents", "--plan"])


@pytest.mark.parametrize("typed", ["--modes", "--modes --plan", "--runs 2 --modes --plan"])
def test_a_mode_must_be_named(typed: str) -> None:
    with pytest.raises(BadParameter, match="--modes needs at least one value"):
        spread(typed.split())

"""Agents that report tokens and no cost are priced from the tables of the user."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.builders.golden import Sentences, parts
from tests.e2e.conftest import Bench, Done

pytestmark = pytest.mark.timeout(90)

AGENT = "swarm_bench.agents.scripted:Scripted"
USAGE = {"input": 1_000_000, "cache_read": 0, "cache_create": 0, "output": 1_000_000}
PLAY: dict[str, Any] = {
    "steps": [
        {"init": {"model": "gpt-9-2026-01-01"}},
        {"answer": {"text": "See shop/auth.py.\n", "turns": 2, "usage": USAGE}},
    ]
}


def price(bench: Bench, output: float, *, of: str = "gpt-9") -> None:
    (bench.folder / "prices.toml").write_text(
        f'date = 2026-11-20\n["{of}"]\ninput = 1\ncache_write = 1\ncache_read = 1\n'
        f"output = {output}\n"
    )


def compare(bench: Bench, *arguments: str) -> Done:
    (bench.folder / "script.yaml").write_text(yaml.safe_dump([PLAY]))
    return bench.call(
        "compare", "--repo", str(bench.repo), "--modes", "baseline", "--agent", AGENT,
        "--model", "script.yaml", "--agents", "1", "--output", "out", *arguments,
    )  # fmt: skip


def costs(bench: Bench, session: str = "out") -> list[tuple[Any, Any, Any]]:
    keys = ("cost", "cost_estimated", "price_table")
    return [tuple(record[key] for key in keys) for record in bench.records(session)]


def test_a_session_keeps_the_prices_that_it_began_with(bench: Bench, golden: Sentences) -> None:
    price(bench, 4)
    done = compare(bench, "--runs", "1", "--record")
    assert done.code == 0, done.err
    of_table = (5.0, True, "prices.toml (2026-11-20)")
    assert costs(bench) == [of_table]
    golden(parts(done.out, "Notes"))
    assert bench.experiment("out")["prices"]["gpt-9"]["output"] == 4

    price(bench, 8)
    done = bench.call("compare", "--continue", "out", "--runs", "2")
    assert done.code == 0, done.err
    (trouble,) = (line for line in done.err.splitlines() if "gpt-9" in line)
    golden(trouble.partition("] ")[2])
    assert costs(bench) == [of_table, of_table]

    done = bench.call("compare", "--agent", f"replay:out/recording@{AGENT}", "--output", "rep")
    assert done.code == 0, done.err
    assert done.err.count("gpt-9") == 1
    assert set(costs(bench, "rep")) == {of_table}


def test_an_unknown_model_is_named_and_a_price_that_is_added_holds_from_then_on(
    bench: Bench,
) -> None:
    done = compare(bench, "--runs", "1", "--record")
    assert done.code == 0, done.err
    assert costs(bench) == [(None, None, None)]

    price(bench, 4, of="gpt-9-2026-01-01")
    done = bench.call("compare", "--continue", "out", "--runs", "2")
    assert done.code == 0, done.err
    assert [cost for cost, _, _ in costs(bench)] == [None, 5.0]

    done = bench.call("compare", "--agent", f"replay:out/recording@{AGENT}", "--output", "rep")
    assert done.code == 0, done.err
    assert {cost for cost, _, _ in costs(bench, "rep")} == {5.0}


def test_a_price_of_ones_own_is_no_change_of_the_records(bench: Bench, golden: Sentences) -> None:
    """Scout gives an estimate of its own, which such a price takes the place of."""
    price(bench, 4, of="rules")
    done = bench.call(
        "compare", "--repo", str(bench.repo), "--modes", "baseline", "--agents", "1", "--runs", "1",
        "--output", "out",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert costs(bench)[0][1:] == (True, "prices.toml (2026-11-20)")
    assert "gives other figures" not in bench.call("report", "out").out
    gate = bench.call("gate", "out", "--min", "completed=0.5")
    golden(parts(gate.out, "Limits"))


def test_a_wrong_file_ends_the_call_before_anything_is_made(
    bench: Bench, golden: Sentences
) -> None:
    own = bench.folder / ".config" / "swarm-bench"
    own.mkdir(parents=True)
    (own / "prices.toml").write_text('["gpt-9"]\ninput = "cheap"\n')
    for arguments in ((), ("--plan",)):
        done = compare(bench, "--runs", "1", *arguments)
        assert done.code == 2
        golden(done.err)
        assert not Path(bench.folder / "out").exists()

"""How many agents a session has, and of how many tasks, from what was asked for."""

import os
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.app.setup.choosing import check_trials, check_verdict, resolve_sizes
from swarm_bench.app.setup.experiment import check_same_measurement
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.config.layers import load
from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.designs import AB, CALIBRATE, COMPARE, Design
from swarm_bench.core.session.experiment import Repository, Setting
from tests.builders.experiments import experiment

USUAL = min(4, os.cpu_count() or 1)
"""Agents of ours at once: one more would wait for a processor."""


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def sized(given: dict[str, Any], design: Design = COMPARE, **session: object) -> object:
    stored = {name: Setting(value=value, source="default") for name, value in session.items()}
    found = resolve_sizes(load(given, session=stored), design, tasks=5)
    return found.all_tasks, found.agents, found.concurrency


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({}, (True, 4, USUAL)),
        ({"agent": "claude"}, (True, 4, 4)),
        ({"concurrency": 9}, (True, 4, 9)),
        ({"all_tasks": True}, (True, 4, USUAL)),
        ({"agents": 2}, (False, 2, 2)),
        ({"agents": 2, "all_tasks": True}, (True, 2, 2)),
        ({"agents": 2, "all_tasks": True, "concurrency": 9}, (True, 2, 9)),
        ({"block_size": 3}, (True, 4, min(3, USUAL))),
        ({"block_size": 9}, (True, 4, USUAL)),
        ({"block_size": 2, "agents": 2}, (False, 2, 2)),
        ({"block_size": 2, "agents": 4}, (False, 4, 2)),
    ],
)
def test_without_a_number_of_agents_every_task_has_one(
    given: dict[str, Any], found: tuple[object, ...]
) -> None:
    assert sized(given) == sized(given, CALIBRATE) == found
    assert sized(given, AB) == (True, 1, 1)


def test_a_concurrency_that_was_not_typed_is_an_upper_bound() -> None:
    Path("swarm-bench.toml").write_text("concurrency = 2\n")
    assert sized({"agents": 1}) == (False, 1, 1)
    assert sized({"agents": 3}) == (False, 3, 2)


def test_agents_that_share_out_the_tasks_limit_how_many_run_at_once() -> None:
    with pytest.raises(UsageError, match="--concurrency 9 is more than the 2 agents of a swarm"):
        sized({"agents": 2, "concurrency": 9})


def test_a_session_goes_on_as_it_began(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, four agents shared out the tasks when nobody said how many."""
    monkeypatch.setenv("SWARM_BENCH_AGENTS", "3")
    assert sized({}, agents=[4], all_tasks=False) == (False, 4, 4)
    assert sized({}, agents=[], all_tasks=False) == (True, 4, USUAL)


def test_more_trials_than_a_summary_can_be_made_of_are_refused() -> None:
    check_trials(resolve_sizes(load({}), COMPARE, 100), 1000, 100)
    many = r"^That is 200,000 trials, and a session has at most 100,000; "
    with pytest.raises(UsageError, match=many + "lower --agents or --runs$"):
        check_trials(resolve_sizes(load({"agents": 1000}), COMPARE, 5), 200, 5)
    with pytest.raises(UsageError, match=many + "ask fewer tasks or lower --runs$"):
        check_trials(resolve_sizes(load({}), COMPARE, 100), 2000, 100)


def test_a_size_on_another_commit_names_the_one_of_the_series() -> None:
    commit = Repository(path="/r", kind="git", tree="t", files=1, bytes=1, commit="abc1234567890")
    before = experiment(repository=commit)
    now = experiment(repository=commit.model_copy(update={"tree": "u", "commit": "fed"}))
    with pytest.raises(UsageError, match="check out abc123456789 again, or start a new series"):
        check_same_measurement(now, before)


@pytest.mark.parametrize("key", ["happiness", "file_recall", "grounded", "cost_per_right_answer"])
def test_a_verdict_is_on_a_metric_of_which_less_is_better(key: str) -> None:
    for usual in ("effective_tokens", "cost", "wall_seconds", "num_turns"):
        check_verdict({"primary": usual}, METRICS)
    with pytest.raises(UsageError, match=f"--primary {key}: a verdict is on a metric of which"):
        check_verdict({"primary": key}, METRICS)


@pytest.mark.parametrize("key", ["references", "effective_tokens", "file_first_rank", "joy"])
def test_a_quality_is_a_share_of_which_more_is_better(key: str) -> None:
    for usual in ("file_recall", "right_answer", "success_rate", None):
        check_verdict({"quality": usual}, METRICS)
    with pytest.raises(UsageError, match=f"--quality {key}: a verdict is on a metric from 0 to 1"):
        check_verdict({"quality": key}, METRICS)


def test_a_metric_that_is_misspelt_gets_the_nearest_ones() -> None:
    with pytest.raises(UsageError, match=r"did you mean 'file_recall'\? There are also right"):
        check_verdict({"quality": "file_recal"}, METRICS)


@pytest.mark.parametrize(("written", "share"), [("10%", 0.1), ("0.2", 0.2), (" 7.5% ", 0.075)])
def test_a_margin_is_a_percentage_or_a_share(written: str, share: float) -> None:
    assert load({"margin": written}).settings.margin == pytest.approx(share)


@pytest.mark.parametrize("written", ["ten", "x%", "15", "0", "100%", "-5%"])
def test_other_margins_are_refused(written: str) -> None:
    with pytest.raises(UsageError, match="--margin"):
        load({"margin": written})


def test_blocks_that_are_smaller_than_what_runs_at_once_are_refused() -> None:
    with pytest.raises(UsageError, match="--block-size 2: 3 agents run at once"):
        resolve_sizes(load({"block_size": 2, "concurrency": 3}), COMPARE, tasks=5)


def test_a_block_size_that_was_not_typed_gives_way_to_a_number_of_agents() -> None:
    Path("swarm-bench.toml").write_text("block_size = 2\n")
    assert sized({"agents": 4}) == (False, 4, 4)
    assert sized({}) == (True, 4, min(2, USUAL))

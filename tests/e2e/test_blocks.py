"""Sessions in blocks: an agent that gets dearer, a session that is killed, one that was edited, and
an older one."""

import json
import math
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
import yaml

from tests.builders.golden import Sentences
from tests.e2e.conftest import Bench, Done

pytestmark = pytest.mark.timeout(180)

MODES = ("baseline", "idle")


@pytest.fixture(autouse=True)
def _set_up(bench: Bench) -> None:
    """Eight tasks, a mode that gives nothing, and an agent that gets dearer."""
    tasks = [{"id": f"t{n}", "title": f"t{n}", "prompt": f"What is {n}?"} for n in range(8)]
    (bench.folder / "tasks.yaml").write_text(yaml.safe_dump({"tasks": tasks}))
    mode = {"mcpServers": {}, "swarmBench": {"instructions": "Take your time."}}
    (bench.folder / "idle.json").write_text(json.dumps(mode))
    program, asked = Path(__file__).with_name("dearer_agent.py"), bench.folder / "asked"
    agent = {
        "name": "dearer",
        "command": [sys.executable, "-I", str(program), str(asked), "{{ prompt }}"],
        "mcp": "none",
        "turns": {"limit": "none"},
        "output": {
            "format": "json",
            "answer": "$.answer",
            "tokens": {
                name: f"$.usage.{name}"
                for name in ("input", "cache_read", "cache_create", "output")
            },
        },
    }
    (bench.folder / "dearer.yaml").write_text(yaml.safe_dump(agent))


def arguments(bench: Bench, *more: str) -> tuple[str, ...]:
    return (
        "compare", "--repo", str(bench.repo), "--modes", "baseline", "./idle.json",
        "--tasks", "./tasks.yaml", "--runs", "1", "--agent", "./dearer.yaml",
        "--output", "out", *more,
    )  # fmt: skip


def run(bench: Bench, *more: str) -> Done:
    return bench.call(*arguments(bench, *more))


def files(bench: Bench) -> dict[str, bytes]:
    """The content of the session's folder."""
    folder = bench.folder / "out"
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def ratio(bench: Bench) -> float:
    """What the idle mode spent of what the baseline spent, typically."""
    logs = {
        mode: fmean(
            math.log(record["effective_tokens"])
            for record in bench.records("out")
            if record["mode"] == mode
        )
        for mode in MODES
    }
    return math.exp(logs["idle"] - logs["baseline"])


def test_what_an_agent_gets_dearer_by_falls_on_all_modes_alike(bench: Bench) -> None:
    done = run(bench)
    assert done.code == 0, done.err
    experiment = bench.experiment("out")
    assert experiment["blocks"] == [[1, 2, 3, 4], [5, 6, 7, 8]]
    first, second = experiment["order"]
    assert first == second[::-1]
    assert 0.97 < ratio(bench) < 1.03
    assert "told apart" not in done.out


def test_in_a_single_block_the_order_looks_like_the_mode_and_the_headline_says_so(
    bench: Bench,
) -> None:
    done = run(bench, "--concurrency", "8")
    assert done.code == 0, done.err
    assert bench.experiment("out")["blocks"] == [[1, 2, 3, 4, 5, 6, 7, 8]]
    assert abs(math.log(ratio(bench))) > 0.1
    assert "baseline in the only block, so order and mode cannot be told apart" in done.out


def test_a_session_that_is_killed_keeps_its_blocks(bench: Bench, golden: Sentences) -> None:
    process = bench.start(*arguments(bench, "--block-size", "1"))
    while len(bench.records("out")) < 5:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    before = bench.experiment("out")
    assert len(before["blocks"]) == 8
    done = bench.call("compare", "--continue", "out")
    assert done.code == 0, done.err
    after = bench.experiment("out")
    assert (after["blocks"], after["order"]) == (before["blocks"], before["order"])
    ended = [(one["mode"], one["agent"]) for one in bench.records("out")]
    assert sorted(ended) == [(mode, agent) for mode in MODES for agent in range(1, 9)]

    done = bench.call("compare", "--continue", "out", "--runs", "2")
    assert done.code == 0, done.err
    more = bench.experiment("out")["order"]
    assert more[:8] == before["order"]
    assert [order[::-1] for order in more[8::2]] == more[9::2]
    assert len(bench.records("out")) == 32
    refused = bench.call("compare", "--continue", "out", "--block-size", "4")
    assert (refused.code, len(bench.records("out"))) == (2, 32)
    golden(refused.err)


def _doubled(session: dict[str, Any]) -> None:
    session["blocks"][0].append(5)


def _emptied(session: dict[str, Any]) -> None:
    session["blocks"][0] = []


def _renamed(session: dict[str, Any]) -> None:
    session["order"][0] = ["baseline", "another"]


def _halved(session: dict[str, Any]) -> None:
    session["order"][0] = ["baseline"]


def _shortened(session: dict[str, Any]) -> None:
    del session["order"][0]


def _misspelt(session: dict[str, Any]) -> None:
    session["blocks"] = "1-4, 5-8"


def test_blocks_that_contradict_the_session_are_refused_and_nothing_is_lost(bench: Bench) -> None:
    assert run(bench).code == 0
    file = bench.folder / "out" / "experiment.json"
    whole = file.read_text()
    edits: tuple[Callable[[dict[str, Any]], None], ...] = (
        _doubled, _emptied, _renamed, _halved, _shortened, _misspelt,
    )  # fmt: skip
    for edit in edits:
        session = json.loads(whole)
        edit(session)
        file.write_text(json.dumps(session))
        before = files(bench)
        for command in (["compare", "--continue", "out"], ["report", "out"]):
            done = bench.call(*command)
            assert (done.code, done.err.count("\n")) == (2, 1), done.err
            assert "experiment.json" in done.err
        assert files(bench) == before
    file.write_text(whole)
    assert bench.call("report", "out").code == 0


def test_an_older_session_is_continued_with_whole_runs(bench: Bench, golden: Sentences) -> None:
    assert run(bench, "--concurrency", "8").code == 0
    file = bench.folder / "out" / "experiment.json"
    session = json.loads(file.read_text())
    del session["blocks"], session["settings"]["block_size"]
    file.write_text(json.dumps({**session, "schema_version": 3}))
    refused = bench.call("compare", "--continue", "out", "--runs", "2", "--block-size", "4")
    assert (refused.code, len(bench.records("out"))) == (2, 16)
    golden(refused.err)
    done = bench.call("compare", "--continue", "out", "--runs", "2")
    assert done.code == 0, done.err
    grown = bench.experiment("out")
    assert grown["blocks"] is None
    assert grown["order"][0] == session["order"][0]
    assert [len(swarm["agents"]) for swarm in bench.lines("out", "retrieval.jsonl")] == [8] * 4


def test_blocks_are_larger_where_an_earlier_session_shows_that_setting_up_takes_long(
    bench: Bench,
) -> None:
    """The mode's clones take a second, and its agents a few tenths of one."""
    prepare = {"command": [sys.executable, "-c", "import time; time.sleep(1)"], "when": "always"}
    mode = {"mcpServers": {}, "swarmBench": {"prepare": prepare}}
    (bench.folder / "idle.json").write_text(json.dumps(mode))
    tasks = [{"id": f"t{n}", "title": f"t{n}", "prompt": f"What is {n}?"} for n in range(30)]
    (bench.folder / "many.yaml").write_text(yaml.safe_dump({"tasks": tasks}))
    assert "4 per run, of 7 to 8 tasks" in run(bench, "--tasks", "./many.yaml", "--plan").out
    assert run(bench, "--agents", "2", "--output", "results/before").code == 0
    plan = run(bench, "--tasks", "./many.yaml", "--plan").out
    assert "2 per run, of 15 tasks" in plan
    assert re.search(r"idle: 2 × \d\.\d s, \d+ % of its time in a block of 15 tasks", plan)


def test_a_block_size_below_the_number_of_agents_is_kept_when_the_session_goes_on(
    bench: Bench,
) -> None:
    assert run(bench, "--agents", "4", "--block-size", "2").code == 0
    done = bench.call("compare", "--continue", "out", "--runs", "2")
    assert done.code == 0, done.err
    after = bench.experiment("out")
    assert (after["concurrency"], after["blocks"]) == (2, [[1, 2], [3, 4]])
    assert len(bench.records("out")) == 2 * 2 * 4


@pytest.mark.parametrize("size", ["0", "-1", "x", "1.5"])
def test_what_is_no_size_is_refused(bench: Bench, size: str) -> None:
    done = run(bench, f"--block-size={size}")
    assert (done.code, done.err.count("\n")) == (2, 1), done.err
    assert "--block-size" in done.err
    assert not (bench.folder / "out").exists()

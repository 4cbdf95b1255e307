"""Sessions that end when their verdict stands: where they stop, and what makes none of them stop
with a gain or run for ever."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
import yaml

from tests.builders.golden import Sentences
from tests.e2e.conftest import Bench, Done

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

MODES = ("baseline", "./frugal.json")
AGENT = "swarm_bench.agents.scripted:Scripted"
LIMITED = {"error": {"text": "API Error: 429 rate limit reached"}}
MODE = {"mcpServers": {}, "swarmBench": {"instructions": "Search."}}


def answer(number: int, spent: float, **more: Any) -> dict[str, Any]:
    usage = {"input": round(spent), "cache_read": 0, "cache_create": 0, "output": 10}
    text = f"Thing {number} is in `part{number}.py:1`."
    figures = {"turns": 2, "cost": 0.001, "usage": usage, "spread": 0.1}
    return {"answer": {"text": text, **figures, **more}}


def prepare(
    bench: Bench,
    tasks: int,
    saves: float = 0.5,
    step: dict[str, Any] | None = None,
    **more: Any,
) -> None:
    """Write tasks that differ in what they take, and a mode that takes so much of it; `step` is
    what its agents do instead of an answer in every second task."""
    plays = []
    for number in range(tasks):
        (bench.repo / f"part{number}.py").write_text(f"def thing_{number}():\n    return 1\n")
        prompt, spent = f"Where is thing {number:02}?", 1000 * 1.2**number
        own = step if step and number % 2 else answer(number, saves * spent, **more)
        for words, end in ((f"Search.\n\n{prompt}", own), (prompt, answer(number, spent, **more))):
            steps = [{"init": {"tools": ["Read"]}}, end]
            plays.append({"when": {"prompt": words}, "steps": steps})
    asked = [
        {
            "id": f"t{number}",
            "title": f"t{number}",
            "prompt": f"Where is thing {number:02}?",
            "key": {"files": [f"part{number}.py"]},
        }
        for number in range(tasks)
    ]
    (bench.folder / "script.json").write_text(json.dumps(plays))
    (bench.folder / "tasks.yaml").write_text(yaml.safe_dump({"tasks": asked}))
    (bench.folder / "frugal.json").write_text(json.dumps(MODE))


def run(
    bench: Bench,
    *arguments: str,
    modes: Sequence[str] = MODES,
    limit: Sequence[str] = ("--max-cost", "5"),
) -> Done:
    return bench.call(
        "compare", "--repo", str(bench.repo), "--dirty", "--modes", *modes,
        "--agent", AGENT, "--model", "script.json", "--tasks", "./tasks.yaml", "--output", "out",
        "--quality-margin", "0.35", "--until-clear", "--concurrency", "2", *limit, *arguments,
    )  # fmt: skip


def experiment(bench: Bench) -> dict[str, Any]:
    stored: dict[str, Any] = json.loads((bench.folder / "out" / "experiment.json").read_text())
    return stored


def state(bench: Bench) -> tuple[list[int], bool, Counter[str]]:
    """After how many tasks it was looked at, whether its verdict stands, and its trials."""
    looks = experiment(bench)["looks"]
    trials = Counter(record["mode"] for record in bench.records("out"))
    return [look["tasks"] for look in looks], looks[-1]["stands"], trials


def note(done: Done) -> str:
    return next((line for line in done.out.splitlines() if "--until-clear, named" in line), "")


def test_it_stops_when_the_verdict_stands_and_stays_stopped(
    bench: Bench, golden: Sentences
) -> None:
    prepare(bench, 24)
    done = run(bench)
    assert done.code == 0, done.err
    assert "--plan says more" in done.err
    golden(next(line for line in done.err.splitlines() if "further block" in line)[11:])
    looks, stands, trials = state(bench)
    assert stands
    assert looks == [6, 12]
    assert trials == {"baseline": 12, "frugal": 12}
    stored = experiment(bench)
    assert stored["beforehand"]["until_clear"] is True
    assert len(stored["tasks"]) == 24
    assert [task["id"] for task in stored["tasks"]] != [f"t{number}" for number in range(24)]
    told = [line[11:] for line in done.err.splitlines() if " tasks: " in line]
    assert told == [
        "6 of 24 tasks: no verdict yet on frugal",
        "12 of 24 tasks: the verdict stands",
    ]
    golden(note(done))
    assert note(bench.call("report", "out")) == note(done)

    again = bench.call("compare", "--continue", "out", "--max-cost", "5")
    assert again.code == 0, again.err
    assert state(bench) == ([6, 12], True, trials)
    golden(next(line for line in again.err.splitlines() if "--until-clear" in line)[11:])


def test_a_replay_ends_where_the_recording_does(bench: Bench, golden: Sentences) -> None:
    prepare(bench, 24)
    done = run(bench, "--record")
    assert done.code == 0, done.err
    recorded = f"replay:out/recording@{AGENT}"
    for margin, verdict in (("0.35", "helps"), ("0.1", "spends less, answers unclear")):
        arguments = ("--output", f"again-{margin}", "--quality-margin", margin)
        again = bench.call("compare", "--agent", recorded, *arguments)
        assert again.code == 0, again.err
        assert f"- **frugal {verdict}.**" in again.out
        golden(note(again))
    done = bench.call("compare", "--agent", recorded, "--output", "new", "--until-clear")
    assert done.code == 2
    golden(done.err)


def test_no_verdict_stands_where_money_ended_the_recording(bench: Bench) -> None:
    prepare(bench, 24, cost=0.01, spread=0.0)
    done = run(bench, "--record", "--max-cost", "0.13")
    assert done.code == 4, done.err
    replayed = ("compare", "--agent", f"replay:out/recording@{AGENT}", "--output", "again")
    for arguments in (replayed, ("compare", "--continue", "again")):
        done = bench.call(*arguments)
        assert done.code == 0, done.err
        stored = json.loads((bench.folder / "again" / "experiment.json").read_text())
        assert [(look["tasks"], look["stands"]) for look in stored["looks"]] == [(6, False)]
        assert len(bench.records("again")) == 12
        assert "verdict stood" not in done.err


def test_money_ends_it_and_more_continues_it(bench: Bench) -> None:
    prepare(bench, 24, cost=0.01, spread=0.0)
    done = run(bench, "--max-cost", "0.13")
    assert done.code == 4, done.err
    assert state(bench)[:2] == ([6], False)
    told = "] 6 of 24 tasks: no verdict yet on frugal"
    assert told in done.err
    assert "helps" not in done.out.partition("## Warnings")[0]
    done = bench.call("compare", "--continue", "out", "--max-cost", "5")
    assert done.code == 0, done.err
    assert told in done.err
    assert state(bench)[:2] == ([6, 12], True)


def test_tasks_that_run_out_are_no_verdict(bench: Bench, golden: Sentences) -> None:
    prepare(bench, 6)
    done = run(bench)
    assert done.code == 0, done.err
    looks, stands, _ = state(bench)
    assert (sum(looks), stands) == (6, False) or (looks, stands) == ([3, 6], False)
    assert "cannot tell yet" in done.out
    golden(note(done))


@pytest.mark.parametrize(
    "why", ["a tool that never connects", "an idle tool", "lost trials", "no answers", "a limit"]
)
def test_what_is_no_evidence_stops_nothing_with_a_gain(bench: Bench, why: str) -> None:
    failure = {"error": {"text": "I give up", "subtype": "error_during_execution"}}
    prepare(bench, 12, step={"no answers": failure, "lost trials": LIMITED}.get(why))
    script = bench.folder / "script.json"
    plays = json.loads(script.read_text())
    if why == "a limit":
        script.write_text(json.dumps([{**play, "steps": [LIMITED]} for play in plays]))
    if "tool" in why:
        status = "connected" if why == "an idle tool" else "failed"
        init = {"init": {"tools": ["Read"], "servers": {"canopy": status}}}
        own = [
            {
                "when": {"prompt": play["when"]["prompt"][9:], "servers": ["canopy"]},
                "steps": [init, play["steps"][1]],
            }
            for play in plays[::2]
        ]
        script.write_text(json.dumps([*own, *plays]))
    done = run(bench, modes=("baseline", "canopy") if "tool" in why else MODES)
    looks, stands, trials = state(bench)
    assert not stands, done.out
    assert looks[-1] == 12
    assert max(trials.values()) == 12
    headline = done.out.partition("## Warnings")[0]
    assert "helps" not in headline
    assert "makes no difference" not in headline


def test_an_ordinary_session_cannot_become_one(bench: Bench, golden: Sentences) -> None:
    prepare(bench, 4)
    arguments = ["compare", "--repo", str(bench.repo), "--dirty", "--modes", "baseline"]
    arguments += ["--agent", AGENT, "--model", "script.json", "--tasks", "./tasks.yaml"]
    done = bench.call(*arguments, "--runs", "1", "--output", "out")
    assert done.code == 0, done.err
    done = bench.call("compare", "--continue", "out", "--until-clear")
    assert done.code == 2
    golden(done.err)
    assert "until_clear" not in experiment(bench)["beforehand"]


def test_one_stays_what_it_is(bench: Bench, golden: Sentences) -> None:
    prepare(bench, 6)
    assert run(bench).code == 0
    done = bench.call("compare", "--continue", "out", "--runs", "3")
    assert done.code == 2
    golden(done.err)


@pytest.mark.parametrize(
    ("modes", "arguments"),
    [(MODES, ("--runs", "3")), (MODES, ("--agents", "2")), (("baseline",), ())],
    ids=["runs", "agents", "a single mode"],
)
def test_what_it_cannot_be_is_refused_before_anything_is_paid(
    bench: Bench, golden: Sentences, modes: tuple[str, ...], arguments: tuple[str, ...]
) -> None:
    prepare(bench, 4)
    done = run(bench, *arguments, modes=modes)
    assert done.code == 2, done.out
    assert not (bench.folder / "out" / "experiment.json").exists()
    golden(done.err)


@pytest.mark.parametrize("more", [(), ("--plan",)], ids=["run", "plan"])
def test_who_may_pay_says_how_much(bench: Bench, golden: Sentences, more: Sequence[str]) -> None:
    prepare(bench, 4)
    done = run(bench, *more, limit=())
    assert done.code == 2, done.out
    assert not (bench.folder / "out" / "experiment.json").exists()
    golden(done.err)
    assert run(bench, "--plan").code == 0


def rescored(bench: Bench) -> None:
    """Have half of the answers be wrong, by keys that name another file."""
    asked = yaml.safe_load((bench.folder / "tasks.yaml").read_text())
    for number, task in enumerate(asked["tasks"]):
        if number % 2:
            task["key"] = {"files": ["part1.py"]}
    (bench.folder / "other.yaml").write_text(yaml.safe_dump(asked))
    done = bench.call("rescore", "out", "--tasks", "other.yaml")
    assert done.code == 0, done.err


def going_on(done: Done) -> str:
    return next(line for line in done.err.splitlines() if "stood after" in line)[11:]


def test_it_goes_on_when_its_verdict_does_not_stand_any_more(
    bench: Bench, golden: Sentences
) -> None:
    prepare(bench, 24)
    assert run(bench).code == 0
    assert state(bench)[:2] == ([6, 12], True)
    rescored(bench)
    plan = bench.call("compare", "--continue", "out", "--max-cost", "5", "--plan")
    assert "24 to run" in plan.out, plan.out
    again = bench.call("compare", "--continue", "out", "--max-cost", "5")
    assert again.code == 0, again.err
    golden(going_on(again))
    looks, _, trials = state(bench)
    assert looks[:4] == [6, 12, 12, 18]
    assert [look["stands"] for look in experiment(bench)["looks"]][1:3] == [True, False]
    assert trials["frugal"] == trials["baseline"] == looks[-1]


def test_a_mode_that_is_added_is_looked_at_once_it_has_what_the_others_have(
    bench: Bench, golden: Sentences
) -> None:
    prepare(bench, 24)
    (bench.folder / "same.json").write_text(json.dumps({"mcpServers": {}}))
    assert run(bench).code == 0
    assert state(bench)[:2] == ([6, 12], True)
    modes = ("--modes", *MODES, "./same.json")
    again = bench.call("compare", "--continue", "out", "--max-cost", "5", *modes)
    assert again.code == 0, again.err
    golden(going_on(again))
    looks, stands, trials = state(bench)
    assert looks[:4] == [6, 12, 12, 12], "before its trials, and after all of its blocks"
    assert stands or looks[-1] == 24
    assert set(trials.values()) == {looks[-1]}
    done = bench.call("compare", "--continue", "out", "--max-cost", "5", *modes)
    assert (done.code, state(bench)) == (0, (looks, stands, trials)), done.err


@pytest.mark.parametrize("mode", ["both", "one"])
def test_it_ends_when_nothing_tells_what_its_verdict_is_on(
    bench: Bench, golden: Sentences, mode: str
) -> None:
    prepare(bench, 24)
    script = bench.folder / "script.json"
    plays = json.loads(script.read_text())
    for play in plays[:: 1 if mode == "both" else 2]:
        del play["steps"][1]["answer"]["usage"]["cache_read"]
    script.write_text(json.dumps(plays))
    done = run(bench)
    assert done.code == 4, done.err
    golden(done.err.splitlines()[-1])
    trials = bench.records("out")
    assert Counter(record["mode"] for record in trials) == {"baseline": 6, "frugal": 6}
    assert state(bench)[:2] == ([6], False)
    assert "helps" not in done.out
    for more in ((), ("--modes", *MODES, "canopy"), ("--plan",)):
        again = bench.call("compare", "--continue", "out", "--max-cost", "5", *more)
        assert again.code == 4, again.err
        assert bench.records("out") == trials
    assert run(bench, "--primary", "cost", "--output", "new").code == 0

"""A placebo runs like the tool whose names it has, and never ends as a win of its own."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from swarm_bench.analysis.comparison.controls import OF_A_PLACEBO
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.core.ports import ToolSpec
from swarm_bench.core.report.report import Report
from swarm_bench.core.report.standing import Standing
from swarm_bench.core.session.records import SessionData, SwarmRecord, TrialRecord
from swarm_bench.programs.canopy.mcp.server import TOOLS
from swarm_bench.retrieval.placebo.drawing import make_placebo_tool
from swarm_bench.retrieval.placebo.material import Material, Passage, name_script
from tests.builders.golden import Sentences
from tests.builders.reports import has_qualifications, summarise
from tests.e2e.conftest import Bench, Done

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

PAINTS = {f"paints/p{number}.txt": f"blue {number}\nred\ngreen\n" for number in range(6)}
"""Files that have nothing to do with any task of the exploration."""

TOKENS = ("input", "cache_read", "cache_create", "output")


@pytest.fixture
def painted(bench: Bench) -> Bench:
    """A repository with such files."""
    for name, text in PAINTS.items():
        (bench.repo / name).parent.mkdir(exist_ok=True)
        (bench.repo / name).write_text(text)
    script = "git add -A && git -c user.name=me -c user.email=me@example.org commit -qm two"
    subprocess.run(["sh", "-c", script], cwd=bench.repo, check=True)
    return bench


def compare(bench: Bench, *arguments: str) -> Done:
    done = bench.call("compare", "--quiet", "--repo", str(bench.repo), *arguments)
    assert done.code == 0, done.err
    return done


def report(bench: Bench) -> Report:
    return summarise(SessionFolder(bench.folder / "out").read())


def standings(found: Report) -> dict[str, Standing]:
    return {one.mode: one for one in found.headline.standings}


def trials(found: Report) -> dict[str, TrialRecord]:
    """The trial of the first run of each mode."""
    return {trial.mode: trial for trial in reversed(found.trials)}


def answered(bench: Bench, run: int, mode: str) -> set[str]:
    """Files of the repository that the mode's own tools named to its agent."""
    stream = bench.folder / "out" / f"run-{run}" / mode / "agent-1.stream.jsonl"
    events = [json.loads(line) for line in stream.read_text().splitlines()]
    blocks = [block for event in events for block in event.get("message", {}).get("content", [])]
    calls = {
        block["id"]
        for block in blocks
        if block["type"] == "tool_use" and block["name"].startswith("mcp__")
    }
    texts = [block["content"] for block in blocks if block.get("tool_use_id") in calls]
    assert texts
    return {name for name in [*PAINTS, "shop/auth.py"] if any(name in text for text in texts)}


@pytest.mark.long
def test_a_placebo_runs_beside_its_mode_and_the_same_one_when_continued(
    painted: Bench, golden: Sentences
) -> None:
    arm = "canopy-service-placebo"
    words = ("--modes", "baseline", "canopy-service", "--controls", "placebo", "--agents", "1")
    plan = compare(painted, *words, "--runs", "2", "--plan")
    (control,) = (line for line in plan.out.splitlines() if f"{arm} (placebo" in line)
    golden(control)
    compare(painted, *words, "--runs", "1", "--output", "out")
    compare(painted, "--continue", "out", "--runs", "2")
    found = report(painted)
    by_mode, said = trials(found), standings(found)
    assert (by_mode["baseline"].retrieval, by_mode[arm].retrieval) == ("not-given", "used")
    assert (by_mode[arm].backend or "").startswith("swarm-bench-placebo ")
    assert answered(painted, 1, arm)
    assert answered(painted, 1, arm) <= set(PAINTS)
    assert answered(painted, 2, arm) == answered(painted, 1, arm)
    assert "shop/auth.py" in answered(painted, 1, "canopy-service")
    assert said[arm].qualifications == (OF_A_PLACEBO,)
    swarm = _swarm(painted, arm)
    assert (swarm.service_seconds, swarm.after) == (None, {})
    assert found.headline.ratios
    assert [column.mode for column in found.headline.ratios.columns] == ["canopy-service"]
    shown = {row.metric.key for row in found.headline.ratios.rows}
    assert not shown & {"total_tokens", "effective_tokens", "cost", "num_turns"}
    assert [one.kind for one in found.controls] == ["placebo"]
    assert _overhead(painted, arm) == _overhead(painted, "canopy-service")


def test_an_agent_that_spends_least_with_a_placebo_makes_no_win_of_it(painted: Bench) -> None:
    """As an arm, and where a user gives such a server as a tool of its own."""
    mode = _placebo_as_a_mode(painted.folder)
    done = compare(
        painted, "--agent", _agent(painted.folder), "--modes", "baseline", "canopy", mode,
        "--controls", "placebo", "--agents", "1", "--runs", "1", "--output", "out",
    )  # fmt: skip
    found = report(painted)
    by_mode, said = trials(found), standings(found)
    assert _greeted(painted, "canopy-placebo") == _greeted(painted, "canopy")
    assert (by_mode["canopy-placebo"].backend or "").startswith("swarm-bench-placebo ")
    spent = {mode: trial.total_tokens or 0 for mode, trial in by_mode.items()}
    assert spent["canopy-placebo"] < spent["canopy"] < spent["baseline"]
    assert spent["mine"] < spent["canopy"]
    assert {trial.retrieval for mode, trial in by_mode.items() if mode != "baseline"} == {"used"}
    untold = "what its tools answered cannot be told"
    assert said["canopy-placebo"].qualifications == (OF_A_PLACEBO, untold)
    (qualification, other, _) = said["canopy"].qualifications
    assert "Reported tokens" in qualification
    assert other == untold
    assert found.headline.ratios
    assert {column.mode for column in found.headline.ratios.columns} == {"canopy", "mine"}
    assert has_qualifications(found.headline)
    part = done.out.partition("## Headline")[2].partition("\n## ")[0]
    assert "here are no caveats" not in part
    alone = summarise(_only(painted, "baseline", "mine")).headline
    assert alone.ratios
    assert alone.remark.startswith("Correctness was not measured")


@pytest.mark.long
def test_a_placebo_finds_next_to_nothing_and_its_mode_the_right_files(painted: Bench) -> None:
    tasks = [
        ("sessions", "Which file checks the token of a request?", "shop/auth.py"),
        ("queue", "Which file has the queue of background jobs?", "shop/jobs.py"),
    ]
    suite = painted.folder / "keyed.yaml"
    entries = [
        {"id": name, "title": name, "prompt": prompt, "key": {"files": [path], "facts": [path]}}
        for name, prompt, path in tasks
    ]
    suite.write_text(yaml.safe_dump({"tasks": entries}))
    done = compare(
        painted, "--tasks", str(suite), "--modes", "baseline", "canopy", "--controls", "placebo",
        "--runs", "1", "--output", "out",
    )  # fmt: skip
    found = report(painted).headline
    assert found.correctness is not None
    modes = report(painted).modes
    rows = {row.metric.key: row.figures for row in found.correctness.rows}
    for figures in (rows["file_recall"], rows["right_answer"]):
        values = dict(zip(modes, figures, strict=True))
        shares = {mode: figure.value for mode, figure in values.items() if figure}
        assert (shares["canopy"], shares["canopy-placebo"]) == (1, 0)
    headline = done.out.partition("## Headline")[2]
    assert headline.index("| Right answers") < headline.index("| Wall time")


def test_a_repository_without_anything_irrelevant_is_refused_before_anything_runs(
    bench: Bench, golden: Sentences
) -> None:
    for more in (("--plan",), ()):
        words = (
            "--repo",
            str(bench.repo),
            "--modes",
            "baseline",
            "canopy",
            "--controls",
            "placebo",
        )
        done = bench.call("compare", *words, "--output", "out", *more)
        assert done.code == 2
        golden(done.err)
    assert not (bench.folder / "out").exists()


def _only(bench: Bench, *modes: str) -> SessionData:
    """The session as if it had had no other modes."""
    data = SessionFolder(bench.folder / "out").read()
    experiment = data.experiment
    kept = tuple(experiment.mode(mode) for mode in modes)
    return replace(
        data,
        experiment=experiment.model_copy(update={"modes": kept}),
        trials=tuple(trial for trial in data.trials if trial.mode in modes),
        swarms=tuple(swarm for swarm in data.swarms if swarm.mode in modes),
        planned={mode: number for mode, number in data.planned.items() if mode in modes},
    )


def _swarm(bench: Bench, mode: str) -> SwarmRecord:
    swarms = SessionFolder(bench.folder / "out").read().swarms
    return next(swarm for swarm in swarms if swarm.mode == mode)


def _overhead(bench: Bench, mode: str) -> tuple[Any, ...]:
    """What the tools of a mode add to each request."""
    lines = (bench.folder / "out" / "overhead.jsonl").read_text().splitlines()
    line = next(line for line in map(json.loads, lines) if line["mode"] == mode)
    names = ("tools", "tool_tokens", "server_instruction_tokens", "mode_instruction_tokens")
    return tuple(line[name] for name in names)


def _greeted(bench: Bench, mode: str) -> Any:
    """Who the servers told the frugal agent that they are, in a session of one run."""
    stream = bench.folder / "out" / mode / "agent-1.stream.jsonl"
    greeted = json.loads(stream.read_text())["greeted"]
    assert greeted
    return greeted


def _agent(folder: Path) -> str:
    """The frugal agent, described by a file."""
    program = Path(__file__).with_name("frugal_agent.py")
    content = {
        "name": "frugal",
        "command": [sys.executable, "-I", str(program), "{{ mcp_config }}", "{{ prompt }}"],
        "turns": {"limit": "none"},
        "output": {
            "format": "json",
            "answer": "$.answer",
            "tokens": {name: f"$.usage.{name}" for name in TOKENS},
            "tools": {"calls": "$.calls[*]", "servers": "$.servers[*]"},
        },
    }
    path = folder / "frugal.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return str(path)


def _placebo_as_a_mode(folder: Path) -> str:
    """A mode file whose server is a placebo, as a stranger could give one."""
    specs = [
        ToolSpec(name=one["name"], description=one["description"], schema=one["inputSchema"])
        for one in TOOLS
    ]
    material = folder / "material.json"
    Material(
        instructions="",
        tools=tuple(make_placebo_tool(spec, None) for spec in specs),
        places=tuple(Passage(path=name, first=1, last=3) for name in PAINTS),
        files=len(PAINTS),
        seed=1,
    ).write(material)
    args = ["-I", str(name_script(material)), "{{ workspace }}"]
    path = folder / "mine.json"
    path.write_text(
        json.dumps({"mcpServers": {"canopy": {"command": sys.executable, "args": args}}})
    )
    return str(path)

"""Stored sessions against limits and against each other, and the workflow of docs/ci.md."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.builders.golden import Sentences, parts
from tests.e2e.borrowing import make_environment
from tests.e2e.conftest import Bench, Done

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

ROOT = Path(__file__).resolve().parents[2]
AGENT = "swarm_bench.agents.scripted:Scripted"
PRICES = """["scripted"]
input = 3.0
cache_write = 3.75
cache_read = 0.3
output = 15.0
"""


def make_files(
    folder: Path,
    *,
    ratio: float = 0.8,
    prompt: str = "Where is {0} checked?",
    key: Mapping[str, Any] | None = None,
    result: str = "shop/auth.py",
) -> None:
    """Write tasks, prices, and a script whose agent takes `ratio` of the tokens with canopy.

    Without a `key`, each task asks for a fact of its own: a constant answer finds any file of so
    small a repository.
    """
    call = {"tool": "mcp__canopy__query", "input": {"q": "token"}, "result": result}
    plays = [
        {
            "when": {"servers": servers, "prompt": asked},
            "steps": [
                {"init": {"tools": ["Read"]}},
                *([{"call": call}] if servers else []),
                {
                    "answer": {
                        "text": f"It is in `shop/auth.py`.\nSee part{n}.\n",
                        "turns": 2,
                        "usage": {
                            "input": round(1000 * (ratio if servers else 1)),
                            "cache_read": 0,
                            "cache_create": 0,
                            "output": 5,
                        },
                    }
                },
            ],
        }
        for servers in (["canopy"], [])
        for n, asked in enumerate([*map(prompt.format, range(6)), ""])
    ]
    tasks = [
        {
            "id": f"t{n}",
            "title": f"t{n}",
            "group": f"t{n}",
            "prompt": prompt.format(n),
            "key": dict(key or {"facts": [f"part{n}"]}),
        }
        for n in range(6)
    ]
    (folder / "script.yaml").write_text(yaml.safe_dump(plays))
    (folder / "my-tasks.yaml").write_text(yaml.safe_dump({"tasks": tasks}))
    (folder / "prices.toml").write_text(PRICES)


def compare(bench: Bench, output: str, *arguments: str, **changes: Any) -> Done:
    make_files(bench.folder, **changes)
    done = bench.call(
        "compare", "--repo", str(bench.repo), "--agent", AGENT, "--model", "script.yaml",
        "--tasks", "my-tasks.yaml", "--modes", "baseline", "canopy", "--runs", "1",
        "--output", output, *arguments,
    )  # fmt: skip
    assert done.code == 0, done.err
    return done


def test_a_gate_and_a_diff_of_stored_sessions(bench: Bench, golden: Sentences) -> None:
    compare(bench, "one")
    limits = ("--max-ratio", "effective_tokens=1.05", "--min", "recall=0.6")
    done = bench.call("gate", "one", *limits)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("# Gate: holds\n")
    golden(parts(done.out, "Limits"))
    done = bench.call("gate", "one", "--max-ratio", "effective_tokens=0.5")
    assert done.code == 4
    assert done.err.count("\n") == 1
    assert "1 is violated" in done.err
    done = bench.call("gate", "one", "--max", "api_seconds=9")
    assert (done.code, "1 is not measured" in done.err) == (4, True)
    assert bench.call("gate", "one", "--max", "cots=9").code == 2
    assert bench.call("gate", "one").code == 2
    assert bench.call("gate", "nowhere", "--max", "cost=9").code == 2
    done = bench.call("gate", "one", *limits, "--bound", "both")
    assert (done.code, done.err.count("\n")) == (2, 1)

    compare(bench, "two", ratio=0.6)
    done = bench.call("diff", "one", "two")
    assert done.code == 0, done.err
    assert "**canopy in B spends less than in A.**" in done.out
    golden(parts(done.out, "What it came to"))
    assert done.out.index("## What it came to") < done.out.index("## What differs")
    done = bench.call("diff", "one", "one")
    assert (done.code, "they are the same one" in done.err) == (2, True)

    compare(bench, "three", prompt="Who checks {0}?")
    done = bench.call("diff", "two", "three")
    assert done.code == 2
    golden(done.err)
    assert (done.out, done.err.count("\n")) == ("", 1)


def test_inconclusive_fails_a_gate_unless_that_is_allowed(bench: Bench) -> None:
    compare(bench, "one", "--agents", "3")
    limit = ("gate", "one", "--max-ratio", "effective_tokens=1.05", "--bound", "interval")
    done = bench.call(*limit)
    assert (done.code, "1 is inconclusive" in done.err) == (4, True)
    done = bench.call(*limit, "--allow-inconclusive")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("# Gate: inconclusive")


def test_a_record_that_was_written_by_hand_passes_no_gate(bench: Bench, golden: Sentences) -> None:
    compare(bench, "one", ratio=2.0)
    path = bench.folder / "one" / "metrics.jsonl"
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for record in records:
        if record["mode"] == "canopy":
            record["effective_tokens"] = record["total_tokens"] = 10
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    done = bench.call("gate", "one", "--max-ratio", "effective_tokens=1.05")
    assert (done.code, "1 is not measured" in done.err) == (4, True)
    golden(parts(done.out, "Limits"))


def test_a_tool_that_answers_with_error_texts_shows_nothing(
    bench: Bench, golden: Sentences
) -> None:
    compare(bench, "one")
    done = compare(bench, "two", ratio=0.6, result="Error: the index is not available")
    golden(parts(done.out, "Headline"))
    held = bench.call("gate", "two", "--max-ratio", "effective_tokens=1.05")
    assert (held.code, "1 is not measured" in held.err) == (4, True)
    golden(parts(held.out, "Limits"))
    both = bench.call("diff", "one", "two").out
    golden(parts(both, "What it came to"))
    assert "beyond noise" not in both
    exported = json.loads(bench.call("export", "two", "--format", "json").out)
    void = [it["caveat"] for it in exported["caveats"] if it["arm"] == "canopy" and it["void"]]
    assert len(void) == 1
    golden(*void)


def test_sessions_of_other_benchmarks(bench: Bench, golden: Sentences) -> None:
    make_files(bench.folder, key={"files": ["shop/auth.py"]})
    done = bench.call(
        "retrieve", "--repo", str(bench.repo), "--tasks", "my-tasks.yaml",
        "--modes", "bm25", "grep", "--output", "asked",
    )  # fmt: skip
    assert done.code == 0, done.err
    done = bench.call("gate", "asked", "--min", "grep:recall_5=0", "--max", "failed=0.5")
    assert (done.code, done.err) == (0, ""), done.out
    done = bench.call("gate", "asked", "--min", "recall_7=0.1")
    assert (done.code, "did you mean 'recall_" in done.err) == (2, True)
    done = bench.call("diff", "asked", "asked")
    assert done.code == 2
    golden(done.err)


def steps_of(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    (job,) = workflow["jobs"].values()
    return [step for step in job["steps"] if "run" in step]


@pytest.mark.long
def test_the_steps_of_the_workflow_run_as_they_stand(bench: Bench, tmp_path: Path) -> None:
    """With an agent that needs no key, and with the packages that are here."""
    workflow = yaml.safe_load((ROOT / "docs" / "examples" / "github-actions.yml").read_text())
    (job,) = workflow["jobs"].values()
    make_files(bench.repo)
    commit = "git add -A && git -c user.name=me -c user.email=me@example.org commit -qm two"
    subprocess.run(["sh", "-c", commit], cwd=bench.repo, check=True)
    (bench.repo / ".swarm-bench").symlink_to(ROOT)
    (runner := tmp_path / "runner").mkdir()
    python = make_environment(tmp_path / "installed")
    own = {"AGENT": AGENT, "MODEL": "script.yaml", "MODES": "baseline canopy", "RUNS": "1"}
    environment = {
        **bench.environment(),
        **job["env"],
        **{f"SWARM_BENCH_{name}": value for name, value in own.items()},
        "PATH": f"{python.parent}:{os.environ['PATH']}",
        "RUNNER_TEMP": str(runner),
        "GITHUB_STEP_SUMMARY": str(runner / "summary.md"),
        "PIP_NO_BUILD_ISOLATION": "0",
        "PIP_NO_DEPS": "1",
        "PIP_REQUIRE_VIRTUALENV": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    for step in steps_of(workflow):
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]
        words = shell if step.get("shell") == "bash" else ["bash", "-e", "-c"]
        done = subprocess.run(
            [*words, step["run"]], cwd=bench.repo, env=environment, capture_output=True, check=False
        )
        assert done.returncode == 0, f"{step['name']}\n{done.stderr.decode()}"
    shown = (runner / "summary.md").read_text()
    assert shown.startswith("# Gate: holds\n")
    assert "# Swarm Benchmark Summary" in shown
    assert (runner / "session" / "metrics.jsonl").is_file()
    uploads = [step["with"] for step in job["steps"] if "upload" in step.get("uses", "")]
    assert uploads[0]["path"].replace("${{ runner.temp }}", str(runner)) == str(runner / "session")


def test_the_documentation_shows_the_workflow() -> None:
    assert "examples/github-actions.yml" in (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")

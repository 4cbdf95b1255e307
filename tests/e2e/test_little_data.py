"""Sessions from which nothing can be concluded: one sentence, no figure that is none, and nothing
on standard error, with all warnings as errors."""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.builders.golden import Sentences
from tests.e2e import warm
from tests.e2e.conftest import Done
from tests.simulation.sessions import COMMAND, Design, Session, Truth

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
NONE = {"input": 0, "cache_read": 0, "cache_create": 0, "output": 0}
LIMITED = {"error": {"text": "API Error: 429 rate limit exceeded"}}
FEW = "nothing can be shown with fewer than 6 independent ones"
MISSING = ": no verdict.** None of 6 tasks was measured on both sides"


def call(folder: Path, *words: str) -> Done:
    """Run the command where a warning is an error."""
    return Done(*warm.call([str(COMMAND), *words], folder, _environment(folder)))


def call_anew(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run it in an interpreter of its own, where a warning of an import is an error, too."""
    return subprocess.run(
        [COMMAND, *words],
        cwd=folder, env=_environment(folder), capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip


def _environment(folder: Path) -> dict[str, str]:
    return Design.environment(folder) | {"PYTHONWARNINGS": "error"}


@dataclass(frozen=True, kw_only=True)
class Case:
    """What the agents of a mode do, and what is said of it."""

    sentence: str
    tasks: int = 6
    runs: int = 2
    words: tuple[str, ...] = ()
    steps: list[dict[str, Any]] | None = None
    usage: dict[str, int] | None = None


CASES = {
    "one task, one run": Case(tasks=1, runs=1, sentence=FEW),
    "one run": Case(tasks=8, runs=1, sentence="8 tasks × 1 run."),
    "no answer": Case(steps=[{"exit": 1}], sentence="12 of 12 failed"),
    "none measured": Case(steps=[LIMITED, {"exit": 1}], sentence="12 of 12 lost"),
    "no tokens": Case(usage={}, sentence=MISSING),
    "tokens of 0": Case(usage=NONE, sentence=MISSING),
    "calls of 0": Case(
        words=("--primary", "tool_calls"), sentence=": no verdict.** None of 6 tasks was"
    ),
    "no cost": Case(words=("--primary", "cost"), sentence="6 tasks have cost of 0"),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_little_data(tmp_path: Path, case: Case) -> None:
    design = Design(modes={"other": Truth()}, tasks=case.tasks, runs=case.runs)
    design.prepare(tmp_path)
    play_otherwise(tmp_path / "script.json", case)
    done = call(tmp_path, *design.words(1), *case.words)
    again = call(tmp_path, "report", "out-1")
    # Trials that the provider failed are run again: the session is not complete.
    assert done.code == (3 if LIMITED in (case.steps or ()) else 0), done.err
    assert (again.code, again.err) == (0, "")
    assert not re.search(r"Warning:|Traceback", done.err)
    for summary in (done.out, again.out):
        assert case.sentence in Session(folder=tmp_path, summary=summary).sentence("other")
        assert not re.search(r"\b(nan|inf)\b", summary)


def play_otherwise(script: Path, case: Case) -> None:
    """Change what the agents of the mode do: other steps, or an answer with other tokens."""
    plays = json.loads(script.read_text())
    for play in plays:
        if "Work like other" in play["when"]["prompt"]:
            if case.usage is not None:
                play["steps"][-1]["answer"]["usage"] = case.usage
            play["steps"] = case.steps or play["steps"]
    script.write_text(json.dumps(plays))


def test_equal_values(tmp_path: Path) -> None:
    design = Design(modes={"other": Truth()}, tasks=6, runs=2, spread=0)
    design.prepare(tmp_path)
    done = call_anew(tmp_path, *design.words(1))
    sentence = Session(folder=tmp_path, summary=done.stdout).sentence("other")
    assert sentence.startswith(": cannot tell yet.** It found "), done.stderr
    assert "same in all 6 tasks" in sentence


@pytest.mark.parametrize("metric", ["efective_tokens", "file_recall"])
def test_a_metric_that_no_verdict_is_on(tmp_path: Path, metric: str, golden: Sentences) -> None:
    design = Design(modes={"other": Truth()}, tasks=1, runs=1)
    design.prepare(tmp_path)
    done = call(tmp_path, *design.words(1), "--primary", metric)
    assert (done.code, done.out) == (2, "")
    golden(done.err)
    assert not (tmp_path / "out-1").exists()

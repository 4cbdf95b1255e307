"""Whether a transcript names what holds the answers."""

import json
from pathlib import Path

import pytest

from swarm_bench.benchmarks.agents.asking import find_named_answers
from swarm_bench.core.outcome import AgentExit, Launch, Outcome
from swarm_bench.core.status import Cause
from swarm_bench.environments.local import find_shipped

ROWS = Path("/data/höhe/rows.jsonl")


def named(
    folder: Path,
    stdout: str = "",
    stderr: str = "",
    prompt: str = "",
    are_hidden: bool = False,
    **outcome: object,
) -> tuple[str, ...]:
    (folder / "stdout").write_text(stdout)
    (folder / "stderr").write_text(stderr)
    exit = AgentExit(
        returncode=0,
        stopped=None,
        stdout=folder / "stdout",
        stderr=folder / "stderr",
        home=folder,
        files=frozenset({"src/main.py"}),
    )
    left = Outcome(cause=Cause.FINISHED, **outcome)  # type: ignore[arg-type]
    launch, answers = Launch(argv=("a",), leaves=("log",)), [*find_shipped(), ROWS]
    return find_named_answers(exit, launch, left, prompt, answers, are_hidden=are_hidden)


@pytest.mark.parametrize(
    ("stdout", "name"),
    [
        ("cat /opt/other/swarm_bench/datasets/shipped/mbpp/rows", "datasets/shipped"),
        (r"cat \/opt\/swarm_bench\/datasets\/shipped", "datasets/shipped"),
        ("cd datasets && cat shipped/diff-dataset/*", "shipped/diff-dataset"),
        ("zcat humaneval/HumanEval.jsonl.gz", "humaneval/HumanEval.jsonl.gz"),
        ("python -c 'import swarm_bench.datasets.shipped'", "datasets.shipped"),
        ("swarm-bench datasets show diff-dataset", "swarm-bench datasets"),
        (f"cat {ROWS}", str(ROWS)),
        (json.dumps(f"cat {ROWS}"), str(ROWS)),
        ("cd /data; cat h*/rows.jsonl", "rows.jsonl"),
    ],
)
def test_what_is_named_is_told(stdout: str, name: str, tmp_path: Path) -> None:
    assert name in named(tmp_path, stdout)
    assert name in named(tmp_path, stderr=stdout)


def test_logs_and_calls_count_too(tmp_path: Path) -> None:
    assert named(tmp_path, commands=(f"cat {ROWS}",)) == (str(ROWS), "rows.jsonl")
    assert named(tmp_path, paths=(str(ROWS),)) == (str(ROWS), "rows.jsonl")
    (tmp_path / "log").write_text("read datasets/shipped")
    assert named(tmp_path) == ("datasets/shipped",)


def test_others_are_not(tmp_path: Path) -> None:
    assert named(tmp_path, "cat src/main.py; ls ~; ls datasets; git log; This is HumanEval.") == ()
    assert named(tmp_path, "cat rows.jsonl", prompt="Fix how rows.jsonl is read.") == ()


@pytest.mark.parametrize(
    "line",
    [
        f"tmpfs           7.8G     0  7.8G   0% {ROWS}",
        f"devtmpfs on {ROWS} type devtmpfs (ro)",
        f"user 7 0.0 0.0 1 2 ? S 0:00 bwrap --tmpfs /a --ro-bind /dev/null {ROWS} -- program",
    ],
    ids=["df", "mount", "ps"],
)
def test_what_hides_them_names_them_too(line: str, tmp_path: Path) -> None:
    printed = json.dumps({"result": f"first\n{line}\nlast"}, ensure_ascii=False)
    for text in (line, printed):
        assert named(tmp_path, text, are_hidden=True) == ()
        assert named(tmp_path, text) == (str(ROWS), "rows.jsonl")
    read = json.dumps({"result": f"{line}\n", "command": f"cat {ROWS}"})
    assert named(tmp_path, read, are_hidden=True) == (str(ROWS), "rows.jsonl")

"""What the shells offer after TAB, through the protocols of their completion scripts."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).parent / "swarm-bench"
LINES = {
    "compare --modes ca": ["canopy", "canopy-service"],
    "compare --modes baseline canopy-": ["canopy-service"],
    "compare --modes=baseline canopy-": ["canopy-service"],
    "compare --agent clau": ["claude"],
    "compare --agents =": ["1", "2", "4", "8"],
    "compare --agents 1 2 --mod": ["--modes", "--model"],
    "compare --controls instructions p": ["placebo"],
    "compare --tasks expl": ["exploration"],
    "compare --index w": ["warm"],
    "compare --index = w": ["warm"],
    "compare --model =": ["rehearsal", "rules"],
    "compare --index=w": ["--index=warm"],
    "compare --fault refu": ["refusal"],
    "compare --continue res": ["results/swarm-2", "results/swarm-1"],
    "calibrate --mode basel": ["baseline"],
    "doctor --modes baseline canopy-": ["canopy-service"],
    "benchmarks show sw": ["swarm"],
    "run sw": [],
    "run completion --dataset contr": ["contracts", "contracts-mini"],
    "run mbpp --models op": ["openai"],
    "run mbpp --models copy agent:cl": ["agent:claude"],
    "run unified-diff --judge open": ["openai"],
    "run unified-diff --environment c": ["container"],
    "run unified-diff -p tol": ["tolerant="],
    "run unified-diff --models copy --property tol": ["tolerant="],
    "run mbpp --primary pass": ["pass_at_1", "pass_at_10", "pass_at_100"],
    "run nowhere -p tol": [],
    "compare --primary effective": ["effective_tokens"],
    "run completion --dataset fe": ["fetched:rows", "fetched:shop"],
    "datasets show fe": ["fetched:rows", "fetched:shop"],
    "gate res": ["results/swarm-2", "results/swarm-1"],
    "gate one --max-ratio effec": ["effective_tokens="],
    "gate one --bound i": ["interval"],
    "diff one res": ["results/swarm-2", "results/swarm-1"],
    "report res": ["results/swarm-2", "results/swarm-1"],
}


def complete(folder: Path, **environment: str) -> list[str]:
    """The lines that the command prints to a completion script; it says nothing else."""
    done = subprocess.run(
        [COMMAND],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder), **environment},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split("\n")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    no_words = ("x;id", "$(id)", "two words", "two\nlines", "`id`")
    for name in ("swarm-1", "swarm-2", *no_words):  # the shell would run these, or split them
        (tmp_path / "results" / name).mkdir(parents=True)
    for name in ("rows", "shop", ".half.part"):
        fetched = tmp_path / ".cache" / "swarm-bench" / "datasets" / name
        fetched.mkdir(parents=True)
        (fetched / "manifest.json").touch()
    return tmp_path


@pytest.mark.parametrize(("line", "offered"), LINES.items())
def test_bash(folder: Path, line: str, offered: list[str]) -> None:
    words = f"swarm-bench {line}"
    found = complete(
        folder,
        COMP_WORDS=words,
        COMP_CWORD=str(len(words.split()) - 1),
        _SWARM_BENCH_COMPLETE="complete_bash",
    )
    assert [word for word in found if word] == offered


VALUES = {
    "compare --modes baseline can": ["canopy", "canopy-service"],
    "compare --index=c": ["--index=cold"],
    "calibrate --fault=refu": ["--fault=refusal"],
}


@pytest.mark.parametrize(("line", "offered"), VALUES.items())
def test_zsh(folder: Path, line: str, offered: list[str]) -> None:
    found = complete(
        folder,
        _TYPER_COMPLETE_ARGS=f"swarm-bench {line}",
        _SWARM_BENCH_COMPLETE="complete_zsh",
    )
    assert found[0].startswith("_arguments")
    assert re.findall('"([^"]+)"', " ".join(found)) == offered


@pytest.mark.parametrize(("line", "offered"), VALUES.items())
def test_fish(folder: Path, line: str, offered: list[str]) -> None:
    found = complete(
        folder,
        _TYPER_COMPLETE_ARGS=f"swarm-bench {line}",
        _TYPER_COMPLETE_FISH_ACTION="get-args",
        _SWARM_BENCH_COMPLETE="complete_fish",
    )
    assert [word.split("\t")[0] for word in found if word] == offered


def test_an_unfinished_line_in_a_real_bash(folder: Path) -> None:
    """With the script that --show-completion prints."""
    script = f"""
PATH="{COMMAND.parent}:$PATH"
source <(_SWARM_BENCH_COMPLETE=source_bash swarm-bench)
COMP_WORDS=(swarm-bench compare --modes baseline ca) COMP_CWORD=4 COMP_LINE=x
_swarm_bench_completion swarm-bench
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    bash = shutil.which("bash")
    assert bash
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder)}
    done = subprocess.run(
        [bash, "--norc", "-c", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        check=False,
    )
    assert (done.stdout.split(), done.stderr) == ([b"canopy", b"canopy-service"], b"")

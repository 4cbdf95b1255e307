"""Every command of the README is run, and its example output is what the program prints."""

import os
import re
import shlex
import subprocess
import warnings
from pathlib import Path

import pytest

from tests.builders.searching import searching_mode
from tests.e2e.borrowing import make_environment
from tests.e2e.conftest import Bench
from tests.e2e.programs.conftest import NotInstalled, install, namespace

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SET_UP = ("git clone", "make ")
"""Lines that `test_a_fresh_clone` runs, and `make test`."""
SMALL = {
    "SWARM_BENCH_RUNS": "1",
    "SWARM_BENCH_AGENTS": "1",
    "SWARM_BENCH_MODES": "baseline canopy",
}
"""What the commands do not say themselves."""


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)


def commands() -> list[str]:
    lines = [line.partition("#")[0].strip() for block in blocks("sh") for line in block.split("\n")]
    return [line for line in lines if line and not line.startswith(SET_UP)]


def test_the_readme_has_commands() -> None:
    assert len(commands()) >= 10
    assert all(command.startswith("swarm-bench ") for command in commands())


@pytest.mark.long
def test_its_commands_work_in_the_order_they_stand(bench: Bench) -> None:
    here = Bench(folder=bench.repo, repo=bench.repo)
    task = "tasks:\n  - {id: auth, title: Tokens, prompt: 'Where is a token checked?'}\n"
    (here.folder / "my-tasks.yaml").write_text(task)
    server = (ROOT / "mcp_configs" / "canopy.json").read_text()
    (here.folder / "my-server.json").write_text(server)
    for command in commands():
        _, *words = shlex.split(command)
        sessions = sorted((here.folder / "results").glob("swarm-*"))
        words = [str(sessions[0]) if word.startswith("results/") else word for word in words]
        small = {} if "--continue" in words else SMALL
        real = "claude" in words
        try:
            path = {"PATH": f"{install('claude')}:{os.environ['PATH']}"} if real else {}
        except NotInstalled as error:
            warnings.warn(f"A COMMAND OF THE README WAS NOT TESTED: {error}", stacklevel=1)
            continue
        inside = namespace() if real else ()
        done = here.call(*words, env={**small, **path}, inside=inside)
        assert done.code == 0, f"{command}\n{done.err}"


def test_an_agent_to_try_things_out_with_plays_the_script_of_the_docs(bench: Bench) -> None:
    docs = (ROOT / "docs" / "command-agents.md").read_text(encoding="utf-8")
    section = docs.partition("## To try things out")[2].partition("\n## ")[0]
    (script,) = re.findall(r"^```yaml\n(.*?)^```", section, flags=re.DOTALL | re.MULTILINE)
    (command,) = re.findall(r"^    swarm-bench (.*)", section, flags=re.MULTILINE)
    (bench.folder / "play.yaml").write_text(script)
    mode = searching_mode(bench.folder, "mini", 'text = "src/auth.py:1"')
    task = "tasks:\n  - {id: a, title: A, prompt: 'Where is a token checked?'}\n"
    (bench.folder / "asked.yaml").write_text(task)
    more = ("--repo", str(bench.repo), "--tasks", "asked.yaml", "--runs", "1", "--output", "out")
    done = bench.call(*shlex.split(command), mode, *more)
    assert done.code == 0, done.err
    records = {record["mode"]: record for record in bench.records("out")}
    turns = {mode: record["num_turns"] for mode, record in records.items()}
    assert turns == {"baseline": 3, "mini": 2}
    spent = {mode: record["effective_tokens"] for mode, record in records.items()}
    assert spent == {"baseline": 1820, "mini": 920}


def masked(text: str) -> list[str]:
    """Lines without what differs from run to run: figures, widths, names of places."""
    lines = []
    for line in text.splitlines():
        if line.startswith("- **"):  # verdicts are the same everywhere
            lines.append(line)
            continue
        line = re.sub(r"\*\*(Repository|Order|Session):\*\* .*", r"**\1:**", line)
        line = re.sub(r", in \d+ blocks|, at most 4 at a time", "", line)
        line = re.sub(r"\bat [0-9a-f]{12}\b", "at N", line)
        line = re.sub(r"\([^()|]*\)(?=\s*\|)", "", line)
        line = re.sub(r"[$]?\d[\d.,]*[s×%]?", "N", line)
        line = re.sub(r":?-{2,}:?", "-", line)
        line = re.sub(r",? (same|found less|[+-]?N( points)?)(?= *[(|])", ", N", line)
        line = re.sub(r"(used in N|provider failed is missing\.).*", r"\1", line)
        lines.append(re.sub(r"\s+", " ", line).strip())
    return [line for line in lines if not line.startswith('"Found less" stands')]


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_fresh_clone_sets_itself_up_and_prints_what_the_readme_shows(tmp_path: Path) -> None:
    """With the packages that are here: CI downloads them, since it begins with a fresh clone."""
    clone = tmp_path / "swarm-bench"
    if subprocess.run(["git", "clone", "-q", ROOT, clone], check=False).returncode != 0:
        pytest.skip("these tests do not run in a git checkout, so there is nothing to clone")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        **{name: value for name, value in os.environ.items() if name.startswith("PIP_")},
    }
    make_environment(clone / ".venv")
    done = subprocess.run(
        ["make", "demo"], cwd=clone, env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    printed = masked(done.stdout.decode())
    (shown,) = blocks("text")
    missing = [line for line in masked(shown) if line not in printed]
    assert missing == []

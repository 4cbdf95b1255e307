"""From the last agent's exit to the finished summary, for 60 agents in each of 3 modes.

A real session with real processes; only the agents play a script, so that they end together. Goal:
at most 1 s.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPETITIONS = 3
AGENTS = 60
SCRIPT = """
- steps:
    - init: {tools: [Read]}
    - sleep: 1
    - answer:
        text: "# A\\n\\n## B\\n\\n## C\\n\\n- `a/b.py:1`\\n- `c/d.py:2`\\n- `e/f.py:3`\\n"
        turns: 3
        cost: 0.01
        usage: {input: 1, cache_read: 2, cache_create: 3, output: 4}
"""
MODES = ("baseline", "canopy", "canopy-service")


def seconds(folder: Path) -> tuple[float, float]:
    """Of one session: from its last agent's last words to the summary, and as a whole."""
    repo = folder / "repo"
    repo.mkdir()
    (repo / "a.py").write_text("def f():\n    return 1\n")
    script = folder / "script.yaml"
    script.write_text(SCRIPT)
    started = time.perf_counter()
    subprocess.run(
        [
            Path(sys.executable).parent / "swarm-bench", "compare", "--modes", *MODES,
            "--repo", repo, "--agents", str(AGENTS), "--runs", "1", "--output", folder / "out",
            "--agent", "swarm_bench.agents.scripted:Scripted", "--model", script, "--quiet",
        ],
        check=True, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    whole = time.perf_counter() - started
    last = max(path.stat().st_mtime for path in (folder / "out").rglob("*.stream.jsonl"))
    return (folder / "out" / "summary.md").stat().st_mtime - last, whole


def main() -> None:
    """Print the median of several sessions."""
    found = []
    for _ in range(REPETITIONS):
        with tempfile.TemporaryDirectory() as folder:
            found.append(seconds(Path(folder)))
    tails, wholes = zip(*found, strict=True)
    print(
        f"{AGENTS} agents x {len(MODES)} modes: last agent's last words to summary.md "
        f"{statistics.median(tails):.2f} s (goal 1.00), whole session "
        f"{statistics.median(wholes):.1f} s, median of {REPETITIONS}"
    )


if __name__ == "__main__":
    main()

"""From the last agent's exit to the finished summary, for 60 agents in each of 3 modes.

A real session with real processes; only the agents play a script, so that they end together. Then
`report` of that session, as a whole process. Goals, on a quiet machine: 0.1 s to the summary, and
1 s for the report. Of a machine with other work, only processor time says something.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPETITIONS = 3
AGENTS = 60
COMMAND = Path(sys.executable).parent / "swarm-bench"
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


def seconds(folder: Path) -> tuple[float, float, float, float]:
    """Of one session: from its last agent's last words to the summary, and as a whole; of its
    report: as a whole, and of the processor."""
    repo = folder / "repo"
    repo.mkdir()
    (repo / "a.py").write_text("def f():\n    return 1\n")
    script = folder / "script.yaml"
    script.write_text(SCRIPT)
    started = time.perf_counter()
    subprocess.run(
        [
            COMMAND, "compare", "--modes", *MODES,
            "--repo", repo, "--agents", str(AGENTS), "--runs", "1", "--output", folder / "out",
            "--agent", "swarm_bench.agents.scripted:Scripted", "--model", script, "--quiet",
        ],
        check=True, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    whole = time.perf_counter() - started
    last = max(path.stat().st_mtime for path in (folder / "out").rglob("*.stream.jsonl"))
    tail = (folder / "out" / "summary.md").stat().st_mtime - last
    return tail, whole, *_of_report(folder / "out")


def _of_report(session: Path) -> tuple[float, float]:
    started = time.perf_counter()
    with subprocess.Popen([COMMAND, "report", session], stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, "swarm-bench report")
    return time.perf_counter() - started, usage.ru_utime + usage.ru_stime


def main() -> None:
    """Print the median of several sessions."""
    found = []
    for _ in range(REPETITIONS):
        with tempfile.TemporaryDirectory() as folder:
            found.append(seconds(Path(folder)))
    tail, whole, report, busy = map(statistics.median, zip(*found, strict=True))
    print(f"{AGENTS} agents x {len(MODES)} modes, medians of {REPETITIONS}:")
    print(f"  last agent's last words to summary.md {tail:.2f} s (goal 0.10; was 0.73)")
    print(f"  report {report:.2f} s, processor {busy:.2f} s (goal 1.00; was 1.3)")
    print(f"  whole session {whole:.1f} s")


if __name__ == "__main__":
    main()

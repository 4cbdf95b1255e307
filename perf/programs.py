"""What an agent program costs this machine, against the rehearsal server.

    python perf/programs.py [NAME ...]

For each program that is on the PATH and each size of swarm: wall seconds, processor seconds and
peak memory per agent, in the baseline and with the embedded canopy, as medians over agents and
runs. No model is asked: what is left is what the program itself takes, and its tool calls.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import psutil

COMMAND = Path(sys.executable).parent / "swarm-bench"
PROGRAMS = ("scout", "claude", "codex", "gemini", "opencode", "qwen")
SIZES = (1, 2, 4, 8)
MODES = ("baseline", "canopy")
RUNS = 2
ROOT = Path(__file__).parents[1]


def main() -> None:
    print(f"{os.cpu_count()} cores, {psutil.virtual_memory().total / 2**30:.0f} GiB\n")
    print(
        f"{'program':9} {'mode':9} {'agents':>6} {'wall s':>7} {'cpu s':>6} {'MB':>5} {'turns':>5}"
    )
    for name in sys.argv[1:] or PROGRAMS:
        if name != "scout" and shutil.which(name) is None:
            print(f"{name:9} is not on the PATH")
            continue
        for size in SIZES:
            for mode, trials in measure(name, size).items():
                print(row(name, mode, size, trials), flush=True)


def measure(name: str, size: int) -> dict[str, list[dict[str, Any]]]:
    """The records of a session, by mode."""
    model = [] if name == "scout" else ["--model", "rehearsal"]
    with tempfile.TemporaryDirectory() as folder:
        words = [str(COMMAND), "compare", "--repo", str(ROOT), "--output", "out", "--quiet", *model]
        words += ["--agent", name, "--agents", str(size), "--runs", str(RUNS), "--modes", *MODES]
        subprocess.run(words, cwd=folder, stdout=subprocess.DEVNULL, check=False)
        lines = (Path(folder) / "out" / "metrics.jsonl").read_text("utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    return {mode: [one for one in records if one["mode"] == mode] for mode in MODES}


def row(name: str, mode: str, size: int, trials: list[dict[str, Any]]) -> str:
    failed = sum(one["status"] != "completed" for one in trials)
    cells = (
        middle(trials, "wall_seconds", "7.2f"),
        middle(trials, "cpu_seconds", "6.2f"),
        middle(trials, "peak_memory_bytes", "5.0f", 1e6),
        middle(trials, "rehearsal_requests", "5.0f"),
    )
    note = f"  {failed} of {len(trials)} failed" if failed else ""
    return f"{name:9} {mode:9} {size:6} {' '.join(cells)}{note}"


def middle(trials: list[dict[str, Any]], key: str, form: str, unit: float = 1) -> str:
    known = [one[key] / unit for one in trials if one[key] is not None]
    return format(statistics.median(known), form) if known else "-"


if __name__ == "__main__":
    main()

"""A session that is killed again and again, at any moment, ends as if nobody had touched it.

`CHAOS_KILLS` says how often and `CHAOS_SEED` when; `make chaos` kills 200 times and says what
happened.
"""

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from tests.e2e.conftest import COMMAND, Bench, processes_of

KILLS = int(os.environ.get("CHAOS_KILLS", "20"))
SEED = int(os.environ.get("CHAOS_SEED", "0"))
pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(120 + 20 * KILLS)]

EARLY, LONGEST = 0.4, 1.2
"""Which part is killed within so many seconds after the start, and not after the first trials may
have begun."""
OF_THE_MOMENT = {
    "session", "started_at", "ended_at", "wall_seconds", "peak_memory_bytes", "cpu_seconds",
    "sha256",
}  # fmt: skip
"""Keys in which two sessions differ; the checksum is of the line, and the others are in it."""
USAGE = {"input": 10, "cache_read": 20, "cache_create": 30, "output": 40}
ANSWER = {"answer": {"text": "See shop/auth.py.\n", "turns": 2, "cost": 0.5, "usage": USAGE}}
PLAYS: list[dict[str, Any]] = [
    {"when": {"prompt": "Leave"}, "steps": [{"init": {}}, {"spawn": 300}, {"sleep": 0.3}, ANSWER]},
    {"when": {"prompt": "Fail"}, "steps": [{"init": {}}, {"sleep": 0.2}, {"exit": 3}]},
    {"steps": [{"init": {}}, {"sleep": 0.4}, ANSWER]},
]
TASKS = [{"id": word, "title": word, "prompt": word} for word in ("Answer", "Leave", "Fail")]


@dataclass(kw_only=True)
class Killed:
    """A session, `out`, that is begun, killed and continued, and extended when it is complete."""

    bench: Bench
    draw: random.Random = field(default_factory=lambda: random.Random(SEED))
    runs: int = 2
    kept: dict[str, str] = field(default_factory=dict)
    """The lines of `metrics.jsonl` at the last kill, by trial: the last one of each."""
    counts: Counter[str] = field(default_factory=Counter)

    def start(self) -> "subprocess.Popen[bytes]":
        words = ("--continue", "out") if self._has_begun() else beginning("out")
        with (self.bench.folder / "err").open("wb") as err:
            return subprocess.Popen(
                [COMMAND, "compare", *words, "--runs", str(self.runs)],
                cwd=self.bench.folder,
                env=self.bench.environment(),
                stdout=subprocess.DEVNULL,
                stderr=err,
            )

    def kill_once(self) -> None:
        """Start it and kill it, often before it has begun."""
        while True:
            process = self.start()
            if self.draw.random() > EARLY:
                self._wait_for_trials(process)
            time.sleep(self.draw.uniform(0, LONGEST))
            if process.poll() is None:
                break
            assert process.returncode == 0, self.progress()
            self.counts["complete"] += 1
            self.runs += 1
        process.kill()
        process.wait()
        self._check()

    def progress(self) -> str:
        return (self.bench.folder / "err").read_text()

    def _has_begun(self) -> bool:
        return (self.bench.folder / "out" / "experiment.json").exists()

    def _wait_for_trials(self, process: "subprocess.Popen[bytes]") -> None:
        while " session " not in self.progress() and process.poll() is None:
            time.sleep(0.02)

    def _check(self) -> None:
        """See that what is left is the whole records, and no process."""
        text = self.progress()
        self.counts["while agents ran" if " starts: " in text else "before"] += 1
        self.counts["folders left"] += len(list((self.bench.folder / "tmp").iterdir()))
        path = self.bench.folder / "out" / "metrics.jsonl"
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        self.counts["half lines"] += bool(lines) and not lines[-1].endswith("\n")
        found = dict[str, str]()
        for line in (line for line in lines if line.endswith("\n")):
            trial = json.loads(line)["trial"]
            assert trial not in found or measured(found[trial]) == measured(line)
            self.counts["labels after records"] += trial in found
            found[trial] = line
        assert self.kept.items() <= found.items()
        self.kept = found
        end = time.monotonic() + 20
        while self._has_begun() and processes_of(self.bench.experiment("out")["session"]):
            assert time.monotonic() < end
            time.sleep(0.1)


def measured(line: str) -> dict[str, Any]:
    """Give all of a line but what the end of a swarm says of it."""
    known = json.loads(line).items()
    return {key: value for key, value in known if key not in ("retrieval", "evidence", "sha256")}


def beginning(output: str) -> tuple[str, ...]:
    return (
        "--repo", "../my 'shop' ü", "--modes", "baseline", "--tasks", "tasks.yaml",
        "--agent", "swarm_bench.agents.scripted:Scripted", "--model", "script.yaml",
        "--agents", "3", "--output", output,
    )  # fmt: skip


def records(bench: Bench, session: str) -> dict[tuple[str, str], Any]:
    """Give what is not of the moment, by place and key. What the tool's counters say of a swarm is
    not known of the trials that had ended when it was killed."""
    found = bench.records(session)
    assert len({record["trial"] for record in found}) == len(found)
    assert {record["evidence"].pop("counters") for record in found} <= {"agree", None}
    return {
        (f"run {record['run']}, agent {record['agent']}", key): value
        for record in found
        for key, value in record.items()
        if key not in OF_THE_MOMENT
    }


def tree(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Give everything in a folder: permissions, time of the last change, and content."""
    return {
        str(path.relative_to(folder)): (
            path.lstat().st_mode,
            path.lstat().st_mtime_ns,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in sorted(folder.rglob("*"))
    }


def names(folder: Path) -> set[str]:
    """Give all files but for what killed agents had printed, which is kept beside."""
    found = (path for path in folder.rglob("*") if not path.name.startswith("attempt-"))
    return {str(path.relative_to(folder)) for path in found}


def test_a_session_that_is_killed_at_any_moment_ends_as_one_that_was_not(bench: Bench) -> None:
    (bench.folder / "tasks.yaml").write_text(yaml.safe_dump({"tasks": TASKS}))
    (bench.folder / "script.yaml").write_text(yaml.safe_dump(PLAYS))
    before = tree(bench.repo)
    killed = Killed(bench=bench)

    for _ in range(KILLS):
        killed.kill_once()
    last = killed.start()

    assert last.wait() == 0, killed.progress()
    calm = bench.call("compare", *beginning("calm"), "--runs", str(killed.runs))
    assert calm.code == 0, calm.err
    ours, theirs = records(bench, "out"), records(bench, "calm")
    assert ours.keys() == theirs.keys()
    assert {key: (ours[key], theirs[key]) for key in ours if ours[key] != theirs[key]} == {}
    assert names(bench.folder / "out") == names(bench.folder / "calm")
    assert tree(bench.repo) == before
    assert list((bench.folder / "tmp").iterdir()) == []
    assert processes_of(bench.experiment("out")["session"]) == []
    spent = psutil.Process().cpu_times()
    sys.stdout.write(
        f"\nseed {SEED}, kills: {KILLS}, {dict(killed.counts)}, records: {3 * killed.runs}, "
        f"processor: {sum(spent[:4]):.0f} s\n"
    )

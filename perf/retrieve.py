"""200 questions to bm25 with its index, on 3,000 files: the whole command. Goal: under 10 s.

The files are those of the installed packages of this environment, in a folder of their own.
"""

import resource
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

import yaml

FILES, TASKS = 3000, 100
"""Each task is asked in a sentence and in keywords."""
COMMAND = Path(sys.executable).parent / "swarm-bench"
GOAL = 10.0


def copied(target: Path) -> list[str]:
    """Copy the files; returns their paths."""
    source = Path(sysconfig.get_paths()["purelib"])
    roots = {source, *(Path(line) for file in source.glob("*.pth") for line in paths_in(file))}
    files = sorted(path for root in roots if root.is_dir() for path in root.rglob("*.py"))
    for number, path in enumerate(files[:FILES]):
        copy = target / f"part{number // 100}" / f"{number}_{path.name}"
        copy.parent.mkdir(exist_ok=True, parents=True)
        copy.write_bytes(path.read_bytes())
    return [path.relative_to(target).as_posix() for path in sorted(target.rglob("*.py"))]


def paths_in(file: Path) -> list[str]:
    """Read the folders that a `.pth` file names."""
    return [line for line in file.read_text().splitlines() if line.startswith("/")]


def suite(paths: list[str]) -> str:
    """Write tasks that ask for files by what their names say."""
    step = max(1, len(paths) // TASKS)
    tasks = [
        {
            "id": f"task-{number}",
            "title": path,
            "prompt": f"Where is the code that has to do with {words(path)}?",
            "keywords": words(path),
            "key": {"files": [path]},
        }
        for number, path in enumerate(paths[::step][:TASKS])
    ]
    return yaml.safe_dump({"tasks": tasks})


def words(path: str) -> str:
    """Take a file's name apart."""
    return Path(path).stem.replace("_", " ").strip()


def main() -> None:
    """Run the command once."""
    with tempfile.TemporaryDirectory() as folder:
        repo = Path(folder) / "repo"
        paths = copied(repo)
        (Path(folder) / "tasks.yaml").write_text(suite(paths))
        words = ["--repo", str(repo), "--tasks", "tasks.yaml", "--modes", "bm25", "--output", "out"]
        started, before = time.perf_counter(), used()
        subprocess.run(
            [COMMAND, "retrieve", *words, "--quiet"],
            cwd=folder,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        seconds = time.perf_counter() - started
        lines = len((Path(folder) / "out" / "metrics.jsonl").read_text().splitlines())
        print(
            f"retrieve: {lines} questions to bm25 on {len(paths)} files in {seconds:.1f} s "
            f"({used() - before:.1f} s of processor time), with its index (goal {GOAL:.0f} s)"
        )


def used() -> float:
    """Sum up the processor time of what has ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()

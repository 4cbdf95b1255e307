"""Small repositories with a history."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

Files = Mapping[str, str | None]
"""What a commit writes, by path; `None` removes a file."""


def git(folder: Path, *words: str, date: str = "2026-01-01T12:00:00Z") -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@localhost", "-c", "gc.auto=0"]
    dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    done = subprocess.run(
        ["git", *identity, *words],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": "/nowhere", **dates},
    )
    return done.stdout.strip()


def start(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    return folder


def commit(folder: Path, message: str, files: Files, date: str = "2026-01-01T12:00:00Z") -> str:
    """Write the files, commit them, and return the hash."""
    for path, content in files.items():
        file = folder / path
        if content is None:
            file.unlink()
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", message, date=date)
    return git(folder, "rev-parse", "HEAD")


WORDS = "alpha beta gamma delta kappa sigma omega theta lambda"


def with_changes(path: Path) -> Path:
    """Make a repository with eight changes whose words stand rather elsewhere than where they were
    made: enough for tasks."""
    repo = start(path)
    files = {f"part{n}.py": f"def make_{n}():\n    return {n}\n" for n in range(8)}
    commit(repo, "Start", {**files, "noise.py": f"# {WORDS} coupons totals\n"})
    for number, word in enumerate(WORDS.split()[:8]):
        text = f"def make_{number}():\n    bills = {number}\n    return bills + {number}\n"
        message = f"Let {word} coupons change {word}x totals of {word}y bills"
        commit(repo, message, {f"part{number}.py": text})
    return repo

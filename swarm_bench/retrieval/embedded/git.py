"""What git is asked about a checkout, so that nothing in the checkout decides what runs."""

import os
import subprocess
from pathlib import Path

# A checkout's own configuration may name programs to run; asking about it must not start them.
_GIT = (
    "git",
    "--no-optional-locks",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
)
LONGEST_SECONDS = 60.0
"""A git that says nothing for so long hangs."""


def ask_git(root: Path, *words: str, seconds: float = LONGEST_SECONDS) -> str | None:
    """What git prints, with bytes that are no text as `os.fsdecode` has them; None if it fails."""
    try:
        done = subprocess.run(
            [*_GIT, "-C", str(root), *words],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            env=_environment(),
            timeout=seconds,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return os.fsdecode(done.stdout)


def _environment() -> dict[str, str]:
    """Ours without the variables that would point git at another repository."""
    return {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}

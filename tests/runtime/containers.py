"""Commands that start another with process numbers of its own, as a container does."""

import subprocess

import pytest

CONTAINER = ["unshare", "--pid", "--mount-proc", "--fork", "--kill-child"]
UNPRIVILEGED = [*CONTAINER, "--user", "--map-root-user"]


def container() -> list[str]:
    """The words before a command; the test is skipped where nothing can do that."""
    for command in (CONTAINER, UNPRIVILEGED):
        ran = subprocess.run([*command, "true"], capture_output=True, text=True, check=False)
        if ran.returncode == 0:
            return command
    pytest.skip(f"NO PROCESS NAMESPACES HERE: {ran.stderr.strip()}")

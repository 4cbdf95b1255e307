"""Keeps our own memory from the agents: they run with the same user's rights, and all keys are in
our environment."""

import ctypes

_PR_SET_DUMPABLE = 4


def shield_memory() -> None:
    """Close `/proc/PID/environ`, `mem` and `ptrace` of this process to all but root, and leave no
    core dump. Programs that it starts are as open as ever, from their `exec` on. A kernel that
    refuses leaves everything as it was."""
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)

"""The memory of a process that a test starts."""

from pathlib import Path


def peak() -> int:
    """Return the most megabytes that this process has had.

    ``ru_maxrss`` would count the memory of the process that started it, too.
    """
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) // 1024

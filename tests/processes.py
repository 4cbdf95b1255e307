"""Processes as tests look for them."""

import psutil

from swarm_bench.runtime.ownership import TAG


def tagged(tag: str) -> list[int]:
    """What runs and carries the tag, by process id."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(TAG) == tag and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except psutil.Error:
            pass
    return found

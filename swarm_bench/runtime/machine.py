"""What machine this is."""

import os
import platform

import psutil


def describe() -> dict[str, str | int | float]:
    """Describe system, processors and memory, without a name of the machine or of a user."""
    return {
        "system": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
        "processors": os.cpu_count() or 1,
        "memory_bytes": psutil.virtual_memory().total,
        "python": platform.python_version(),
    }

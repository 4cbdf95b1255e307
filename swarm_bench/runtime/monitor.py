"""Memory and processor time of process trees, and what runs in them, sampled."""

import time
from contextlib import suppress

import anyio
import psutil

from swarm_bench.runtime.ownership import TAG

SAMPLE_SECONDS = 0.25
SETTLED_SECONDS = 5
"""Age after which a process without a tag is not asked again: it will not start another image."""
LOOKS = 2
"""Samples in which a process is asked for its arguments: in the first one it may not yet have
started the program that it was made for."""
MOST_COMMANDS = 500
"""Different command lines that are kept of one tree."""
LONGEST_ARGUMENT = 4_000
"""Characters."""


class TreeMonitor:
    """Looks at all tagged processes of this machine at once, until it is cancelled."""

    def __init__(self) -> None:
        self._peak: dict[str, int] = {}
        self._cpu: dict[str, float] = {}
        self._foreign: set[tuple[int, float]] = set()
        self._looks: dict[tuple[int, float], int] = {}
        self._commands: dict[str, dict[tuple[str, ...], None]] = {}

    async def watch(self) -> None:
        """Take samples, each in a worker thread."""
        while True:
            await anyio.to_thread.run_sync(self._sample)
            await anyio.sleep(SAMPLE_SECONDS)

    def peak_memory(self, tag: str) -> int | None:
        """Largest sum of resident sizes, in bytes; shared pages count once per process."""
        return self._peak.get(tag)

    def cpu_seconds(self, tag: str) -> float | None:
        """User and system time of the tree at its last sample."""
        return self._cpu.get(tag)

    def commands(self, tag: str) -> tuple[tuple[str, ...], ...]:
        """The arguments of the processes that were seen in the tree, each once."""
        return tuple(self._commands.get(tag, ()))

    def _sample(self) -> None:
        memory, cpu = dict[str, int](), dict[str, float]()
        now = time.time()
        for process in psutil.process_iter():
            identity = (process.pid, process.create_time())
            if identity in self._foreign:
                continue
            with suppress(psutil.Error), process.oneshot():
                tag = process.environ().get(TAG)
                if tag is None:
                    if now - identity[1] > SETTLED_SECONDS:
                        self._foreign.add(identity)
                    continue
                self._read_arguments(process, identity, tag)
                # A child's time moves to its parent when it ends.
                memory[tag] = memory.get(tag, 0) + process.memory_info().rss
                cpu[tag] = cpu.get(tag, 0.0) + sum(process.cpu_times()[:4])
        for tag, size in memory.items():
            self._peak[tag] = max(size, self._peak.get(tag, 0))
        for tag, seconds in cpu.items():
            self._cpu[tag] = max(seconds, self._cpu.get(tag, 0.0))

    def _read_arguments(
        self, process: psutil.Process, identity: tuple[int, float], tag: str
    ) -> None:
        looks = self._looks.get(identity, 0)
        kept = self._commands.setdefault(tag, {})
        if looks < LOOKS and len(kept) < MOST_COMMANDS:
            self._looks[identity] = looks + 1
            kept.setdefault(tuple(word[:LONGEST_ARGUMENT] for word in process.cmdline()))

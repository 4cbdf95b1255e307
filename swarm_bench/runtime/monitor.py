"""Memory and processor time of process trees, and what runs in them, sampled."""

import anyio

from swarm_bench.runtime.processes import procfs
from swarm_bench.runtime.processes.launching import is_launching
from swarm_bench.runtime.processes.procfs import Stat
from swarm_bench.runtime.processes.trees import FAMILY

SAMPLE_SECONDS = 0.25
MAX_SAMPLES = 2
"""Samples in which a process is asked for its arguments: in the first one it may not yet have
started the program that it was made for."""
MOST_COMMANDS = 500
"""Different command lines that are kept of one tree."""
LONGEST_ARGUMENT = 4_000
"""Characters."""


class TreeMonitor:
    """Looks at all trees of ours at once, until it is cancelled."""

    def __init__(self) -> None:
        self._peak: dict[str, int] = {}
        self._cpu: dict[str, float] = {}
        self._looks: dict[tuple[int, int], int] = {}
        self._commands: dict[str, dict[tuple[str, ...], None]] = {}

    async def watch(self) -> None:
        """Take samples, each in a worker thread, while anything of ours runs."""
        while True:
            if FAMILY.is_running:
                await anyio.to_thread.run_sync(self._sample)
            await anyio.sleep(SAMPLE_SECONDS)

    def peak_memory(self, tag: str) -> int | None:
        """Return the largest sum of resident sizes, in bytes; shared pages count per process."""
        return self._peak.get(tag)

    def cpu_seconds(self, tag: str) -> float | None:
        """Return the user and system time of the tree at its last sample."""
        return self._cpu.get(tag)

    def commands(self, tag: str) -> tuple[tuple[str, ...], ...]:
        """Return the arguments of the processes that were seen in the tree, each once."""
        return tuple(self._commands.get(tag, ()))

    def _sample(self) -> None:
        memory, cpu = dict[str, int](), dict[str, float]()
        for stat, tree in FAMILY.list_members():
            self._read_arguments(stat, tree.tag)
            # A child's time moves to its parent when it ends.
            memory[tree.tag] = memory.get(tree.tag, 0) + stat.memory * procfs.PAGE
            cpu[tree.tag] = cpu.get(tree.tag, 0.0) + stat.cpu / procfs.TICKS
        for tag, size in memory.items():
            self._peak[tag] = max(size, self._peak.get(tag, 0))
        for tag, seconds in cpu.items():
            self._cpu[tag] = max(seconds, self._cpu.get(tag, 0.0))

    def _read_arguments(self, stat: Stat, tag: str) -> None:
        samples = self._looks.get(stat.identity, 0)
        commands = self._commands.setdefault(tag, {})
        if samples < MAX_SAMPLES and len(commands) < MOST_COMMANDS:
            argv = procfs.arguments(stat.pid)
            if argv and not is_launching(argv):
                self._looks[stat.identity] = samples + 1
                commands.setdefault(tuple(argument[:LONGEST_ARGUMENT] for argument in argv))

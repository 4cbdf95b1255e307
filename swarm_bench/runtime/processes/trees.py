"""Process trees: the tree that a process belongs to, and the end of trees.

The kernel hands us every orphan among our descendants (we are their subreaper), so nothing leaves
the line that begins with us. A process is of a tree by descent, by session or by the tag in its
environment. One that has none of these any more, because it took a session of its own, emptied its
environment and lost its parent unseen, may be of any tree that ran when it started: it is ended
with the last of these. One look at /proc serves all who wait for the end of a tree.
"""

import ctypes
import os
import signal
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from threading import Lock

import anyio
from anyio.lowlevel import RunVar

from swarm_bench.runtime.ownership import TAG
from swarm_bench.runtime.processes import procfs
from swarm_bench.runtime.processes.procfs import Stat

PAUSE = 0.005
"""Seconds after a look that found something, for it to die."""
LONGEST_PAUSE = 0.05
"""Seconds between two looks; else as long as the last one took, for each tree that it was for: the
more end together, the more the next one can serve."""
CHASES = 200
"""Looks at what has just started, in a row: a chain of processes that fork and end is faster than
a look at everything."""
_PR_SET_CHILD_SUBREAPER = 36


@dataclass(eq=False, kw_only=True)
class Tree:
    """A process that we started, and what comes of it."""

    tag: str
    started: int = field(default_factory=procfs.now)
    root: int | None = None
    """`None` until it is known; for good when a library starts the process."""


class Family:
    """All trees of this process. There is one: the kernel keeps one list of children."""

    def __init__(self) -> None:
        self._running: set[Tree] = set()
        self._trees: dict[tuple[int, int], Tree] = {}
        """Trees by the identity of a process: it may lose the signs by which it was recognised."""
        self._began = 0
        self._processes = procfs.Processes()
        self._turn = Lock()

    @contextmanager
    def hold_tree(self, tag: str) -> Iterator[Tree]:
        """Keep a tree for the block, which begins before its first process does."""
        _adopts_orphans()
        tree = Tree(tag=tag)
        self._began = self._began or tree.started
        self._running.add(tree)
        try:
            yield tree
        finally:
            self._running.discard(tree)

    @property
    def is_running(self) -> bool:
        """Whether there is any tree."""
        return bool(self._running)

    def list_members(self) -> list[tuple[Stat, Tree]]:
        """List all that runs in our trees, and whose it is."""
        with self._turn:
            table = self._processes.read_new(self._began)
            scan = _Scan(self._running, self._trees, table)
            owners = [(stat, scan.find_tree(stat)) for stat in table.values()]
            self._trees = scan.living()
        return [(stat, tree) for stat, tree in owners if tree is not None and not stat.dead]

    def end(self, doomed: Collection[Tree]) -> set[Tree]:
        """Kill what belongs to these trees, but for their roots. Returns those of which something
        was found: they have to be looked at again, as a process may start others while it dies."""
        with self._turn:
            table = self._processes.read_new(self._began)
            scan = _Scan(self._running, self._trees, table)
            fresh, affected = list(table.values()), set[Tree]()
            for _ in range(CHASES):
                killed = self._end(fresh, scan, set(doomed))
                affected |= killed
                if not killed:
                    break
                news = self._processes.read_new(self._began, table)
                table.update(news)
                fresh = list(news.values())[::-1]  # the newest first
            self._trees = scan.living()
        return affected

    def _end(self, stats: Iterable[Stat], scan: "_Scan", doomed: set[Tree]) -> set[Tree]:
        affected = set[Tree]()
        for stat in stats:
            if stat.pid in scan.roots:
                continue
            tree = scan.find_tree(stat)
            if stat.dead:
                scan.reap(stat)
                continue
            owners = {tree} if tree is not None else scan.suspects(stat)
            if tree is None and not scan.is_descendant(stat):
                continue
            if owners & self._running <= doomed:
                affected |= owners & doomed or doomed
                _kill(stat)
        return affected


FAMILY = Family()


class _Scan:
    """What one look at all processes says of them."""

    def __init__(
        self, running: Iterable[Tree], trees: dict[tuple[int, int], Tree], table: dict[int, Stat]
    ) -> None:
        self._running = tuple(running)
        self._trees = trees
        self._table = table
        self.roots = {tree.root: tree for tree in self._running if tree.root is not None}
        self._tags = {tree.tag: tree for tree in self._running}
        self._me = os.getpid()
        self._session = os.getsid(0)

    def living(self) -> dict[tuple[int, int], Tree]:
        """Return the trees of the processes that are alive."""
        alive = {stat.identity for stat in self._table.values()}
        return {identity: tree for identity, tree in self._trees.items() if identity in alive}

    def find_tree(self, stat: Stat) -> Tree | None:
        """Find the tree that a process can be shown to belong to."""
        line = self._list_ancestors(stat)
        # To read the tag of a process that forks all the time can take a tenth of a second.
        for sign in (self._recognise, self._read_tag):
            for process in line:
                if (tree := sign(process)) is not None:
                    self._trees[stat.identity] = tree
                    return tree
        return None

    def is_descendant(self, stat: Stat) -> bool:
        """Tell whether a process descends from us, and from no helper in our own session."""
        top = self._list_ancestors(stat)[-1:]
        return any(
            process.parent == self._me and process.session != self._session for process in top
        )

    def suspects(self, stat: Stat) -> set[Tree]:
        """Return the trees that may have started a process of which nothing else is known."""
        return {tree for tree in self._running if tree.started <= stat.started}

    def reap(self, stat: Stat) -> None:
        """Reap an orphan that has ended; never a process that other code waits for."""
        adopted = stat.parent == self._me and stat.session != self._session
        if adopted and all(tree.root is not None for tree in self.suspects(stat)):
            with suppress(ChildProcessError):
                os.waitpid(stat.pid, os.WNOHANG)

    def _list_ancestors(self, stat: Stat) -> list[Stat]:
        """List the process and those above it, up to our child; empty when it is none of ours."""
        line = [stat]
        while line[-1].parent != self._me:
            parent = self._table.get(line[-1].parent)
            if parent is None or len(line) > len(self._table):
                return [] if _adopts_orphans() else [stat]
            line.append(parent)
        return line

    def _recognise(self, stat: Stat) -> Tree | None:
        tree = self._trees.get(stat.identity) or self.roots.get(stat.pid)
        return tree or self.roots.get(stat.session)

    def _read_tag(self, stat: Stat) -> Tree | None:
        return self._tags.get(procfs.variable(stat.pid, TAG) or "")


def _kill(stat: Stat) -> None:
    """Kill its whole group, which cannot outrun that by forking; never ours."""
    with suppress(ProcessLookupError, PermissionError):
        if stat.group not in (0, os.getpgrp()):
            os.killpg(stat.group, signal.SIGKILL)
        os.kill(stat.pid, signal.SIGKILL)


@cache
def _adopts_orphans() -> bool:
    """Have the kernel give us the orphans among our descendants. Returns whether it does."""
    libc = ctypes.CDLL(None, use_errno=True)
    return bool(libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


class _SharedScan:
    """One look that serves all who wait for it at that moment."""

    def __init__(self) -> None:
        self._asked = _Request()
        self._turn = anyio.Lock()
        self._thread = anyio.CapacityLimiter(1)
        self._due = 0.0

    async def end(self, tree: Tree) -> bool:
        """Kill what is of the tree. Returns whether there was anything."""
        request = self._asked
        request.trees.add(tree)
        async with self._turn:
            if request.affected is None:  # and nobody has done it while we waited
                await anyio.sleep_until(self._due)
                self._asked = _Request()
                start = anyio.current_time()
                request.affected = await anyio.to_thread.run_sync(
                    FAMILY.end, frozenset(request.trees), limiter=self._thread
                )
                end = anyio.current_time()
                pause = (end - start) * len(request.trees)  # leave room for others
                self._due = end + min(LONGEST_PAUSE, pause)
        return tree in request.affected


@dataclass(eq=False, kw_only=True)
class _Request:
    trees: set[Tree] = field(default_factory=set)
    affected: set[Tree] | None = None


_SHARED_SCAN: RunVar[_SharedScan] = RunVar("looks at the processes")


async def end_strays(tree: Tree, grace: float) -> None:
    """Kill what belongs to a tree until nothing of it remains, for at most `grace` seconds. Its
    root is left to the code that waits for it."""
    scans = _SHARED_SCAN.get(None)
    if scans is None:
        _SHARED_SCAN.set(scans := _SharedScan())
    with anyio.move_on_after(grace):
        while await scans.end(tree):
            await anyio.sleep(PAUSE)  # nobody tells when a process has died
            while await scans.end(tree):  # noqa: ASYNC110
                await anyio.sleep(PAUSE)
            await anyio.sleep(PAUSE)  # whoever waited for its death may only leave now

"""The actor on a node of a Ray cluster: starts a worker there, and passes on what that prints and
reads. It runs no trial itself: when it dies, however that happens, the worker's standard input ends
and the worker with it. This file is imported by Ray on the node, so nothing of ours is pickled."""

import asyncio
import hashlib
import json
import os
import sys
import tempfile
from contextlib import ExitStack

from swarm_bench.core.roles.executor import Needs
from swarm_bench.executors.node_facts import collect_facts
from swarm_bench.runtime.files import write_whole
from swarm_bench.runtime.ownership import temporary

_PIECE = 1 << 20
_LINE = 1 << 24


class Relay:
    """One of them is on each node, for one session, or several one after the other."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._process: asyncio.subprocess.Process | None = None

    async def examine(self, needs: str) -> str:
        """Return the facts of the node as JSON; `needs` is JSON too."""
        parsed_needs = Needs(**json.loads(needs))
        facts = await asyncio.to_thread(collect_facts, parsed_needs)
        import ray

        of_ray = {"authentication": _find_authentication(), "ray": ray.__version__}
        return json.dumps({**facts, **of_ray})

    async def start(self, context: bytes, digest: str) -> str:
        """Start the worker. Returns the order that opens the session at it, as JSON, but for its
        benchmark."""
        if hashlib.sha256(context).hexdigest() != digest:
            raise ValueError("the session arrived broken")
        folder = self._stack.enter_context(temporary())
        write_whole(folder / "context.json", context)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("RAY_")}
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "swarm_bench.executors.worker"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            cwd=folder,
            env=environment,
            start_new_session=True,  # Ray ends the group of an actor at once; it ends in order
            limit=_LINE,
        )
        return json.dumps({"work": tempfile.gettempdir(), "context": str(folder / "context.json")})

    async def send(self, content: bytes) -> None:
        """Write to the worker."""
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(content)
        await self._process.stdin.drain()

    async def receive(self) -> bytes:
        """Return what the worker has printed since; nothing, when it has ended."""
        assert self._process is not None
        assert self._process.stdout is not None
        return await self._process.stdout.read(_PIECE)

    async def stop(self) -> None:
        """Close the standard input of the worker, and wait until it has ended."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            await self._process.wait()
        self._stack.close()


def _find_authentication() -> str:
    """Tell whether whoever reaches the cluster may run programs on it."""
    import ray._raylet as raylet

    is_token = raylet.get_authentication_mode() == raylet.AuthenticationMode.TOKEN
    return "token" if is_token else "none"

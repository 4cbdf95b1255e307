"""The life of a canopy-service: started on a free port, kept to ourselves by a key, asked to index,
watched, stopped. Nobody says how long a standalone canopy indexes, but its index file grows
meanwhile."""

import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Any

import anyio
from anyio.abc import Process

from swarm_bench.core.errors import IndexFailed, ProcessLost, ServiceFailed
from swarm_bench.core.session.experiment import Mode
from swarm_bench.retrieval.canopy.backends import SERVICE, is_embedded
from swarm_bench.retrieval.modes.mode import find_templates
from swarm_bench.retrieval.modes.variables import find_placeholders_in
from swarm_bench.runtime.listening import CONNECT_SECONDS, listens
from swarm_bench.runtime.process import Command, background
from swarm_bench.runtime.untrusted import tail

INDEX = Path(".canopy") / "index.db"
POLL_SECONDS = 0.1


class IndexWatch:
    """Looks at a workspace's index file until it is cancelled."""

    def __init__(self, workspace: Path) -> None:
        index = workspace / INDEX
        self._files = (index, index.with_name(index.name + "-wal"))
        self._largest = 0
        self._first: float | None = None
        self._last: float | None = None

    async def watch(self) -> None:
        """Note when the index first appears, and when it last grows.

        Its greatest size counts and not its time stamp: closing a database writes it once more.
        """
        while True:
            size = sum(map(_read_size, self._files))
            if size > self._largest:
                now = anyio.current_time()
                self._largest = size
                self._first = now if self._first is None else self._first
                self._last = now
            await anyio.sleep(POLL_SECONDS)

    @property
    def seconds(self) -> float | None:
        """Return the seconds from the first to the last growth, to about a tenth; `None` without an
        index."""
        if self._first is None or self._last is None:
            return None
        return self._last - self._first


def _read_size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


START_SECONDS = 30
"""Seconds in which the service must answer `/status`."""
WATCH_SECONDS = 1.0
SILENCE_SECONDS = 15.0
"""Seconds for which a service may be silent before it counts as lost; a busy one is slow, not dead.
One that no longer listens is lost at once."""
LOG_LINES = 3
LOG_BYTES = 10_000


@dataclass(frozen=True, kw_only=True)
class Service:
    """A service that answers."""

    url: str
    key: str | None = field(default=None, repr=False)
    """Key that the service requires with every request; `None` for one that requires none."""
    log: Path | None = None
    """Log of the service; `None` for one that was not started by us."""
    process: Process | None = None

    @property
    def variables(self) -> dict[str, str]:
        """What the MCP servers that ask it must be given."""
        return {} if self.key is None else {API_KEY: self.key}

    async def index(self, workspace: Path, timeout: float) -> float:
        """Add the workspace and have it indexed. Returns seconds until it was ready.

        Raises `IndexFailed`.
        """
        started = anyio.current_time()
        with anyio.move_on_after(timeout):
            repo = await self.find_repository_id(workspace)
            await self.call("POST", "/reindex", {"repo": repo})
            await self._wait_until_ready(repo)
            return anyio.current_time() - started
        raise IndexFailed(
            f"canopy-service had not indexed the repository after {timeout:g} s; "
            f"give it more with --index-timeout{self._refer_to_log()}"
        )

    async def find_repository_id(self, workspace: Path) -> object:
        """Return the service's id of the workspace, which is added if it is new."""
        return (await self.call("POST", "/repos/add", {"path": str(workspace)})).get("repo_id")

    def describe_exit(self) -> str | None:
        """Say in a sentence how our own service ended; `None` while it runs."""
        if self.process is None or self.process.returncode is None:
            return None
        return (
            f"canopy-service ended with exit code {self.process.returncode} "
            f"while the agents ran{self._refer_to_log()}"
        )

    async def watch(self) -> str:
        """Return only when the service is lost, with one sentence on how."""
        last_answer = anyio.current_time()
        while True:
            if (loss := await self.describe_loss()) is not None:
                return loss
            if await self.is_answering():
                last_answer = anyio.current_time()
            elif anyio.current_time() - last_answer > SILENCE_SECONDS:
                return (
                    f"canopy-service did not answer for {SILENCE_SECONDS:g} s "
                    f"while the agents ran{self._refer_to_log()}"
                )
            await anyio.sleep(WATCH_SECONDS)

    async def describe_loss(self) -> str | None:
        """Say in a sentence how the service is gone for certain; `None` while it may be there."""
        if self.describe_exit() is not None or await listens(self.url):
            return self.describe_exit()
        if self.process is not None:
            with anyio.move_on_after(CONNECT_SECONDS):  # it gives its port back first
                await self.process.wait()
        return (
            self.describe_exit() or f"nobody listens at {self.url} any more{self._refer_to_log()}"
        )

    async def is_answering(self) -> bool:
        """Tell whether something that calls itself canopy-service answers now."""
        try:
            status = await self.call("GET", "/status")
        except ServiceFailed:
            return False
        return _is_canopy(status)

    async def read_implementation(self) -> str | None:
        """Ask how the service names itself beyond the protocol; the real one does not."""
        name = (await self.call("GET", "/status")).get("implementation")
        return str(name) if name else None

    async def _wait_until_ready(self, repo: object) -> None:
        while True:
            answer = await self.call("GET", "/repos")
            shards: list[dict[str, Any]] = answer.get("list", [])
            shard = next((shard for shard in shards if shard.get("repo_id") == repo), {})
            if shard.get("status") == "ready":
                return
            if shard.get("status") == "error":
                raise IndexFailed(
                    f"canopy-service could not index the repository: "
                    f"{shard.get('error_message') or 'it gave no reason'}{self._refer_to_log()}"
                )
            if self.describe_exit() is not None:
                raise IndexFailed(f"canopy-service died while it indexed{self._refer_to_log()}")
            await anyio.sleep(POLL_SECONDS)

    async def call(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """Return the answer's object, an array as `{"list": [...]}`. Raises `ServiceFailed`."""
        import httpx2  # 35 ms, and most sessions ask no service

        headers = {"X-Api-Key": self.key} if self.key else {}
        try:
            # No proxy: the service is on this machine, or where the user said. To read the
            # certificates of all authorities takes longer than many a request.
            certain = not self.url.lower().startswith("http://")
            async with httpx2.AsyncClient(
                timeout=10, trust_env=False, headers=headers, verify=certain
            ) as client:
                answer = await client.request(method, self.url + path, json=body)
                content = answer.json()
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
            raise ServiceFailed(
                f"canopy-service at {self.url} does not answer {path}: "
                f"{error or type(error).__name__}{self._refer_to_log()}"
            ) from error
        if answer.is_error:
            message = content.get("message") if isinstance(content, dict) else content
            raise ServiceFailed(f"canopy-service refused {path}: {message}{self._refer_to_log()}")
        return content if isinstance(content, dict) else {"list": content}

    def _refer_to_log(self) -> str:
        if self.log is None:
            return ""
        try:
            lines = tail(self.log, LOG_BYTES).decode("utf-8", "replace").strip().splitlines()
        except OSError:  # agents can reach it
            return f"; its log {self.log} cannot be read"
        last = " | ".join(lines[-LOG_LINES:])
        return f"; its log {self.log} ends: {last}" if last else f"; its log is {self.log}"


def _is_canopy(status: Mapping[str, Any]) -> bool:
    return status.get("service") == SERVICE


def _describe_nobody(url: str) -> str:
    return (
        f"No canopy-service answers at {url} without a key; start a service there, or omit "
        "--service-url to have one started"
    )


def hide_log(error: Exception, log: Path) -> str:
    """Write a sentence on a service without the path of a log that goes away."""
    sentence = str(error).replace(f"; its log is {log}", ", and its log is empty")
    return sentence.replace(f"its log {log}", "its log")


@asynccontextmanager
async def start_service(
    command: Command, *, log: Path, secrets: tuple[str, ...]
) -> AsyncIterator[Service]:
    """Start a service of our own for the block. `command` gets `--port` and a free port; `secrets`
    are kept out of its log.

    Raises `ServiceFailed` when it does not come up.
    """
    port = _free_port()
    with_port = Command(
        argv=(*command.argv, "--port", str(port)),
        cwd=command.cwd,
        env=command.env,
        tag=command.tag,
    )
    async with AsyncExitStack() as stack:
        try:
            process = await stack.enter_async_context(
                background(with_port, log=log, secrets=secrets)
            )
        except ProcessLost as error:
            raise ServiceFailed(str(error)) from error
        url, key = f"http://127.0.0.1:{port}", command.env.get(API_KEY)
        service = Service(url=url, key=key, log=log, process=process)
        await _wait_for_answer(service, process)
        yield service


@asynccontextmanager
async def open_running_service(url: str) -> AsyncIterator[Service]:
    """Use a service that is not started by us. Raises `ServiceFailed` when it is none."""
    service = Service(url=url.rstrip("/"))
    try:
        answer = await service.call("GET", "/status")
    except ServiceFailed as error:
        raise ServiceFailed(f"{_describe_nobody(url)} ({error})") from error
    if not _is_canopy(answer):
        raise ServiceFailed(_describe_nobody(url))
    yield service


async def _wait_for_answer(service: Service, process: Process) -> None:
    with anyio.move_on_after(START_SECONDS):
        while process.returncode is None:
            if await service.is_answering():
                # Another program could have taken the port: then ours has ended or will.
                await anyio.sleep(POLL_SECONDS)
                if process.returncode is None:
                    return
            await anyio.sleep(POLL_SECONDS)
        await anyio.sleep(POLL_SECONDS)  # its last words are on the way to the log
    if process.returncode is None:
        raise ServiceFailed(
            f"canopy-service did not answer within {START_SECONDS} s{service._refer_to_log()}"
        )
    raise ServiceFailed(
        f"canopy-service ended at its start with exit code {process.returncode}"
        f"{service._refer_to_log()}"
    )


def _free_port() -> int:
    """Find a port of the loopback interface on which no program listens."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


API_KEY = "CANOPY_API_KEY"
"""The variable from which both embedded programs take the key: on a command line the whole machine
could read it."""


def draw_key() -> str:
    """Draw the key of a session: 128 random bits."""
    return token_hex(16)


def sends_key(mode: Mode, programs: Mapping[str, Path]) -> bool:
    """Tell whether only the embedded canopy-mcp asks the mode's service: it sends its key with
    every request."""
    clients = [
        server for server in mode.servers.values() if "service_url" in find_placeholders_in(server)
    ]
    return (
        is_embedded(programs["canopy-mcp"])
        and all(_is_plain_canopy(client) for client in clients)
        and "service_url" not in find_placeholders_in(list(find_templates(mode)))
    )


def _is_plain_canopy(server: Mapping[str, Any]) -> bool:
    """Tell whether it is canopy-mcp, and brings no key of its own."""
    settings = [*server.get("env", {}), *(str(word) for word in server.get("args", ()))]
    brings_key = any(word.upper() == API_KEY or word.startswith("--api-key") for word in settings)
    return find_placeholders_in(server.get("command")) == {"canopy_mcp"} and not brings_key

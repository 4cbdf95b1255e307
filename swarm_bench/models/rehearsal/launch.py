"""Starts the rehearsal server beside a session, and fetches what it counted."""

import re
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import anyio
from anyio.abc import Process
from pydantic import TypeAdapter, ValidationError

from swarm_bench.core.errors import ProcessLost, ServiceFailed
from swarm_bench.models.rehearsal.faults import parse_faults
from swarm_bench.runtime.listening import CONNECT_SECONDS, listens
from swarm_bench.runtime.process import Command, background
from swarm_bench.runtime.untrusted import open_untrusted

START_SECONDS = 20
POLL_SECONDS = 0.02
ANSWER_SECONDS = 10

_ADDRESS = re.compile(rb"^(http://127\.0\.0\.1:\d+) answers", re.MULTILINE)
"""The word shows that the number is whole. The end of the line would not do: a log without secrets
keeps back what a secret may begin with, such as `5` and the end of a line."""


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """The requests of one agent's program."""

    requests: int
    """Requests for an answer, without those to count tokens."""
    faults: int
    """Requests that were answered with a fault."""
    request_tokens: int | None
    """Tokens of the first request that offered tools; `None` when there was none."""
    tools: Mapping[str, int]
    """Every tool that was offered in any request, as the model sees its name, with the tokens of
    its description as it was offered first. Their sum is what all of them together would cost,
    whether or not any request had them all."""
    errors: int = 0
    """Requests at which the server itself failed: a defect of its own, and not the program's."""


_TRAFFIC = TypeAdapter(Traffic)


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """A rehearsal server that answers."""

    url: str
    log: Path
    process: Process

    def for_trial(self, trial: str) -> str:
        """Return the address for one agent; what it asks there is counted under its trial."""
        return f"{self.url}/trial/{trial}"

    async def traffic(self, trial: str) -> Traffic | None:
        """Fetch what the agent asked so far; `None` when it never asked. Raises `ServiceFailed`
        when the server does not answer."""
        import httpx2  # 35 ms, and most sessions have no rehearsal

        try:
            async with httpx2.AsyncClient(timeout=ANSWER_SECONDS, trust_env=False) as client:
                answer = await client.get(f"{self.for_trial(trial)}/traffic")
            if answer.status_code == httpx2.codes.NOT_FOUND:
                return None
            return _TRAFFIC.validate_json(answer.raise_for_status().content)
        except (httpx2.HTTPError, ValidationError) as error:
            reason = await self.lost() or f"the rehearsal server does not answer ({error!r})"
            raise ServiceFailed(f"What the agent asked is unknown: {reason}") from error

    async def lost(self) -> str | None:
        """Say in one sentence how the server is certainly gone; `None` while it may be there."""
        if self._explain_end() is not None or await listens(self.url):
            return self._explain_end()
        with anyio.move_on_after(CONNECT_SECONDS):  # it gives its port back first
            await self.process.wait()
        return self._explain_end() or (
            f"nobody listens at {self.url} any more, where the rehearsal server was; its log is "
            f"{self.log}"
        )

    def _explain_end(self) -> str | None:
        if self.process.returncode is None:
            return None
        return (
            f"the rehearsal server ended with exit code {self.process.returncode}; its log is "
            f"{self.log}"
        )


@asynccontextmanager
async def start_rehearsal(
    env: Mapping[str, str],
    faults: Sequence[str],
    log: Path,
    *,
    secrets: tuple[str, ...],
    instructions: Sequence[str] = (),
) -> AsyncIterator[Rehearsal]:
    """Run a server on a free port of the loopback interface for the block; its output goes to
    `log`, without the secrets. `instructions` are what the modes put before a task.

    Raises `ServiceFailed` when it does not come up, `UsageError` for a fault that is not one.
    """
    parse_faults(faults)
    arguments = [word for fault in faults for word in ("--fault", fault)]
    arguments += [f"--instructions={text}" for text in instructions if text]
    command = Command(
        # Isolated: no folder of the user's, and none of PYTHON..., may change what is imported.
        argv=(sys.executable, "-I", "-m", "swarm_bench.programs.rehearsal", *arguments),
        cwd=log.parent,
        env=env,
        tag=f"rehearsal-{uuid4().hex}",
    )
    log_size = log.stat().st_size if log.exists() else 0
    async with AsyncExitStack() as stack:
        try:
            process = await stack.enter_async_context(background(command, log=log, secrets=secrets))
        except ProcessLost as error:
            raise ServiceFailed(str(error)) from error
        url = await _wait_for_address(process, log, log_size)
        yield Rehearsal(url=url, log=log, process=process)


def address_in(log: bytes) -> str | None:
    """Read the address that a server names; `None` until all of it is there."""
    match = _ADDRESS.search(log)
    return match[1].decode() if match else None


async def _wait_for_address(process: Process, log: Path, log_size: int) -> str:
    """Wait for the line of the log in which the server names its address. `written` is the length
    that the log had before."""
    with anyio.move_on_after(START_SECONDS):
        while process.returncode is None:
            if address := address_in(_read_since(log, log_size)):
                return address
            await anyio.sleep(POLL_SECONDS)
        await anyio.sleep(POLL_SECONDS)  # its last line is on the way to the log
    last = _read_since(log, log_size).decode(errors="replace").strip().splitlines()[-1:]
    how = (
        f"did not answer within {START_SECONDS} s"
        if process.returncode is None
        else f"ended at its start with exit code {process.returncode}"
    )
    raise ServiceFailed(
        f"The rehearsal server {how}; its log is {log}{': ' if last else ''}{''.join(last)}"
    )


def _read_since(log: Path, log_size: int) -> bytes:
    with open_untrusted(log) as file:
        file.seek(log_size)
        return file.read()

"""What becomes of a request when a provider does what the rehearsal server plays."""

import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from swarm_bench.core.errors import ModelFailed, NotAuthorized
from swarm_bench.core.roles.language_model import Ask, Completion, LanguageModel, Turn
from swarm_bench.core.status import Cause
from swarm_bench.models.rehearsal.faults import FAULTS, SLOW_SECONDS
from swarm_bench.models.rehearsal.launch import Rehearsal, start_rehearsal
from swarm_bench.models.servers.anthropic import anthropic_server
from swarm_bench.models.servers.compatible import compatible_server
from swarm_bench.models.servers.server import ATTEMPTS
from swarm_bench.runtime.environment import small_environment

pytestmark = pytest.mark.anyio
TURNS = (Turn(role="user", text="Which?"),)
WAYS: dict[str, tuple[Any, Ask]] = {
    "chat": (compatible_server, Ask(prompt=TURNS)),
    "text": (compatible_server, Ask(prompt="def f")),
    "anthropic": (anthropic_server, Ask(prompt=TURNS)),
}
PASSING = {
    "rate-limit": Cause.RATE_LIMITED,
    "rate-limit-retry-after": Cause.RATE_LIMITED,
    "server-error": Cause.PROVIDER_FAILED,
    "overloaded": Cause.PROVIDER_FAILED,
    "broken-stream": Cause.PROVIDER_FAILED,
}
"""Faults that may be over a moment later, and the cause when they are not."""
ONCE = (
    "unauthorized", "context-overflow", "refusal", "empty-answer", "cut-off", "slow-first-token",
)  # fmt: skip


@asynccontextmanager
async def rehearsing(log: Path, *faults: str) -> AsyncIterator[Rehearsal]:
    environment = small_environment(os.environ)
    async with start_rehearsal(environment, faults, log, secrets=()) as rehearsal:
        yield rehearsal


@asynccontextmanager
async def opened(
    rehearsal: Rehearsal, way: str, timeout: float = 30
) -> AsyncIterator[LanguageModel]:
    server, _ = WAYS[way]
    url = f"{rehearsal.for_trial(way)}/v1"
    async with server("m", url, key="sk-1234567890", timeout=timeout) as model:
        yield model


def test_the_faults_tried_here_are_all() -> None:
    assert {*PASSING, *ONCE} == set(FAULTS)


async def test_faults_that_do_not_pass_end_in_their_cause(tmp_path: Path) -> None:
    """In less than 16 s: what is waited is at most 1, 2, 4 and 8."""
    causes: dict[tuple[str, str], ModelFailed] = {}

    async def meet(rehearsal: Rehearsal, fault: str, way: str) -> None:
        async with opened(rehearsal, way) as model:
            with pytest.raises(ModelFailed) as raised:
                await model.complete(WAYS[way][1])
        causes[fault, way] = raised.value

    async with AsyncExitStack() as stack:
        servers = {
            fault: await stack.enter_async_context(rehearsing(tmp_path / fault, fault))
            for fault in PASSING
        }
        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                for fault, rehearsal in servers.items():
                    for way in WAYS:
                        group.start_soon(meet, rehearsal, fault, way)
    wanted = {(fault, way): cause for fault, cause in PASSING.items() for way in WAYS}
    assert {at: error.cause for at, error in causes.items()} == wanted
    assert {error.requests for error in causes.values()} == {ATTEMPTS}


@pytest.mark.parametrize("way", WAYS)
async def test_faults_that_pass_are_outlived(way: str, tmp_path: Path) -> None:
    faults = [f"{fault}:{2 * number + 1}" for number, fault in enumerate(PASSING)]
    async with rehearsing(tmp_path / "log", *faults) as rehearsal, opened(rehearsal, way) as model:
        for _ in faults:
            answer = await model.complete(WAYS[way][1])
            assert (answer.text, answer.finish, answer.requests) == ("Rehearsal", "stop", 2)
            assert answer.usage.output is not None


@pytest.mark.parametrize("way", WAYS)
async def test_other_faults_are_met_once(way: str, tmp_path: Path) -> None:
    faults = [f"{fault}:{number}" for number, fault in enumerate(ONCE, 1)]
    async with rehearsing(tmp_path / "log", *faults) as rehearsal, opened(rehearsal, way) as model:

        async def answer() -> Completion:
            return await model.complete(WAYS[way][1])

        with pytest.raises(NotAuthorized, match="HTTP 401"):
            await answer()
        with pytest.raises(ModelFailed, match="HTTP 400") as raised:
            await answer()
        assert raised.value.cause is Cause.CONTEXT_OVERFLOW
        refused, cut, slow = [await answer() for _ in range(3)]
    assert (refused.text, refused.finish) == ("", "refused")
    assert (cut.text, cut.finish) == ("Rehe", "length")
    assert slow.seconds is not None
    assert slow.seconds >= SLOW_SECONDS
    # An empty answer came before it, of which the server says that nothing was written.
    assert [it.requests for it in (refused, cut, slow)] == [1, 2, 1]


async def test_silence_beyond_the_time_limit_is_no_answer(tmp_path: Path) -> None:
    async with (
        rehearsing(tmp_path / "log", "slow-first-token") as rehearsal,
        opened(rehearsal, "text", timeout=1) as model,
    ):
        with pytest.raises(ModelFailed, match="did not answer within 1 s") as raised:
            await model.complete(WAYS["text"][1])
    assert raised.value.cause is Cause.TIMEOUT

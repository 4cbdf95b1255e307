import os
import signal
from pathlib import Path

import httpx2
import pytest

from swarm_bench.core.errors import ServiceFailed, UsageError
from swarm_bench.models.rehearsal.launch import Rehearsal, Traffic, address_in, start_rehearsal
from swarm_bench.runtime.environment import small_environment
from tests.builders.golden import Sentences

pytestmark = pytest.mark.anyio

BODY = {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}


def environment() -> dict[str, str]:
    return small_environment(os.environ)


async def ask(rehearsal: Rehearsal, trial: str) -> int:
    async with httpx2.AsyncClient(trust_env=False) as client:
        answer = await client.post(f"{rehearsal.for_trial(trial)}/v1/messages", json=BODY)
    return answer.status_code


async def test_a_server_is_there_for_the_block_and_tells_what_it_saw(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("http://127.0.0.1:1 answers\n")  # of an earlier call
    async with start_rehearsal(environment(), ["rate-limit:2"], log, secrets=()) as rehearsal:
        assert await rehearsal.traffic("one") is None
        assert [await ask(rehearsal, "one"), await ask(rehearsal, "one")] == [200, 429]
        assert await ask(rehearsal, "other") == 200
        assert await rehearsal.traffic("one") == Traffic(
            requests=2, faults=1, request_tokens=None, tools={}
        )
    with pytest.raises(ServiceFailed, match="agent asked is unknown: the rehearsal server"):
        await rehearsal.traffic("one")
    assert "plays rate-limit for /trial/one/v1/messages" in log.read_text()


async def test_half_an_address_is_none() -> None:
    """A log is written in pieces."""
    assert address_in(b"starts\nhttp://127.0.0.1:45") is None
    assert address_in(b"starts\nhttp://127.0.0.1:4567") is None
    assert address_in(b"starts\nhttp://127.0.0.1:4567 answers") == "http://127.0.0.1:4567"


async def test_secrets_that_may_begin_at_the_end_of_the_address_do_not_hold_it_back(
    tmp_path: Path,
) -> None:
    """In base64, broken into lines, these begin with each of the ten digits and the end of a
    line."""
    secrets = tuple(f"{first}ai-not-a-real-key" for first in "tuvwxyz{|}")
    async with start_rehearsal(environment(), [], tmp_path / "log", secrets=secrets) as server:
        assert await ask(server, "t") == 200


async def test_two_servers_do_not_meet(tmp_path: Path) -> None:
    async with (
        start_rehearsal(environment(), [], tmp_path / "1", secrets=()) as one,
        start_rehearsal(environment(), [], tmp_path / "2", secrets=()) as other,
    ):
        await ask(one, "t")
        assert await one.traffic("t") is not None
        assert await other.traffic("t") is None


async def test_a_server_that_was_killed_is_lost(tmp_path: Path, golden: Sentences) -> None:
    async with start_rehearsal(environment(), [], tmp_path / "log", secrets=()) as rehearsal:
        assert await rehearsal.lost() is None
        rehearsal.process.kill()
        await rehearsal.process.wait()
        lost = await rehearsal.lost()
        golden(lost or "")
        with pytest.raises(ServiceFailed, match="ended with exit code -9"):
            await rehearsal.traffic("one")


async def test_a_server_that_hangs_is_not_known_to_be_lost(tmp_path: Path) -> None:
    async with start_rehearsal(environment(), [], tmp_path / "log", secrets=()) as rehearsal:
        rehearsal.process.send_signal(signal.SIGSTOP)
        try:
            assert await rehearsal.lost() is None
        finally:
            rehearsal.process.send_signal(signal.SIGCONT)


async def test_a_fault_that_is_none_is_refused_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no fault called 'flood'"):
        async with start_rehearsal(environment(), ["flood"], tmp_path / "log", secrets=()):
            pass
    assert not (tmp_path / "log").exists()


async def test_a_server_that_cannot_be_started_says_why(tmp_path: Path) -> None:
    with pytest.raises(ServiceFailed, match="could not be started: illegal environment"):
        async with start_rehearsal({"A=B": "C"}, [], tmp_path / "log", secrets=()):
            pass

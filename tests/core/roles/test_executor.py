"""What `--on` names can be anybody's class: what it does wrong is said in a sentence."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from typing import Any

import pytest

from swarm_bench.core.errors import ConfigError, HarnessError, NodeLost
from swarm_bench.core.listing import Check, State
from swarm_bench.core.roles.executor import (
    Host,
    Needs,
    OpenedExecutor,
    find_executor_kind,
)

pytestmark = pytest.mark.anyio
SESSION: Any = None
CHECKS = [Check(about="node n", state=State.OK, finding="has all")]


async def execute(*_: Any) -> None: ...


def reserve_host() -> Any:
    return nullcontext(Host(execute, "n"))


class Fine:
    """One that is as it has to be, but for what a test gives it."""

    opened: Any = OpenedExecutor(reserve_host=reserve_host, nodes={"n": {"processors": 2}})
    checks: Any = CHECKS

    @asynccontextmanager
    async def connect(self, *_: Any) -> AsyncIterator[Any]:
        yield self.open_session

    @asynccontextmanager
    async def open_session(self, _: Any) -> AsyncIterator[Any]:
        yield self.opened

    async def examine(self, *_: Any) -> Any:
        return self.checks


class RaisesWhenMade(Fine):
    def __init__(self) -> None:
        raise RuntimeError("boo\nfar")


class Exits(Fine):
    def __init__(self) -> None:
        raise SystemExit(1)


class CannotConnect:
    async def examine(self, *_: Any) -> Any: ...


class RaisesWhenConnected(Fine):
    @asynccontextmanager
    async def connect(self, *_: Any) -> AsyncIterator[Any]:
        raise KeyError("x")
        yield

    async def examine(self, *_: Any) -> Any:
        raise KeyError("x")


class ConnectsToNothing(Fine):
    @asynccontextmanager
    async def connect(self, *_: Any) -> AsyncIterator[Any]:
        yield None


class RaisesWhenOpened(Fine):
    @asynccontextmanager
    async def open_session(self, _: Any) -> AsyncIterator[Any]:
        raise KeyError("x")
        yield


class GivesNothing(Fine):
    def open_session(self, _: Any) -> Any:
        return None


class YieldsTwice(Fine):
    @asynccontextmanager
    async def open_session(self, _: Any) -> AsyncIterator[Any]:
        yield self.opened
        yield self.opened


class IsNotThere(Fine):
    @asynccontextmanager
    async def connect(self, *_: Any) -> AsyncIterator[Any]:
        raise HarnessError("nobody answers")
        yield


def on(kind: type) -> str:
    return f"{__name__}:{kind.__name__}"


@asynccontextmanager
async def opened(kind: type) -> AsyncIterator[OpenedExecutor[Any, Any]]:
    connection = find_executor_kind(on(kind)).connect(Needs(), lambda _: None)
    async with (
        connection as open_packed,
        open_packed(SESSION) as executor,
        executor.reserve_host() as host,
    ):
        assert host.execute is execute
        yield executor


async def launch(kind: type) -> OpenedExecutor[Any, Any]:
    async with opened(kind) as executor:
        return executor


@pytest.mark.parametrize("kind", [RaisesWhenMade, Exits, CannotConnect])
def test_a_class_that_cannot_be_made_is_named(kind: type) -> None:
    with pytest.raises(ConfigError, match=f"^--on .*{kind.__name__}: cannot be made: .*; fix it$"):
        find_executor_kind(on(kind))


@pytest.mark.parametrize("kind", [RaisesWhenConnected, ConnectsToNothing])
async def test_a_class_that_cannot_be_connected_is_named(kind: type) -> None:
    with pytest.raises(ConfigError, match=rf"^--on .*{kind.__name__}: connect\(\) .*; fix it$"):
        await launch(kind)


@pytest.mark.parametrize("kind", [RaisesWhenOpened, GivesNothing, YieldsTwice])
async def test_a_class_that_opens_no_session_is_named(kind: type) -> None:
    sentence = rf"^--on .*{kind.__name__}: opening a session .*; fix it$"
    with pytest.raises(ConfigError, match=sentence):
        await launch(kind)


@pytest.mark.parametrize(
    "opened",
    [
        7,
        OpenedExecutor(reserve_host=reserve_host, blocks_at_once=0),
        OpenedExecutor(reserve_host=reserve_host, groups_at_once="x"),  # type: ignore[arg-type]
        OpenedExecutor(reserve_host=None),  # type: ignore[arg-type]
        OpenedExecutor(reserve_host=reserve_host, nodes=[3]),  # type: ignore[arg-type]
        OpenedExecutor(reserve_host=reserve_host, nodes={"a\x1b[31m": {}}),
        OpenedExecutor(reserve_host=reserve_host, nodes={"a" * 1_000: {}}),
        OpenedExecutor(reserve_host=reserve_host, nodes={"": {}}),
        OpenedExecutor(reserve_host=reserve_host, nodes={"n": {"x": [1]}}),  # type: ignore[dict-item]
        OpenedExecutor(reserve_host=reserve_host, nodes={"n": {"x": float("nan")}}),
        OpenedExecutor(reserve_host=reserve_host, nodes={"n": {"x": 10**400}}),
    ],
)
async def test_what_is_yielded_is_checked(monkeypatch: pytest.MonkeyPatch, opened: Any) -> None:
    monkeypatch.setattr(Fine, "opened", opened)
    with pytest.raises(ConfigError, match=r"^--on .*Fine: opening a session fails: .*; fix it$"):
        await launch(Fine)


@pytest.mark.parametrize("host", [None, 7, Host(None), Host(execute, "a\nb"), Host(execute, 7)])  # type: ignore[arg-type]
async def test_hosts_are_checked(monkeypatch: pytest.MonkeyPatch, host: Any) -> None:
    opened = OpenedExecutor[Any, Any](reserve_host=lambda: nullcontext(host))
    monkeypatch.setattr(Fine, "opened", opened)
    with pytest.raises(ConfigError, match=r"^--on .*Fine: reserve_host\(\) fails: .*; fix it$"):
        await launch(Fine)


@pytest.mark.parametrize("checks", [None, 7, [3]])
async def test_what_is_examined_is_checked(monkeypatch: pytest.MonkeyPatch, checks: Any) -> None:
    assert await find_executor_kind(on(Fine)).examine(Needs()) == CHECKS
    monkeypatch.setattr(Fine, "checks", checks)
    for kind in (Fine, RaisesWhenConnected):
        with pytest.raises(ConfigError, match=r"^--on .*: examine\(\) fails: .*; fix it$"):
            await find_executor_kind(on(kind)).examine(Needs())


async def test_errors_with_a_sentence_and_those_of_the_block_pass() -> None:
    assert (await launch(Fine)).nodes == {"n": {"processors": 2}}
    with pytest.raises(HarnessError, match="^nobody answers$"):
        await launch(IsNotThere)
    for error in (KeyError("a defect of ours"), NodeLost("gone")):
        with pytest.raises(type(error)):
            async with opened(Fine):
                raise error

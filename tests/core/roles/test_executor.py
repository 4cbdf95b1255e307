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
    find_executor,
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
    async def launch(self, _: Any) -> AsyncIterator[Any]:
        yield self.opened

    async def examine(self, *_: Any) -> Any:
        return self.checks


class RaisesWhenMade(Fine):
    def __init__(self) -> None:
        raise RuntimeError("boo\nfar")


class Exits(Fine):
    def __init__(self) -> None:
        raise SystemExit(1)


class HasNoLaunch:
    async def examine(self, *_: Any) -> Any: ...


class RaisesWhenLaunched(Fine):
    @asynccontextmanager
    async def launch(self, _: Any) -> AsyncIterator[Any]:
        raise KeyError("x")
        yield

    async def examine(self, *_: Any) -> Any:
        raise KeyError("x")


class GivesNothing(Fine):
    checks = None

    def launch(self, _: Any) -> Any:
        return None


class YieldsTwice(Fine):
    @asynccontextmanager
    async def launch(self, _: Any) -> AsyncIterator[Any]:
        yield self.opened
        yield self.opened


class CannotConnect(Fine):
    @asynccontextmanager
    async def launch(self, _: Any) -> AsyncIterator[Any]:
        raise HarnessError("nobody answers")
        yield


def on(kind: type) -> str:
    return f"{__name__}:{kind.__name__}"


async def launch(kind: type) -> OpenedExecutor[Any, Any]:
    open_executor = find_executor(on(kind))
    assert open_executor is not None
    async with open_executor(SESSION) as executor, executor.reserve_host() as host:
        assert host.execute is execute
        return executor


@pytest.mark.parametrize("kind", [RaisesWhenMade, Exits, HasNoLaunch])
def test_a_class_that_cannot_be_made_is_named(kind: type) -> None:
    with pytest.raises(ConfigError, match=f"^--on .*{kind.__name__}: cannot be made: .*; fix it$"):
        find_executor_kind(on(kind))


@pytest.mark.parametrize("kind", [RaisesWhenLaunched, GivesNothing, YieldsTwice])
async def test_a_class_that_cannot_be_launched_is_named(kind: type) -> None:
    with pytest.raises(ConfigError, match=rf"^--on .*{kind.__name__}: launch\(\) .*; fix it$"):
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
    with pytest.raises(ConfigError, match=r"^--on .*Fine: launch\(\) fails: .*; fix it$"):
        await launch(Fine)


@pytest.mark.parametrize("host", [None, 7, Host(None), Host(execute, "a\nb"), Host(execute, 7)])  # type: ignore[arg-type]
async def test_places_are_checked(monkeypatch: pytest.MonkeyPatch, host: Any) -> None:
    opened = OpenedExecutor[Any, Any](reserve_host=lambda: nullcontext(host))
    monkeypatch.setattr(Fine, "opened", opened)
    with pytest.raises(ConfigError, match=r"^--on .*Fine: reserve_host\(\) fails: .*; fix it$"):
        await launch(Fine)


@pytest.mark.parametrize("checks", [None, 7, [3]])
async def test_what_is_examined_is_checked(monkeypatch: pytest.MonkeyPatch, checks: Any) -> None:
    assert await find_executor_kind(on(Fine)).examine(Needs(), 1) == CHECKS
    monkeypatch.setattr(Fine, "checks", checks)
    for kind in (Fine, RaisesWhenLaunched):
        with pytest.raises(ConfigError, match=r"^--on .*: examine\(\) fails: .*; fix it$"):
            await find_executor_kind(on(kind)).examine(Needs(), 1)


async def test_errors_with_a_sentence_and_those_of_the_block_pass() -> None:
    assert (await launch(Fine)).nodes == {"n": {"processors": 2}}
    with pytest.raises(HarnessError, match="^nobody answers$"):
        await launch(CannotConnect)
    open_executor = find_executor(on(Fine))
    assert open_executor is not None
    for error in (KeyError("a defect of ours"), NodeLost("gone")):
        with pytest.raises(type(error)):
            async with open_executor(SESSION) as executor, executor.reserve_host():
                raise error

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.builders.golden import Sentences

# How long an example takes says how busy the machine is.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests with the longest time limit first: one of them at the end would leave the other
    workers with nothing to do."""
    items.sort(key=_limit, reverse=True)


def _limit(item: pytest.Item) -> float:
    mark = item.get_closest_marker("timeout")
    return float(mark.args[0]) if mark else 0.0


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def golden(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Sentences]:
    """Compares what users read with what it was when somebody last looked at it."""
    sentences = Sentences(request.path, request.node.name, tmp_path)
    failed = request.session.testsfailed
    yield sentences
    if request.session.testsfailed == failed:
        sentences.check_whole()

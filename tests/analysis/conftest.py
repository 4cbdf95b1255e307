"""What `tests.builders.sessions` makes, as fixtures."""

from collections.abc import Callable

import pytest

from swarm_bench.core.session.records import SessionData, SwarmRecord, TrialRecord
from tests.builders.sessions import make_failed, make_session, make_swarm, make_trial


@pytest.fixture
def trial() -> Callable[..., TrialRecord]:
    return make_trial


@pytest.fixture
def failed() -> Callable[..., TrialRecord]:
    return make_failed


@pytest.fixture
def swarm() -> Callable[..., SwarmRecord]:
    return make_swarm


@pytest.fixture
def session() -> Callable[..., SessionData]:
    return make_session

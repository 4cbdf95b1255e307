"""An agent that the provider turned away ends a session: the others would be turned away too."""

import pytest

from swarm_bench.benchmarks.swarm.store import check_authorized
from swarm_bench.core.errors import NoCredit, NotAuthorized
from tests.builders.experiments import experiment
from tests.builders.sessions import make_failed


@pytest.mark.parametrize(
    ("cause", "error"), [("not-authorized", NotAuthorized), ("no-credit", NoCredit)]
)
def test_it_ends_for_want_of_a_key_or_of_money(cause: str, error: type[Exception]) -> None:
    turned_away = make_failed("baseline", cause, "provider-limited", detail="pay first")
    with pytest.raises(error, match="pay first") as raised:
        check_authorized(experiment(), [turned_away])
    assert type(raised.value) is error


def test_it_does_not_end_for_what_passes() -> None:
    check_authorized(experiment(), [make_failed("baseline", "rate-limited", "provider-limited")])

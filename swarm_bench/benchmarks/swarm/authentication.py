"""What an agent that the provider turned away means for those that have not started yet."""

from collections.abc import Iterable

from swarm_bench.core.errors import NotAuthorized
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.status import Cause


def check_authorized(experiment: Experiment, records: Iterable[TrialRecord]) -> None:
    """Raise `NotAuthorized` before every other agent is turned away as well; a rehearsal may play
    that."""
    turned_away = (record for record in records if record.cause is Cause.NOT_AUTHORIZED)
    first = next(turned_away, None)
    if first is not None and not experiment.rehearsal:
        raise NotAuthorized(
            f"Agent {first.agent} failed to authenticate with the provider "
            f"({first.detail or 'no reason given'}), so the session was stopped; set a key that it "
            "accepts"
        )

"""What an agent that the provider turned away means for those that have not started yet."""

from collections.abc import Iterable

from swarm_bench.core.errors import NotAuthorized
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.status import Cause


def turned_away(experiment: Experiment, records: Iterable[TrialRecord]) -> TrialRecord | None:
    """The first trial that failed to authenticate; `None` in a rehearsal, which may play that."""
    if experiment.rehearsal:
        return None
    return next((one for one in records if one.cause is Cause.NOT_AUTHORIZED), None)


def check_authorized(experiment: Experiment, records: Iterable[TrialRecord]) -> None:
    """Raise `NotAuthorized` before every other agent is turned away as well."""
    if (first := turned_away(experiment, records)) is not None:
        raise NotAuthorized(
            f"Agent {first.agent} failed to authenticate with the provider "
            f"({first.detail or 'no reason given'}), so the session was stopped; set a key that it "
            "accepts"
        )

"""What an agent that the provider turned away means for those that have not started yet."""

from collections.abc import Iterable

from swarm_bench.core.errors import NoCredit, NotAuthorized
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.status import Cause


def check_authorized(experiment: Experiment, records: Iterable[TrialRecord]) -> None:
    """Raise `NotAuthorized`, or `NoCredit`, before every other agent is turned away as well; a
    rehearsal may play that."""
    turned_away = (Cause.NOT_AUTHORIZED, Cause.NO_CREDIT)
    first = next((record for record in records if record.cause in turned_away), None)
    if first is None or experiment.rehearsal:
        return
    why = f"({first.detail or 'no reason given'}), so the session was stopped"
    if first.cause is Cause.NO_CREDIT:
        raise NoCredit(
            f"Agent {first.agent} has no credit or quota left with the provider {why}; add to it"
        )
    raise NotAuthorized(
        f"Agent {first.agent} failed to authenticate with the provider {why}; set a key that it "
        "accepts"
    )

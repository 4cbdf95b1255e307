"""What a reader of the figures should know before there are any."""

import os

from swarm_bench.analysis.wording import amount
from swarm_bench.core.events import Emit, Trouble
from swarm_bench.core.session.experiment import Experiment

OWN = "scout"
"""The agent that works on this machine, and waits for no provider."""


def tell(experiment: Experiment, emit: Emit | None) -> None:
    """Say what the copies leave out, and when agents of ours wait for each other."""
    if emit is None:
        return
    for sentence in (*experiment.repository.left_out, *sharing(experiment)):
        emit(Trouble(message=sentence))


def sharing(experiment: Experiment) -> list[str]:
    """Say that agents of ours wait for each other, if they do."""
    processors, agents = os.cpu_count() or 1, experiment.at_once
    if experiment.agent.name != OWN or agents <= processors:
        return []
    return [
        f"{agents} agents of our own share {amount(processors, 'processor')}, so their times "
        f"include waiting for each other; --concurrency {processors} avoids that"
    ]

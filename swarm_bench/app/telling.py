"""What a reader of the figures should know before there are any."""

import os

from swarm_bench.core.events import Emit, Trouble
from swarm_bench.core.experiment import Experiment

OWN = "scout"
"""The agent that works on this machine, and waits for no provider."""


def tell(experiment: Experiment, emit: Emit | None) -> None:
    """Say what the copies leave out, and when agents of ours wait for each other."""
    if emit is None:
        return
    sentences = list(experiment.repository.left_out)
    processors, agents = os.cpu_count() or 1, experiment.at_once
    if experiment.agent.name == OWN and agents > processors:
        sentences.append(
            f"{agents} agents of our own share {processors} processors, so their times "
            f"include waiting for each other; --concurrency {processors} avoids that"
        )
    for sentence in sentences:
        emit(Trouble(message=sentence))

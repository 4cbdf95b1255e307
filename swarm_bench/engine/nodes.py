"""Sentences on the machines that a session ran on."""

from collections.abc import Iterator
from typing import Any

from swarm_bench.core.session.base import BaseExperiment
from swarm_bench.core.status import Cause
from swarm_bench.engine.lines import Records


def describe_nodes(experiment: BaseExperiment, records: Records[Any]) -> Iterator[str]:
    """Yield on how many nodes of which kind it ran, and how many trials were lost with one and ran
    again."""
    if not experiment.nodes:
        return
    yield from experiment.node_notes
    lines = records.read_set_aside()
    lost = [record.trial for *_, record in lines if record and record.cause is Cause.NODE_LOST]
    if len(lost) == 1:
        yield "1 trial was lost with its node, and ran again"
    elif lost:
        yield f"{len(lost):,} trials were lost with their node, and ran again"

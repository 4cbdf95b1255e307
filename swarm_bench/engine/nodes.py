"""Sentences on the machines that a session ran on."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from swarm_bench.core.session.base import BaseExperiment, RecordView, count_machines
from swarm_bench.core.status import Cause
from swarm_bench.engine.lines import Checked, Records


def describe_nodes(
    experiment: BaseExperiment, lines: Sequence[Checked[Any]], session_records: Records[Any]
) -> Iterator[str]:
    """Yield on how many nodes of which kind the trials of the lines ran, how many cases do not
    compare in time, and how many trials were lost with a node and ran again."""
    records: list[RecordView] = [record for *_, record in lines if record is not None]
    if not (names := {record.node for record in records if record.node}):
        return
    number = f"{len(names)} node{'s' if len(names) > 1 else ''}"
    count_on_driver = sum(record.node is None for record in records)
    elsewhere = (
        f", and {count_on_driver:,} of them on the machine of the session"
        if count_on_driver
        else ""
    )
    machines = count_machines(experiment.nodes.get(name, {}) for name in sorted(names))
    yield f"The trials ran on {number}{elsewhere}: {machines}"
    nodes_of_case = defaultdict[tuple[int, str, int], set[str | None]](set)
    for record in records:
        nodes_of_case[record.run, record.case, record.number].add(record.node)
    split = sum(len(nodes) > 1 for nodes in nodes_of_case.values())
    if split:
        yield (
            f"{split:,} of {len(nodes_of_case):,} cases ran on one node in one arm and on another "
            "in the next, since a node was lost or the session was continued elsewhere: their "
            "times do not compare"
        )
    set_aside = [record for *_, record in session_records.read_set_aside() if record is not None]
    lost = sum(record.cause is Cause.NODE_LOST for record in set_aside)
    if lost == 1:
        yield "1 trial was lost with its node, and ran again"
    elif lost:
        yield f"{lost:,} trials were lost with their node, and ran again"

"""What a plan says of workspaces."""

from collections.abc import Callable

from swarm_bench.analysis.planning.session_plan import (
    Workspaces,
    compute_median_indexing,
    describe_workspaces,
)
from swarm_bench.core.session.experiment import Mode, Preparation
from swarm_bench.core.session.records import SwarmRecord
from tests.builders.experiments import experiment
from tests.builders.golden import Sentences

SERVER = {"s": {"command": "s"}}
MODES = (
    Mode(name="baseline", source=""),
    Mode(name="cold", source="", servers=SERVER),
    Mode(name="served", source="", servers=SERVER, services=("canopy-service",)),
    Mode(
        name="copied",
        source="",
        servers=SERVER,
        prepare=Preparation(tool="build", when="always", copyable=True),
    ),
)


def test_tasks_with_commits_have_their_workspaces_counted(
    swarm: Callable[..., SwarmRecord],
    golden: Sentences,
) -> None:
    session = experiment().model_copy(update={"modes": MODES})
    commits = ("a" * 40, "b" * 40, "a" * 40)
    swarms = tuple((mode.name, commit) for commit in commits for mode in MODES)
    indexing = compute_median_indexing([swarm("served", index_seconds=s) for s in (2.0, 9.0, 4.0)])
    (entry,) = describe_workspaces(session, Workspaces(swarms=swarms, indexing=indexing))
    golden(*entry.texts)


def test_a_session_on_one_copy_has_no_line_of_them() -> None:
    swarms = (("baseline", None), ("canopy", None))
    assert not list(describe_workspaces(experiment(), Workspaces(swarms=swarms)))

"""Tasks and modes with what each trial found."""

from swarm_bench.analysis.documents.matrix import make_matrix
from swarm_bench.analysis.selection import Selection
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from tests.builders.sessions import make_session, make_trial


def test_a_cell_has_room_for_some_trials_and_counts_the_others() -> None:
    trials = (make_trial(run=run, mode="baseline", task="a") for run in range(1, 1_041))
    matrix = make_matrix(Selection(make_session(*trials), METRICS))
    assert matrix is not None
    ((entries,),) = [row.cells for row in matrix.rows]
    assert [entry.trial for entry in entries] == [*range(30), None]
    assert entries[-1].value == "1,010 more"

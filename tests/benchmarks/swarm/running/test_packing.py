"""What of a session can be handed to another machine."""

from dataclasses import replace
from pathlib import Path

import pytest

from swarm_bench.agents.scout.adapter import Scout
from swarm_bench.benchmarks.swarm.running.packing import pack_kit
from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.experiment import Task
from tests.builders.kits import kit_for


def test_tasks_on_commits_of_their_own_run_where_the_repository_is(tmp_path: Path) -> None:
    kit = kit_for(Scout(), tmp_path)
    task = Task(id="t", title="t", prompt="t", commit="a" * 40)
    experiment = kit.experiment.model_copy(update={"tasks": (task,)})
    assert pack_kit(kit)
    with pytest.raises(UsageError, match="run the session here"):
        pack_kit(replace(kit, experiment=experiment))

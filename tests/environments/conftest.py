"""The environments that are tested alike."""

import pytest

from swarm_bench.core.roles.execution import Environment
from swarm_bench.environments.container import Container
from swarm_bench.environments.local import Local
from swarm_bench.environments.unconfined import Unconfined
from tests.builders.environments import CONTAINER, LOCAL, root_folder


@pytest.fixture(params=[LOCAL, "unconfined", CONTAINER])
def environment(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Environment:
    if request.param == "container":
        return Container(str(root_folder(tmp_path_factory.mktemp("root"))))
    return Local() if request.param == "local" else Unconfined()

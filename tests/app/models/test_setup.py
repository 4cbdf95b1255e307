"""The environment of a session that is continued."""

import shutil

import pytest

from swarm_bench.app.models.setup import choose_environment
from swarm_bench.config.run_options import RunSettings
from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.models import ModelExperiment
from swarm_bench.environments.local import Local
from swarm_bench.environments.unconfined import Unconfined

EARLIER = (
    "bubblewrap: no network, no files but an own folder and the Python installation (read-only)"
)


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed: NOT TESTED")
@pytest.mark.parametrize("confinement", [EARLIER, Local.confinement])
def test_a_session_goes_on_in_its_environment_whatever_that_said_of_itself(
    confinement: str,
) -> None:
    held = ModelExperiment.model_construct(confinement=confinement)
    options = RunSettings(allow_code_execution=True, environment="local")
    environment = choose_environment(options, held)
    assert environment is not None
    assert environment.name == "local"
    for other, session in (("unconfined", confinement), ("local", Unconfined.confinement)):
        options = RunSettings(allow_code_execution=True, environment=other)
        with pytest.raises(UsageError, match="the session ran its code otherwise"):
            choose_environment(options, ModelExperiment.model_construct(confinement=session))

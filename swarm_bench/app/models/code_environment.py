"""The environment in which a session of models runs code."""

from swarm_bench.config.run_options import RunSettings
from swarm_bench.core import registry
from swarm_bench.core.errors import UsageError
from swarm_bench.core.roles.execution import Environment
from swarm_bench.core.session.designs import ENVIRONMENT
from swarm_bench.core.session.models import ModelExperiment

_EARLIER = {
    "local": "bubblewrap: no network, no files but an own folder and the Python installation "
    "(read-only)"
}
"""Older descriptions of environments, by name."""


def choose_environment(
    options: RunSettings, previous: ModelExperiment | None
) -> Environment | None:
    """Return what the options name; `None` for a plan without permission to run code, which runs
    none. Raises `UsageError` without permission otherwise, and for another one than that of the
    session that is continued."""
    if not options.allow_code_execution and options.plan:
        return None
    if not options.allow_code_execution:
        raise UsageError(
            "This benchmark runs code that models wrote; allow it with --allow-code-execution, or "
            "give --generate-only and score the answers later"
        )
    name = options.environment or ENVIRONMENT
    environment: Environment = registry.make("environments", name)
    if previous and previous.confinement not in (environment.confinement, _EARLIER.get(name)):
        raise UsageError(
            f"--environment {name}: the session ran its code otherwise ({previous.confinement}); "
            "give the same environment"
        )
    return environment

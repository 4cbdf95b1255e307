"""What of a call other machines can serve."""

import os

from swarm_bench.app.setup.agents import read_agent_environment
from swarm_bench.config.layers import Settings
from swarm_bench.config.parsing import REPLAY
from swarm_bench.core.errors import UsageError
from swarm_bench.core.roles.executor import check_executor_name
from swarm_bench.core.session.designs import LOCAL
from swarm_bench.models.servers.server import is_loopback
from swarm_bench.retrieval.modes.secret_parts import redact_secret_parts


def check_movable(settings: Settings) -> None:
    """Raise `UsageError` for options that only this machine can serve, or that hold keys, where
    another one is to serve them."""
    if settings.on == LOCAL:
        return
    check_executor_name(settings.on)
    reasons = {
        "--record keeps what agents leave here": settings.record,
        "--agent replay:DIR plays a recording here": settings.agent.startswith(REPLAY),
        "--keep-workspaces keeps what is removed there": settings.keep_workspaces,
        f"--service-url {settings.service_url} is a service of this machine": bool(
            settings.service_url and is_loopback(settings.service_url)
        ),
    }
    for reason, applies in reasons.items():
        if applies:
            raise UsageError(f"--on {settings.on}: {reason}; omit one of the two")
    refuse_values(settings)


def refuse_values(settings: Settings) -> None:
    """Raise `UsageError` for what could be a key: no key is sent to another machine."""
    for name, value in read_agent_environment(settings).items():
        if os.environ.get(name) != value:
            raise UsageError(
                f"--agent-env {name}=...: values are not sent to other machines; set {name} there "
                f"and here, and give --agent-env {name}"
            )
    if redact_secret_parts(settings.agent_arg) != list(settings.agent_arg):
        raise UsageError(
            "--agent-arg has what could be a key, which is not sent to other machines; set a "
            "variable there that the program reads"
        )

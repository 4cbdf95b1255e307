"""What a session would start, to be shown: command lines, and variables by name."""

from collections.abc import Mapping

from swarm_bench.analysis.planning.launches import Launches
from swarm_bench.app.setup.agents import build_trial_launch
from swarm_bench.app.setup.credentials import is_paid
from swarm_bench.app.setup.prepared import PreparedSession
from swarm_bench.app.trust.approval import list_unapproved
from swarm_bench.config.settings import Resolved
from swarm_bench.core.outcome import Launch
from swarm_bench.retrieval.canopy.backends import SERVICE
from swarm_bench.retrieval.modes.mode import has_placeholder
from swarm_bench.retrieval.modes.secret_parts import redact_secret_parts
from swarm_bench.runtime.environment import small_environment


def list_launches(ready: PreparedSession, resolved: Resolved) -> Launches:
    """List what is started: agents as in the first mode with a tool, and canopy."""
    launch = _build_launch(ready, resolved)
    return Launches(
        agent=redact_secret_parts(launch.argv) if launch else (),
        variables=sorted(_list_variables(ready, resolved, launch)) if launch else (),
        programs=_list_programs(ready),
        dotenv=sorted(resolved.from_dotenv),
        unapproved=[demand.full_sentence for demand in list_unapproved(resolved)],
        paid=ready.recorded_session is None and is_paid(ready.agent, resolved.settings),
    )


def _build_launch(ready: PreparedSession, resolved: Resolved) -> Launch | None:
    if ready.recorded_session is not None:
        return None
    modes = ready.experiment.modes
    mode = next((mode for mode in modes if mode.servers), modes[0])
    return build_trial_launch(ready.agent, mode, resolved.settings, ready.tools.variables)


def _list_variables(ready: PreparedSession, resolved: Resolved, launch: Launch) -> set[str]:
    environment = small_environment(resolved.environment, launch.inherit)
    return {*environment, *launch.env, *ready.experiment.agent_env}


def _list_programs(ready: PreparedSession) -> Mapping[str, str]:
    used = {name for mode in ready.experiment.modes for name in mode.services}
    if any(has_placeholder(mode, "canopy_mcp") for mode in ready.experiment.modes):
        used.add("canopy-mcp")
    if ready.experiment.service_url:
        used.discard(SERVICE)
    return {name: str(path) for name, path in ready.tools.programs.items() if name in used}

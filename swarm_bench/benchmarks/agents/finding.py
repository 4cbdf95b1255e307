"""Search for the agent that a word such as the value of `--agent` names."""

import sys
from importlib.metadata import packages_distributions
from pathlib import Path

from swarm_bench.config.parsing import COMMAND, YAML
from swarm_bench.config.shipped import is_file
from swarm_bench.core import entry_points
from swarm_bench.core.errors import ConfigError, SwarmBenchError, UsageError, described
from swarm_bench.core.ports import Agent, TakesArgument
from swarm_bench.core.session.experiment import Program


def find_agent(spec: str) -> Agent:
    """Make the agent that a value of `--agent` stands for: a name, a name with its argument
    (`replay:DIR`), the path of a YAML file, or `module:class`.

    Raises `UnknownName`, and `ConfigError` for what is no agent.
    """
    name, colon, argument = spec.partition(":")
    if not (colon and name in list_agent_names()) and spec.endswith(YAML):
        name, colon, argument = COMMAND, ":", spec
    if name not in list_agent_names() and is_file(spec):
        raise UsageError(
            f"--agent {spec} is not an agent file; write a .yaml that starts it, see "
            "'swarm-bench docs command-agents'"
        )
    if not colon or name not in list_agent_names():
        return _make(entry_points.load("agents", spec), spec, ())
    factory = entry_points.load("agents", name)
    if find_argument(factory) is None:
        raise UsageError(f"The agent {name!r} takes nothing after its name; give --agent {name}")
    return _make(factory, spec, (argument,))


def find_agent_file(spec: str) -> Path | None:
    """Return the file of the user's own that is such an agent: its YAML file, or the module of its
    class when no package has that. Raises `ConfigError` for a class that cannot be loaded, and
    `UsageError` for one in a folder of theirs, and for an agent whose argument is a file."""
    name, colon, argument = spec.partition(":")
    if colon and name in list_agent_names():
        if name == COMMAND:
            return Path(argument).expanduser()
        if Path(argument).expanduser().exists():
            raise UsageError(f"--agent {spec}: what {argument} holds is not sent to other machines")
        return None
    if spec.endswith(YAML):
        return Path(spec).expanduser()
    if not colon:
        return None
    entry_points.load("agents", spec)
    package = name.partition(".")[0]
    origin = sys.modules[name].__file__
    if origin is None or package in packages_distributions():
        return None
    if name != package or Path(origin).stem != package:
        raise UsageError(
            f"The agent {spec} is in a folder of modules, of which only one file could be sent; "
            "install them as a package on every machine"
        )
    return Path(origin)


def find_node_agents(spec: str) -> tuple[str, ...]:
    """Return the agent where it comes with a package, so that a node has its adapter and has to
    have its program."""
    return (spec,) if entry_points.is_registered("agents", spec) else ()


def list_agent_names() -> list[str]:
    """List the names of all registered agents; nothing is imported."""
    return [plugin.name for plugin in entry_points.list_plugins("agents")]


def needs_argument(name: str) -> bool:
    """Tell whether a registered agent is one only with a file or folder after its name."""
    try:
        return find_argument(entry_points.load("agents", name)) is not None
    except SwarmBenchError:
        return False


def identify(agent: Agent, spec: str, model: str | None) -> Program:
    """Describe the agent's program. One of the user's own is called by the value of `--agent`, or
    by its file: it may have the name of another."""
    program = agent.program(model)
    if spec.endswith(YAML):
        return program.model_copy(update={"name": f"{program.name} ({Path(spec).name})"})
    return program.model_copy(update={"name": spec}) if ":" in spec else program


def find_argument(factory: object) -> str | None:
    """Say what stands after the name of such an agent; `None` for any other."""
    return factory.argument if isinstance(factory, TakesArgument) else None


def _make(factory: object, spec: str, arguments: tuple[str, ...]) -> Agent:
    try:
        if arguments == () and (placeholder := find_argument(factory)) is not None:
            raise UsageError(
                f"The agent {spec!r} needs to know which: --agent {spec}:{placeholder}"
            )
        agent = factory(*arguments)  # type: ignore[operator]  # what is no factory raises here
    except SwarmBenchError:
        raise
    except (Exception, SystemExit) as error:  # somebody else's code may raise anything
        raise ConfigError(
            f"{spec!r} cannot be made into an agent: {described(error)}; fix it"
        ) from error
    if not isinstance(agent, Agent):
        raise ConfigError(
            f"{spec!r} is no agent: it needs launch, activity, outcome, program, a name and "
            "capabilities, as the role in swarm_bench/core/ports.py says"
        )
    return agent

"""What the value of an option has started, or gives to what is started. Nothing is started, and no
code loaded, to know it."""

import hashlib
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from swarm_bench.benchmarks.swarm.scorers import is_code
from swarm_bench.config.located import read_located
from swarm_bench.config.parsing import REPLAY, YAML, anchor_agent
from swarm_bench.config.shipped import MODES, SUITES
from swarm_bench.config.text_file import read_text
from swarm_bench.config.trust import digest_of, is_plain_model
from swarm_bench.core import entry_points
from swarm_bench.core.errors import SwarmBenchError
from swarm_bench.core.session.experiment import Mode
from swarm_bench.core.session.retrieving import AnyExperiment
from swarm_bench.datasets import suites
from swarm_bench.retrieval.canopy.backends import SERVICE
from swarm_bench.retrieval.modes import mode as modes
from swarm_bench.retrieval.modes.secret_parts import redact_secret_parts
from swarm_bench.retrieval.modes.started import list_command_lines


@dataclass(frozen=True)
class TrustedPart:
    """One thing that is started or given to what is started."""

    word: str
    description: str
    """Text for a person, without keys."""
    digest: str


Parts = Iterator[TrustedPart]
Maker = Callable[[Any], Parts]


class Makers(dict[str, Maker]):
    """Functions that make the parts of options that are `trusted`, by their names; for some
    of their values, all others being numbers, choices, and places for output."""

    def register(self, option: str) -> Callable[[Maker], Maker]:
        """Return what enters the maker of an option."""
        return lambda maker: self.setdefault(option, maker)


OF_OPTION = Makers()


def find_agent_file(spec: str) -> str | None:
    """Return the agent in a value of `--agent` that is not registered: a YAML file, or
    `module:class`. A recording has none unless one is named for it, behind an `@`."""
    if spec.startswith(REPLAY):
        spec = spec.rpartition("@")[2] if "@" in spec else ""
    return spec if ":" in spec or spec.endswith(YAML) else None


@OF_OPTION.register("agent")
def _describe_agent(spec: str) -> Parts:
    agent = find_agent_file(spec)
    if agent is not None:
        agent = anchor_agent(agent)
        if agent.endswith(YAML):
            path = Path(agent.removeprefix("command:"))
            lines = "; ".join(describe_agent_file(path)) or "nothing that could be started"
            yield TrustedPart(
                "agent", f"the agent {spec}: {lines}", digest_of("agent", agent, _hash_file(path))
            )
        else:  # a class is looked for in the working folder
            yield TrustedPart(
                "agent", f"the agent {spec}", digest_of("agent", agent, str(Path.cwd()))
            )


@OF_OPTION.register("agent_arg")
def _describe_arguments(arguments: Sequence[str]) -> Parts:
    if arguments:
        description = f"the agents' arguments {shlex.join(redact_secret_parts(arguments))}"
        yield TrustedPart("agent_arg", description, digest_of("arguments", arguments))


@OF_OPTION.register("agent_env")
def _describe_variables(variables: Sequence[str]) -> Parts:
    if variables:
        description = f"the agents' variables {shlex.join(redact_secret_parts(variables))}"
        yield TrustedPart("agent_env", description, digest_of("variables", variables))


@OF_OPTION.register("include")
def _describe_patterns(patterns: Sequence[str]) -> Parts:
    if patterns:
        description = f"copies of files that may hold keys, or are large: {shlex.join(patterns)}"
        yield TrustedPart("include", description, digest_of("include", patterns))


@OF_OPTION.register("inherit_settings")
def _describe_settings(inherits: bool) -> Parts:
    if inherits:
        yield TrustedPart("inherit_settings", "your own home for the agents", digest_of("inherit"))


@OF_OPTION.register("model")
def _describe_model(name: str | None) -> Parts:
    if name is not None and not is_plain_model(name):
        yield TrustedPart(
            "model", f"the model {name!r}, which is no plain name", digest_of("model", name)
        )


@OF_OPTION.register("modes")
def _describe_modes(names: Sequence[str]) -> Parts:
    for name in names:
        try:
            path = MODES.find(name)
            if not MODES.is_shipped(path):
                yield describe_mode(modes.read_mode(path), name)
        except SwarmBenchError:
            continue  # it cannot run, and what it becomes later is not vouched for


def describe_mode(mode: Mode, word: str | None = None) -> TrustedPart:
    """Describe a mode as it was read."""
    lines = "; ".join(list_command_lines(mode)) or "no server"
    content = mode.model_dump(mode="json", exclude_defaults=True)
    return TrustedPart(
        word or mode.name,
        f"the mode {mode.name} of {mode.source}: {lines}",
        digest_of("mode", content),
    )


@OF_OPTION.register("on")
def describe_executor(name: str) -> Parts:
    """Describe an executor that no package registers: it is looked for in the working folder."""
    if entry_points.is_class("executors", name):
        digest = digest_of("executor", name, str(Path.cwd()))
        yield TrustedPart(name, f"the executor {name}", digest)


@OF_OPTION.register("tasks")
def _describe_named_suite(word: str) -> Parts:
    try:
        suite = suites.find_suite(word)
    except SwarmBenchError:
        return
    if not SUITES.is_shipped(Path(suite.source)):
        yield describe_suite(suite)


def describe_suite(suite: suites.Suite) -> TrustedPart:
    """Describe a task suite as it was read: what agents are asked is what they do."""
    description = f"agents with the tasks of {suite.source}"
    return _describe_tasks(suite.name, description, suite)


def _describe_tasks(
    word: str, description: str, suite: suites.Suite | AnyExperiment
) -> TrustedPart:
    """Describe the tasks, and the scorers that are code of the user's own: a class is looked for in
    the working folder."""
    parts: list[Any] = [[task.prompt for task in suite.tasks], suite.answer_format]
    if code := list_own_scorers(suite):
        description += f", and the scorers {', '.join(code)}"
        parts += [code, str(Path.cwd())]
    return TrustedPart(word, description, digest_of("tasks", *parts))


def list_own_scorers(suite: suites.Suite | AnyExperiment) -> list[str]:
    """List the scorers of a suite that are code of the user's own."""
    return [name for name in suite.scorers or () if is_code(name)]


@OF_OPTION.register("repo")
def _describe_repository(repo: Path) -> Parts:
    if not repo.expanduser().resolve().is_relative_to(Path.cwd()):
        yield _describe_copy(repo)


def _describe_copy(repo: Path) -> TrustedPart:
    path = str(repo.expanduser().resolve())
    return TrustedPart("repo", f"agents in a copy of {path}", digest_of("repo", path))


@OF_OPTION.register("resume")
def describe_resumed(folder: str | None) -> Parts:
    """Describe the session that is continued."""
    if folder is not None:
        path = str(Path(folder).resolve())
        yield TrustedPart("resume", f"the session in {path}", digest_of("resume", path))


@OF_OPTION.register("service_url")
def _describe_service(url: str | None) -> Parts:
    if url is not None:
        yield TrustedPart("service_url", f"the service at {url}", digest_of("service", url))


@OF_OPTION.register("canopy_mcp")
def _describe_canopy_mcp(path: str | None) -> Parts:
    yield from _describe_program("canopy-mcp", path)


@OF_OPTION.register("canopy_service")
def _describe_canopy_service(path: str | None) -> Parts:
    yield from _describe_program(SERVICE, path)


def _describe_program(name: str, path: str | None) -> Parts:
    if path:
        yield TrustedPart(name, f"{path} as {name}", digest_of(name, path))


def list_stored_parts(
    experiment: AnyExperiment, *, anywhere: bool
) -> Iterator[tuple[str, TrustedPart]]:
    """Yield what a session holds itself, by its option: modes, tasks, and the repository;
    `anywhere`: whatever the working folder is."""
    for mode in experiment.modes:
        if not _is_shipped(mode):
            yield "modes", describe_mode(modes.add_secrets(mode))
    if not _are_shipped(experiment):
        description = f"agents with {len(experiment.tasks)} tasks that it holds"
        yield "tasks", _describe_tasks("tasks", description, experiment)
    repo = Path(experiment.repository.path)
    for part in [_describe_copy(repo)] if anywhere else _describe_repository(repo):
        yield "repo", part


def _is_shipped(mode: Mode) -> bool:
    """Tell whether it came with the package, and is as it was."""
    path = MODES.folders()[0] / f"{mode.name}{MODES.suffix}"
    return path.is_file() and (
        modes.read_mode(path).model_copy(update={"source": mode.source}) == mode
    )


def _are_shipped(experiment: AnyExperiment) -> bool:
    prompts, formats = _read_shipped_prompts()
    own_prompts = {task.prompt for task in experiment.tasks}
    return (
        own_prompts <= prompts
        and experiment.answer_format in formats
        and not list_own_scorers(experiment)
    )


@cache
def _read_shipped_prompts() -> tuple[frozenset[str], frozenset[str]]:
    """Read the prompts of all task suites that come with the package, and their answer formats."""
    shipped = [suites.read_suite(path) for path in SUITES.files() if SUITES.is_shipped(path)]
    prompts = frozenset(task.prompt for suite in shipped for task in suite.tasks)
    return prompts, frozenset(suite.answer_format for suite in shipped)


def _hash_file(path: Path) -> str | None:
    """Hash a file; `None` for what is none, or cannot be an agent's."""
    try:
        text = read_text(path, "agent file")
        return hashlib.sha256(text.encode()).hexdigest()
    except SwarmBenchError:
        return None


def describe_agent_file(path: Path) -> list[str]:
    """List its command line and variables, and how it is asked for its version, without keys.

    Empty for a file that cannot be an agent's: it cannot run either.
    """
    try:
        content = read_located(path, "agent file").content
    except SwarmBenchError:
        return []
    if not isinstance(content, dict):
        return []
    environment, version = content.get("environment"), content.get("version")
    pairs = environment.items() if isinstance(environment, dict) else ()
    variables = [f"{name}={value}" for name, value in pairs]
    variables_note = f" (with {_format_command(variables)})" if variables else ""
    lines = [f"{_format_command(content.get('command'))}{variables_note}"]
    if isinstance(version, dict):
        lines.append(f"{_format_command(version.get('command'))}, for its version")
    return lines


def _format_command(command: object) -> str:
    return shlex.join(redact_secret_parts(list(_iterate_arguments(command))))


def _iterate_arguments(command: Any) -> Iterator[str]:
    """Yield the arguments; one may be a list, which is omitted as a whole where it is empty."""
    if isinstance(command, list):
        for argument in command:
            yield from _iterate_arguments(argument)
    elif command is not None:
        yield str(command)

"""What the value of an option has started, or gives to what is started. Nothing is started, and no
code loaded, to know it."""

import hashlib
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from swarm_bench.app.trust.agent_lines import agent_lines
from swarm_bench.benchmarks.swarm.scorers import is_code
from swarm_bench.config.shipped import MODES, SUITES
from swarm_bench.config.text_file import read_text
from swarm_bench.config.trust import digest_of, is_plain_model
from swarm_bench.config.written import REPLAY, YAML, anchor_agent
from swarm_bench.core.errors import SwarmBenchError
from swarm_bench.core.session.experiment import Mode
from swarm_bench.core.session.retrieving import AnyExperiment
from swarm_bench.datasets import suites
from swarm_bench.retrieval.canopy.backends import SERVICE
from swarm_bench.retrieval.modes import mode as modes
from swarm_bench.retrieval.modes.secret_parts import without_secret_parts
from swarm_bench.retrieval.modes.started import command_lines


@dataclass(frozen=True)
class Part:
    """One thing that is started or given to what is started."""

    word: str
    what: str
    """For a person, without keys."""
    digest: str


Parts = Iterator[Part]
Maker = Callable[[Any], Parts]


class Makers(dict[str, Maker]):
    """What makes the parts of options that are `trusted`, by their names; for some of their values,
    all others being numbers, choices, and places for output."""

    def of(self, option: str) -> Callable[[Maker], Maker]:
        """Return what enters the maker of an option."""
        return lambda maker: self.setdefault(option, maker)


OF_OPTION = Makers()


def agent_file(spec: str) -> str | None:
    """Return the agent in a value of `--agent` that is not registered: a YAML file, or
    `module:class`. A recording has none unless one is named for it, behind an `@`."""
    if spec.startswith(REPLAY):
        spec = spec.rpartition("@")[2] if "@" in spec else ""
    return spec if ":" in spec or spec.endswith(YAML) else None


@OF_OPTION.of("agent")
def _agent(spec: str) -> Parts:
    own = agent_file(spec)
    if own is not None:
        own = anchor_agent(own)
        if own.endswith(YAML):
            path = Path(own.removeprefix("command:"))
            lines = "; ".join(agent_lines(path)) or "nothing that could be started"
            yield Part("agent", f"the agent {spec}: {lines}", digest_of("agent", own, _hash(path)))
        else:  # a class is looked for in the working folder
            yield Part("agent", f"the agent {spec}", digest_of("agent", own, str(Path.cwd())))


@OF_OPTION.of("agent_arg")
def _arguments(arguments: Sequence[str]) -> Parts:
    if arguments:
        what = f"the agents' arguments {shlex.join(without_secret_parts(arguments))}"
        yield Part("agent_arg", what, digest_of("arguments", arguments))


@OF_OPTION.of("agent_env")
def _variables(variables: Sequence[str]) -> Parts:
    if variables:
        what = f"the agents' variables {shlex.join(without_secret_parts(variables))}"
        yield Part("agent_env", what, digest_of("variables", variables))


@OF_OPTION.of("include")
def _include(patterns: Sequence[str]) -> Parts:
    if patterns:
        what = f"copies of files that may hold keys, or are large: {shlex.join(patterns)}"
        yield Part("include", what, digest_of("include", patterns))


@OF_OPTION.of("inherit_settings")
def _inherit(wanted: bool) -> Parts:
    if wanted:
        yield Part("inherit_settings", "your own home for the agents", digest_of("inherit"))


@OF_OPTION.of("model")
def _model(name: str | None) -> Parts:
    if name is not None and not is_plain_model(name):
        yield Part("model", f"the model {name!r}, which is no plain name", digest_of("model", name))


@OF_OPTION.of("modes")
def _modes(names: Sequence[str]) -> Parts:
    for name in names:
        try:
            path = MODES.find(name)
            if not MODES.is_shipped(path):
                yield of_mode(modes.read_mode(path), name)
        except SwarmBenchError:
            continue  # it cannot run, and what it becomes later is not vouched for


def of_mode(mode: Mode, word: str | None = None) -> Part:
    """Describe a mode as it was read."""
    lines = "; ".join(command_lines(mode)) or "no server"
    content = mode.model_dump(mode="json", exclude_defaults=True)
    return Part(
        word or mode.name,
        f"the mode {mode.name} of {mode.source}: {lines}",
        digest_of("mode", content),
    )


@OF_OPTION.of("tasks")
def _tasks(word: str) -> Parts:
    try:
        suite = suites.find_suite(word)
    except SwarmBenchError:
        return
    if not SUITES.is_shipped(Path(suite.source)):
        yield of_suite(suite)


def of_suite(suite: suites.Suite) -> Part:
    """Describe a task suite as it was read: what agents are asked is what they do."""
    what = f"agents with the tasks of {suite.source}"
    return _asked(suite.name, what, suite)


def _asked(word: str, what: str, suite: suites.Suite | AnyExperiment) -> Part:
    """Describe the tasks, and the scorers that are code of the user's own: a class is looked for in
    the working folder."""
    parts: list[Any] = [[task.prompt for task in suite.tasks], suite.answer_format]
    if code := own_scorers(suite):
        what += f", and the scorers {', '.join(code)}"
        parts += [code, str(Path.cwd())]
    return Part(word, what, digest_of("tasks", *parts))


def own_scorers(suite: suites.Suite | AnyExperiment) -> list[str]:
    """List the scorers of a suite that are code of the user's own."""
    return [name for name in suite.scorers or () if is_code(name)]


@OF_OPTION.of("repo")
def _repo(repo: Path) -> Parts:
    if not repo.expanduser().resolve().is_relative_to(Path.cwd()):
        yield _copy(repo)


def _copy(repo: Path) -> Part:
    path = str(repo.expanduser().resolve())
    return Part("repo", f"agents in a copy of {path}", digest_of("repo", path))


@OF_OPTION.of("resume")
def resumed(folder: str | None) -> Parts:
    """Describe the session that is continued."""
    if folder is not None:
        path = str(Path(folder).resolve())
        yield Part("resume", f"the session in {path}", digest_of("resume", path))


@OF_OPTION.of("service_url")
def _service(url: str | None) -> Parts:
    if url is not None:
        yield Part("service_url", f"the service at {url}", digest_of("service", url))


@OF_OPTION.of("canopy_mcp")
def _canopy_mcp(path: str | None) -> Parts:
    yield from _program("canopy-mcp", path)


@OF_OPTION.of("canopy_service")
def _canopy_service(path: str | None) -> Parts:
    yield from _program(SERVICE, path)


def _program(name: str, path: str | None) -> Parts:
    if path:
        yield Part(name, f"{path} as {name}", digest_of(name, path))


def of_stored(experiment: AnyExperiment, *, anywhere: bool) -> Iterator[tuple[str, Part]]:
    """Yield what a session holds itself, by its option: modes, tasks, and the repository;
    `anywhere`: whatever the working folder is."""
    for mode in experiment.modes:
        if not _is_shipped(mode):
            yield "modes", of_mode(modes.with_secrets(mode))
    if not _are_shipped(experiment):
        what = f"agents with {len(experiment.tasks)} tasks that it holds"
        yield "tasks", _asked("tasks", what, experiment)
    repo = Path(experiment.repository.path)
    for part in [_copy(repo)] if anywhere else _repo(repo):
        yield "repo", part


def _is_shipped(mode: Mode) -> bool:
    """Tell whether it came with the package, and is as it was."""
    path = MODES.folders()[0] / f"{mode.name}{MODES.suffix}"
    return path.is_file() and (
        modes.read_mode(path).model_copy(update={"source": mode.source}) == mode
    )


def _are_shipped(experiment: AnyExperiment) -> bool:
    prompts, formats = _shipped_prompts()
    asked = {task.prompt for task in experiment.tasks}
    return asked <= prompts and experiment.answer_format in formats and not own_scorers(experiment)


@cache
def _shipped_prompts() -> tuple[frozenset[str], frozenset[str]]:
    """Read the prompts of all task suites that come with the package, and their answer formats."""
    ours = [suites.read_suite(path) for path in SUITES.files() if SUITES.is_shipped(path)]
    prompts = frozenset(task.prompt for suite in ours for task in suite.tasks)
    return prompts, frozenset(suite.answer_format for suite in ours)


def _hash(path: Path) -> str | None:
    """Hash a file; `None` for what is none, or cannot be an agent's."""
    try:
        text = read_text(path, "agent file")
        return hashlib.sha256(text.encode()).hexdigest()
    except SwarmBenchError:
        return None

"""What the files of the working folder, and a session that is continued, ask `run` to start."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from swarm_bench.app.models.arms import is_class, is_harmless, source_of
from swarm_bench.app.setup.case_experiment import CaseRequest
from swarm_bench.app.trust.demands import of_file, of_files, of_parts, origin_of
from swarm_bench.app.trust.option_parts import Makers, Part, Parts, resumed
from swarm_bench.benchmarks.agents.source import AgentSource
from swarm_bench.benchmarks.cases.folder import case_folder
from swarm_bench.config.addresses import without_logins
from swarm_bench.config.dotenv_file import read_dotenv
from swarm_bench.config.settings import property_layers
from swarm_bench.config.trust import Demand, digest_of
from swarm_bench.config.written import COMMAND, YAML
from swarm_bench.core import registry
from swarm_bench.core.session.cases import CaseExperiment
from swarm_bench.core.session.designs import ENVIRONMENT
from swarm_bench.core.session.models import ModelExperiment
from swarm_bench.datasets.rows import hash_of, is_file
from swarm_bench.datasets.rows import is_class as is_own_dataset
from swarm_bench.engine.benchmark import find_benchmark

OF_RUN = Makers()


def demands_of(request: CaseRequest) -> list[Demand]:
    """List what everything that this call reads asks for. Raises `UsageError`."""
    asked = list(_of_files(request))
    if request.resume is not None:
        asked += of_run(case_folder(request.resume).read_experiment(), typed=request)
    return asked


def of_run(experiment: CaseExperiment, typed: CaseRequest | None = None) -> list[Demand]:
    """List what a stored session asks for when it is continued, beside what was `typed`."""
    asked = of_properties(experiment, {_name(it) for it in typed.properties} if typed else ())
    if not isinstance(experiment, ModelExperiment):
        return asked
    again = typed.settings.models if typed and typed.is_typed("models") else []
    models = dict.fromkeys(arm.model for arm in experiment.models if arm.model not in again)
    asked += of_parts(experiment, [("models", part) for part in _models(models)])
    if not (typed and typed.is_typed("judge")):
        asked += of_parts(experiment, [("judge", part) for part in _judge(experiment.judge)])
    return asked if typed and typed.is_typed("dataset") else [*asked, *of_rows(experiment)]


def of_benchmark(experiment: CaseExperiment) -> list[Demand]:
    """List the class of a stored session's benchmark, if it is somebody's own."""
    word = experiment.benchmark_class
    return of_parts(experiment, [("benchmark", part) for part in _class("benchmark", word)])


def of_rows(experiment: CaseExperiment) -> list[Demand]:
    """List the class of a stored session's data set, if it is somebody's own."""
    word = experiment.data.name if isinstance(experiment, ModelExperiment) else None
    own = word if word and is_own_dataset(word) else None
    return of_parts(experiment, [("dataset", part) for part in _class("data set", own)])


def of_properties(experiment: CaseExperiment, typed: Collection[str] = ()) -> list[Demand]:
    """List the classes that properties of a stored session name, but for those `typed` anew."""
    arms = experiment.models if isinstance(experiment, ModelExperiment) else ()
    parts = [part for part in _named_in(experiment.properties) if part.word not in typed]
    parts += [part for arm in arms for part in _named_in(arm.properties)]
    return of_parts(experiment, [("property", part) for part in parts])


def is_code(demand: Demand) -> bool:
    """Tell whether it would be imported, be it for a look at the plan."""
    if demand.option in ("models", "judge"):
        return is_class(demand.word)
    if demand.option == "property":
        return True
    if demand.option == "dataset":
        return is_own_dataset(demand.word)
    return demand.option == "environment" and registry.is_class("environments", demand.word)


def _of_files(request: CaseRequest) -> Iterator[Demand]:
    yield from of_files(OF_RUN, request.settings, request.sources, request.config)
    name = find_benchmark(request.benchmark).name
    yield from of_property_files(name, request.properties, request.config)


def of_property_files(
    benchmark: str, assignments: Sequence[str], config: Path | None = None
) -> Iterator[Demand]:
    """Yield the classes that properties name in the files of the working folder, but for those that
    were typed, as `NAME=VALUE`."""
    typed = {_name(assignment) for assignment in assignments}
    for source, layer in property_layers(benchmark, config).items():
        origin = origin_of("property", {"property": source}, config)
        if origin is not None:
            for part in _named_in(layer):
                if part.word not in typed:
                    yield of_file("property", part, origin)


def _named_in(properties: Mapping[str, Any]) -> Parts:
    """Yield each class that a property names, however deep in its value."""
    for name, value in properties.items():
        for word in filter(registry.names_code, _texts(value)):
            digest = digest_of("property", name, word, str(Path.cwd()))
            yield Part(name, f"{word} of the property {name}", digest)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
        if value.lstrip().startswith(("[", "{")):  # in .env a list is the text of one
            with suppress(ValueError):
                yield from _texts(from_json(value))
    elif isinstance(value, dict):
        yield from (text for each in value.items() for it in each for text in _texts(it))
    elif isinstance(value, list):
        yield from (text for each in value for text in _texts(each))


def _name(assignment: str) -> str:
    return assignment.partition("=")[0]


@OF_RUN.of("models")
def _models(models: Iterable[str]) -> Parts:
    variables = {**read_dotenv().written, **os.environ}
    for model in models:
        if not is_harmless(model, variables):  # a class is looked for in the working folder
            digest = digest_of("model of run", model, str(Path.cwd()), *_files(model))
            yield Part(model, f"the model {without_logins(model)}", digest)


def _files(model: str) -> Iterator[str | None]:
    """Yield the content of the file that describes an agent program, hashed."""
    source = None if is_class(model) else source_of(model)
    if isinstance(source, AgentSource) and source.spec.endswith(YAML):
        name, _, path = source.spec.partition(":")
        yield hash_of(path if name == COMMAND else source.spec)


@OF_RUN.of("judge")
def _judge(word: str | None) -> Parts:
    yield from _models([word] if word is not None else [])


@OF_RUN.of("environment")
def _environment(name: str | None) -> Parts:
    if name not in (None, ENVIRONMENT):
        what = f"the environment {name} for code of models"
        yield Part(str(name), what, digest_of("environment", name, str(Path.cwd())))


@OF_RUN.of("allow_code_execution")
def _execution(allowed: bool) -> Parts:
    if allowed:
        yield Part("allow_code_execution", "code that models write", digest_of("execution"))


def _class(noun: str, word: str | None) -> Parts:
    if word is not None:  # it is looked for in the working folder
        yield Part(word, f"the {noun} {word}", digest_of(noun, word, str(Path.cwd())))


@OF_RUN.of("dataset")
def _dataset(name: str | None) -> Parts:
    if name is not None and is_own_dataset(name):
        yield from _class("data set", name)
    elif name is not None and (is_file(name) or ":" in name):  # an argument may be any path
        path = str(Path(name).expanduser().resolve()) if is_file(name) else name
        what = f"models with the rows of {path}"
        yield Part(name, what, digest_of("dataset", path, hash_of(name)))


OF_RUN.of("resume")(resumed)

"""What the files of the working folder, and a session that is continued, ask `run` to start."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from swarm_bench.app.models.arms import create_source, is_class, is_harmless
from swarm_bench.app.setup.case_experiment import CaseRequest
from swarm_bench.app.trust.demands import (
    build_demand,
    build_demands,
    find_origin,
    list_file_demands,
)
from swarm_bench.app.trust.option_parts import (
    Makers,
    Parts,
    TrustedPart,
    describe_executor,
    describe_resumed,
)
from swarm_bench.benchmarks.agents.source import AgentSource
from swarm_bench.benchmarks.cases.folder import open_case_folder
from swarm_bench.config.addresses import remove_logins
from swarm_bench.config.dotenv_file import read_dotenv
from swarm_bench.config.layers import property_layers
from swarm_bench.config.parsing import COMMAND, YAML
from swarm_bench.config.trust import Demand, digest_of
from swarm_bench.core import entry_points
from swarm_bench.core.session.cases import CaseExperiment
from swarm_bench.core.session.designs import ENVIRONMENT
from swarm_bench.datasets.rows import hash_of, is_file
from swarm_bench.datasets.rows import is_class as is_own_dataset
from swarm_bench.engine.benchmark import find_benchmark

OF_RUN = Makers()


def list_request_demands(request: CaseRequest) -> list[Demand]:
    """List what everything that this call reads asks for. Raises `UsageError`."""
    demands = list(_list_file_demands(request))
    if request.resume is not None:
        demands += list_run_demands(
            open_case_folder(request.resume).read_experiment(), request=request
        )
    return demands


def list_run_demands(
    experiment: CaseExperiment, request: CaseRequest | None = None
) -> list[Demand]:
    """List what a stored session asks for when it is continued, beside what the `request` has."""
    demands = list_property_demands(
        experiment,
        {_parse_name(assignment) for assignment in request.properties} if request else (),
    )
    started_words = experiment.started_words
    typed_models = request.settings.models if request and request.is_typed("models") else []
    models = [model for model in started_words.get("models", ()) if model not in typed_models]
    demands += build_demands(experiment, [("models", part) for part in _describe_models(models)])
    if not (request and request.is_typed("judge")):
        judges = started_words.get("judge", ())
        demands += build_demands(experiment, [("judge", part) for part in _describe_models(judges)])
    return (
        demands
        if request and request.is_typed("dataset")
        else [*demands, *list_row_demands(experiment)]
    )


def list_benchmark_demands(experiment: CaseExperiment) -> list[Demand]:
    """List the class of a stored session's benchmark, if it is not a registered one."""
    word = experiment.benchmark_class
    return build_demands(
        experiment, [("benchmark", part) for part in _describe_class("benchmark", word)]
    )


def list_row_demands(experiment: CaseExperiment) -> list[Demand]:
    """List the class of a stored session's data set, if it is not a registered one."""
    classes = filter(is_own_dataset, experiment.started_words.get("dataset", ()))
    parts = [part for word in classes for part in _describe_class("data set", word)]
    return build_demands(experiment, [("dataset", part) for part in parts])


def list_property_demands(
    experiment: CaseExperiment, retyped: Collection[str] = ()
) -> list[Demand]:
    """List the classes that properties of a stored session name, but for those `retyped`."""
    parts = [part for part in _find_classes(experiment.properties) if part.word not in retyped]
    parts += [part for varied in experiment.arm_properties for part in _find_classes(varied)]
    return build_demands(experiment, [("property", part) for part in parts])


def is_code(demand: Demand) -> bool:
    """Tell whether it would be imported, be it for a look at the plan."""
    if demand.option in ("models", "judge"):
        return is_class(demand.word)
    if demand.option in ("property", "on"):
        return True
    if demand.option == "dataset":
        return is_own_dataset(demand.word)
    return demand.option == "environment" and entry_points.is_class("environments", demand.word)


def _list_file_demands(request: CaseRequest) -> Iterator[Demand]:
    yield from list_file_demands(OF_RUN, request.settings, request.sources, request.config)
    name = find_benchmark(request.benchmark).name
    yield from list_property_file_demands(name, request.properties, request.config)


def list_property_file_demands(
    benchmark: str, assignments: Sequence[str], config: Path | None = None
) -> Iterator[Demand]:
    """Yield the classes that properties name in the files of the working folder, but for those that
    were typed, as `NAME=VALUE`."""
    typed_names = {_parse_name(assignment) for assignment in assignments}
    for source, layer in property_layers(benchmark, config).items():
        origin = find_origin("property", {"property": source}, config)
        if origin is not None:
            for part in _find_classes(layer):
                if part.word not in typed_names:
                    yield build_demand("property", part, origin)


def _find_classes(properties: Mapping[str, Any]) -> Parts:
    """Yield each class that a property names, however deep in its value."""
    for name, value in properties.items():
        for word in filter(entry_points.names_code, _iterate_texts(value)):
            digest = digest_of("property", name, word, str(Path.cwd()))
            yield TrustedPart(name, f"{word} of the property {name}", digest)


def _iterate_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
        if value.lstrip().startswith(("[", "{")):  # in .env a list is the text of one
            with suppress(ValueError):
                yield from _iterate_texts(from_json(value))
    elif isinstance(value, dict):
        yield from (
            text for pair in value.items() for item in pair for text in _iterate_texts(item)
        )
    elif isinstance(value, list):
        yield from (text for item in value for text in _iterate_texts(item))


def _parse_name(assignment: str) -> str:
    return assignment.partition("=")[0]


@OF_RUN.register("models")
def _describe_models(models: Iterable[str]) -> Parts:
    variables = {**read_dotenv().raw, **os.environ}
    for model in models:
        if not is_harmless(model, variables):  # a class is looked for in the working folder
            digest = digest_of("model of run", model, str(Path.cwd()), *_hash_agent_file(model))
            yield TrustedPart(model, f"the model {remove_logins(model)}", digest)


def _hash_agent_file(model: str) -> Iterator[str | None]:
    """Yield the content of the file that describes an agent program, hashed."""
    source = None if is_class(model) else create_source(model)
    if isinstance(source, AgentSource) and source.spec.endswith(YAML):
        name, _, path = source.spec.partition(":")
        yield hash_of(path if name == COMMAND else source.spec)


@OF_RUN.register("judge")
def _describe_judge(word: str | None) -> Parts:
    yield from _describe_models([word] if word is not None else [])


@OF_RUN.register("environment")
def _describe_environment(name: str | None) -> Parts:
    if name not in (None, ENVIRONMENT):
        description = f"the environment {name} for code of models"
        yield TrustedPart(str(name), description, digest_of("environment", name, str(Path.cwd())))


@OF_RUN.register("allow_code_execution")
def _describe_execution(allowed: bool) -> Parts:
    if allowed:
        yield TrustedPart("allow_code_execution", "code that models write", digest_of("execution"))


def _describe_class(noun: str, word: str | None) -> Parts:
    if word is not None:  # it is looked for in the working folder
        yield TrustedPart(word, f"the {noun} {word}", digest_of(noun, word, str(Path.cwd())))


@OF_RUN.register("dataset")
def _describe_dataset(name: str | None) -> Parts:
    if name is not None and is_own_dataset(name):
        yield from _describe_class("data set", name)
    elif name is not None and (is_file(name) or ":" in name):  # an argument may be any path
        path = str(Path(name).expanduser().resolve()) if is_file(name) else name
        description = f"models with the rows of {path}"
        yield TrustedPart(name, description, digest_of("dataset", path, hash_of(name)))


OF_RUN.register("on")(describe_executor)
OF_RUN.register("resume")(describe_resumed)

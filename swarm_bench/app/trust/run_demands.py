"""What the files of the working folder, and a session that is continued, ask `run` to start."""

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from swarm_bench.app.models.arms import is_class, is_harmless
from swarm_bench.app.setup.case_experiment import CaseRequest
from swarm_bench.app.trust.demands import of_file, of_parts, origin_of
from swarm_bench.app.trust.option_parts import Part, Parts, resumed
from swarm_bench.config.addresses import without_logins
from swarm_bench.config.dotenv_file import read_dotenv
from swarm_bench.config.trust import Demand, digest_of
from swarm_bench.core import registry
from swarm_bench.core.roles.execution import DEFAULT_ENVIRONMENT
from swarm_bench.core.session.cases import CaseExperiment
from swarm_bench.core.session.models import ModelExperiment
from swarm_bench.datasets.rows import hash_of, is_file
from swarm_bench.datasets.rows import is_class as is_own_dataset
from swarm_bench.engine.cases.store import case_folder


def demands_of(request: CaseRequest) -> list[Demand]:
    """List what everything that this call reads asks for. Raises `UsageError`."""
    asked = list(_of_files(request))
    if request.resume is not None:
        asked += of_run(case_folder(request.resume).read_experiment(), typed=request)
    return asked


def of_run(experiment: CaseExperiment, typed: CaseRequest | None = None) -> list[Demand]:
    """List what a stored session asks for when it is continued, beside what was `typed`."""
    if not isinstance(experiment, ModelExperiment):
        return []
    again = typed.settings.models if typed and typed.is_typed("models") else []
    models = dict.fromkeys(arm.model for arm in experiment.models if arm.model not in again)
    asked = of_parts(experiment, [("models", part) for part in _models(models)])
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


def is_code(demand: Demand) -> bool:
    """Tell whether it would be imported, be it for a look at the plan."""
    if demand.option == "models":
        return is_class(demand.word)
    if demand.option == "dataset":
        return is_own_dataset(demand.word)
    return demand.option == "environment" and registry.is_class("environments", demand.word)


def _of_files(request: CaseRequest) -> Iterator[Demand]:
    for option, parts in _OF_OPTION.items():
        origin = origin_of(option, request.sources, request.config)
        if origin is not None:
            for part in parts(getattr(request.settings, option)):
                yield of_file(option, part, origin)


def _models(models: Iterable[str]) -> Parts:
    variables = {**read_dotenv().written, **os.environ}
    for model in models:
        if not is_harmless(model, variables):  # a class is looked for in the working folder
            digest = digest_of("model of run", model, str(Path.cwd()))
            yield Part(model, f"the model {without_logins(model)}", digest)


def _environment(name: str | None) -> Parts:
    if name not in (None, DEFAULT_ENVIRONMENT):
        what = f"the environment {name} for code of models"
        yield Part(str(name), what, digest_of("environment", name, str(Path.cwd())))


def _execution(allowed: bool) -> Parts:
    if allowed:
        yield Part("allow_code_execution", "code that models write", digest_of("execution"))


def _class(noun: str, word: str | None) -> Parts:
    if word is not None:  # it is looked for in the working folder
        yield Part(word, f"the {noun} {word}", digest_of(noun, word, str(Path.cwd())))


def _dataset(name: str | None) -> Parts:
    if name is not None and is_own_dataset(name):
        yield from _class("data set", name)
    elif name is not None and (is_file(name) or ":" in name):  # an argument may be any path
        path = str(Path(name).expanduser().resolve()) if is_file(name) else name
        what = f"models with the rows of {path}"
        yield Part(name, what, digest_of("dataset", path, hash_of(name)))


_OF_OPTION: dict[str, Callable[[Any], Parts]] = {
    "models": _models,
    "environment": _environment,
    "allow_code_execution": _execution,
    "dataset": _dataset,
    "resume": resumed,
}
"""Options that ask for something when a file sets them, for some values."""

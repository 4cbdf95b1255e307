"""From the options of `run` to the experiment of a benchmark whose trials are pairs of an arm and a
case; what no session can be is refused."""

import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from swarm_bench.app.setup.case_properties import CaseProperties, P, resolve_properties
from swarm_bench.benchmarks.cases.benchmark import RowBenchmark
from swarm_bench.benchmarks.cases.role import ModelBenchmark, RowCase
from swarm_bench.benchmarks.cases.running import choose_way
from swarm_bench.config.run_options import RUNS, RunSettings
from swarm_bench.core.entry_points import names_code, own_version
from swarm_bench.core.errors import ConfigError, UsageError, choice
from swarm_bench.core.metric import Metrics
from swarm_bench.core.session.base import Slice, Source
from swarm_bench.core.session.cases import Case, CaseExperiment, E
from swarm_bench.core.session.designs import MARGIN
from swarm_bench.core.session.models import Arm
from swarm_bench.engine.benchmark import CaseBenchmark, wrap_benchmark_errors
from swarm_bench.engine.continuing import check_benchmark, check_slice_kept
from swarm_bench.engine.plan import check_slice, draw_order
from swarm_bench.runtime import machine
from swarm_bench.runtime.sink import clean_value


@dataclass(frozen=True, kw_only=True)
class CaseRequest:
    """Options of a call of `run`."""

    benchmark: str
    properties: Sequence[str] = ()
    """Assignments as they were typed: `NAME=VALUE`."""
    settings: RunSettings = RunSettings()
    sources: Mapping[str, Source] = field(default_factory=dict)
    """Sources of the settings, by name."""
    config: Path | None = None
    """The settings file that `--config` names."""
    resume: Path | None = None
    """The folder of the session that is continued."""

    def is_typed(self, name: str) -> bool:
        """Tell whether the option stands on the command line of this call."""
        return self.sources.get(name) == "command line"


def resolve_case_properties(
    benchmark: CaseBenchmark, kind: type[P], request: CaseRequest, old: CaseExperiment | None
) -> CaseProperties[P]:
    """Resolve the properties of the call, which are of that kind, as they are not stored; `old` is
    the experiment of a session that is continued. Raises `UsageError`."""
    if old is not None:
        check_benchmark(old, benchmark.name, benchmark.version)
    old_properties = old.properties if old else None
    return resolve_properties(
        benchmark.name, kind, request.properties, old_properties, request.config
    )


def build_case_experiment(
    benchmark: CaseBenchmark,
    properties: CaseProperties[Any],
    request: CaseRequest,
    old: CaseExperiment | None,
    default_runs: int = RUNS,
) -> CaseExperiment:
    """Make the experiment of the call; `old` is that of a session that is continued, which can
    grow. Raises `UsageError`."""
    experiment = (
        _extend_experiment(old, properties, request)
        if old
        else _start_experiment(benchmark, properties, request, default_runs)
    )
    return _check_experiment(experiment, properties.secrets)


def add_arms(experiment: E, arms: Sequence[str], secrets: Collection[str]) -> E:
    """Add arms, which come after the others in every run. Raises `UsageError`."""
    arms = (*experiment.arms, *dict.fromkeys(arms))
    order = draw_order(arms, experiment.runs, experiment.seed, experiment.order)
    return _check_experiment(experiment.model_copy(update={"arms": arms, "order": order}), secrets)


def check_sliceable(request: CaseRequest, *, grows: bool) -> None:
    """Raise `UsageError` for slices of a benchmark that adds arms when it has seen all records."""
    if request.settings.slice and grows:
        raise UsageError(
            f"--slice: {request.benchmark} chooses arms by the records of all cases, which no "
            "slice has; run it whole"
        )


def check_arm_names(arms: Iterable[str]) -> tuple[str, ...]:
    """Return the names of arms that a benchmark gave. Raises `TypeError` for anything else."""
    names = tuple(arms)
    if isinstance(arms, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"{arms!r} is no list of names")  # the letters of a text would be arms
    return names


def _check_experiment(experiment: E, secrets: Collection[str]) -> E:
    names = [experiment.arms, [(case.id, case.title) for case in experiment.cases]]
    if clean_value(names, secrets) != names:
        raise UsageError(
            "The session has an arm or a case that is named after a secret; fix the benchmark, or "
            "set other properties"
        )
    try:
        experiment.check()
    except ValueError as error:
        raise UsageError(f"The session {error}; fix the benchmark, or ask for less") from error
    return experiment


def _start_experiment(
    benchmark: CaseBenchmark,
    properties: CaseProperties[Any],
    request: CaseRequest,
    default_runs: int,
) -> CaseExperiment:
    arms, cases = _list_arms_and_cases(benchmark, properties.model)
    runs, seed = request.settings.runs or default_runs, request.settings.seed or 0
    part = Slice.parse(request.settings.slice) if request.settings.slice else None
    check_slice(part, len(cases), "a case")
    return CaseExperiment(
        session=os.urandom(4).hex(),
        created_at=datetime.now(UTC),
        sealed=True,
        benchmark=benchmark.name,
        benchmark_version=benchmark.version,
        benchmark_class=_find_class(request),
        concurrency=benchmark.groups_at_once,
        arms=arms,
        cases=cases,
        properties=properties.safe,
        property_sources=properties.sources,
        runs=runs,
        seed=seed,
        order=draw_order(arms, runs, seed),
        machine=machine.describe(),
        versions={"swarm-bench": own_version()},
        slice=part,
        primary=choose_primary(benchmark.metrics(), request.settings.primary),
        margin=MARGIN if request.settings.margin is None else request.settings.margin,
    ).preregister()


def choose_primary(metrics: Metrics, preferred_key: str | None) -> str | None:
    """Return the key of the metric that a verdict is on: the one that is named, or the first that
    is compared; `None` without any. Raises `UsageError` for one that no verdict can be on."""
    if preferred_key is None:
        return next((metric.key for metric in metrics if metric.compared and metric.better), None)
    fit = [metric.key for metric in metrics if metric.is_of_trials and metric.better]
    if preferred_key not in fit:
        raise UsageError(
            f"--primary {preferred_key}: a verdict is on a metric of which more or less is better; "
            + (choice(preferred_key, fit) if fit else "this benchmark has none")
        )
    return preferred_key


def _list_arms_and_cases(
    benchmark: CaseBenchmark, properties: BaseModel
) -> tuple[tuple[str, ...], tuple[Case, ...]]:
    """Ask the benchmark for both. Raises `UsageError` where it does, and `ConfigError` for whatever
    else it raises, or gives that cannot be."""
    with wrap_benchmark_errors(benchmark.name, "cannot be planned"):
        arms, cases = (
            check_arm_names(benchmark.arms(properties)),
            tuple(benchmark.cases(properties)),
        )
        if not all(isinstance(case, Case) for case in cases):
            raise TypeError("its cases are no list of Case")
    subject = f"The benchmark {benchmark.name!r}"
    for noun, names in (("arms", arms), ("cases", [case.id for case in cases])):
        if not names:
            raise ConfigError(f"{subject} has no {noun}; fix it, or set other properties")
        name, count = Counter(names).most_common(1)[0]
        if count > 1:
            raise ConfigError(
                f"{subject} is not clear: two of its {noun} are called {name!r}; fix it"
            )
    return arms, cases


def _extend_experiment(
    old: CaseExperiment, properties: CaseProperties[Any], request: CaseRequest
) -> CaseExperiment:
    if properties.safe != old.properties:
        raise UsageError("A session keeps its properties; omit --property, or start a new session")
    runs = request.settings.runs or old.runs
    if runs < old.runs:
        raise UsageError(f"--runs {runs}: the session has {old.runs} runs already; give more")
    fixed_values = {
        "seed": old.seed,
        "primary": old.primary,
        "margin": old.margin,
        "slice": str(old.slice) if old.slice else "not given",
    }
    for name, value in fixed_values.items():
        if getattr(request.settings, name) not in (None, value):
            raise UsageError(f"--{name}: the session has {value}; omit it")
    order = draw_order(old.arms, runs, old.seed, old.order)
    changes = {"runs": runs, "order": order, "benchmark_class": _find_class(request)}
    grown = old.model_copy(update=changes)
    check_slice_kept(old, grown)
    return grown


def _find_class(request: CaseRequest) -> str | None:
    return request.benchmark if names_code(request.benchmark) else None


def check_files(request: CaseRequest) -> None:
    """Refuse files of values that were not typed: what a checkout names is not read. Raises
    `UsageError`."""
    for assignment in () if request.is_typed("vary") else request.settings.vary:
        if any(text.startswith("@") for text in assignment.partition("=")[2].split(",")):
            raise UsageError(
                f"--vary {assignment} (from {request.sources.get('vary')}): files are read of what "
                "is typed; give it on the command line"
            )


def check_arms(new_arms: Iterable[Arm], old_arms: Iterable[Arm]) -> None:
    """Refuse an arm that a session has with other values, as a file has another text since. Raises
    `UsageError`."""
    old_properties = {arm.name: arm.properties for arm in old_arms}
    for arm in new_arms:
        for name, value in arm.properties.items():
            if old_properties.get(arm.name, {}).get(name, value) != value:
                raise UsageError(
                    f"The session has an arm {arm.name} with another {name}; restore it, or give "
                    "the new one another name"
                )


def check_properties(
    benchmark: RowBenchmark,
    properties: Mapping[str, Any],
    new_arms: Iterable[Arm],
    old_arms: Collection[str],
) -> None:
    """Refuse values that make no sense in an arm that varies them, or in any arm of a new session,
    which has no old ones. Raises `UsageError`."""
    setup = benchmark.setup
    assert setup is not None
    varied = {name for arm in new_arms for name in arm.properties}
    common: Mapping[str, str] | None = None
    for arm in setup.arms:
        arm_benchmark = benchmark.configure(properties, arm)
        way = choose_way(arm_benchmark, setup.sources[arm.model])
        with wrap_benchmark_errors(benchmark.name, "cannot be planned"):
            clauses = arm_benchmark.mistaken(way)
        for name in varied & clauses.keys() & arm.properties.keys():
            if arm.name not in old_arms:
                raise UsageError(f"The arm {arm.name}: {name} {clauses[name]}")
        common = {
            name: clause
            for name, clause in clauses.items()
            if name not in varied and (common is None or name in common)
        }
    if common and not old_arms:
        name, clause = next(iter(common.items()))
        raise UsageError(f"A property of {benchmark.name}: {name} {clause}")


def check_cases(
    benchmark: RowBenchmark, models: Iterable[Arm], properties: Mapping[str, Any]
) -> None:
    """Refuse arms that would ask other cases. Raises `UsageError`."""
    base_benchmark = benchmark.kind.model_validate(properties)
    base_cases = benchmark.select(base_benchmark)
    for arm in models:
        arm_benchmark = benchmark.configure(properties, arm)
        if arm.properties and not (
            _has_same_rows(arm_benchmark, base_benchmark)
            and _are_same_cases(benchmark.select(arm_benchmark), base_cases)
        ):
            raise UsageError(
                f"The arm {arm.name} would ask other cases than the rest of the session; give a "
                "session of its own to each"
            )


def _has_same_rows(arm_benchmark: ModelBenchmark, base_benchmark: ModelBenchmark) -> bool:
    schemas, data = (
        (arm_benchmark.row_schema(), base_benchmark.row_schema()),
        arm_benchmark.default_dataset(),
    )
    return schemas[0] is schemas[1] and data == base_benchmark.default_dataset()


def _are_same_cases(cases: Sequence[RowCase], other_cases: Sequence[RowCase]) -> bool:
    """Tell whether cases are the same, in the same parts, and not only called so. Rows that cannot
    be compared are what they are called."""
    if [(case.id, case.part) for case in cases] != [(case.id, case.part) for case in other_cases]:
        return False
    rows = ((case.row, other_case.row) for case, other_case in zip(cases, other_cases, strict=True))
    return all(
        type(row).__eq__ is vars(object)["__eq__"] or row == other_row for row, other_row in rows
    )

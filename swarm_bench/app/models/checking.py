"""What a call of `run` asks for and no session can be."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from swarm_bench.app.setup.case_experiment import CaseRequest
from swarm_bench.benchmarks.cases.benchmark import RowBenchmark
from swarm_bench.benchmarks.cases.role import ModelBenchmark, RowCase
from swarm_bench.benchmarks.cases.running import choose_way
from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.cases import CaseExperiment
from swarm_bench.core.session.models import Arm, ModelExperiment
from swarm_bench.engine.benchmark import wrap_benchmark_errors


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
    experiment: CaseExperiment,
) -> None:
    """Refuse values that make no sense in an arm that varies them, or in any arm of a new session.
    Raises `UsageError`."""
    setup = benchmark.setup
    assert setup is not None
    varied = {name for arm in new_arms for name in arm.properties}
    old_arms = experiment.arms if isinstance(experiment, ModelExperiment) else ()
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

"""A benchmark with its properties, for commands that look at its rows and ask no model."""

from collections.abc import Sequence

from swarm_bench.app.setup.case_properties import CaseProperties, resolve_properties
from swarm_bench.app.trust.approval import is_vouched
from swarm_bench.app.trust.run_demands import list_property_file_demands
from swarm_bench.benchmarks.cases.benchmark import RowBenchmark
from swarm_bench.benchmarks.cases.role import ModelBenchmark
from swarm_bench.core.errors import UsageError
from swarm_bench.engine.benchmark import find_benchmark


def configure_benchmark(
    name: str, properties: Sequence[str], option: str
) -> tuple[RowBenchmark, CaseProperties, ModelBenchmark]:
    """Find a benchmark, and set its properties; `option` is what asked for it. Raises `UsageError`
    for one that has no rows, and where a file names what would be loaded."""
    benchmark = find_benchmark(name)
    if not isinstance(benchmark, RowBenchmark):
        raise UsageError(
            f"{option}: {name} asks no models, so there are no rows and no requests; omit it"
        )
    if not is_vouched(demands := [*list_property_file_demands(benchmark.name, properties)]):
        raise UsageError(
            f"{option}: nothing was loaded that a file names: {demands[0].full_sentence}; look at "
            f"it, then give it yourself: --property {demands[0].word}=VALUE"
        )
    resolved = resolve_properties(benchmark, properties, None)
    assert isinstance(resolved.model, ModelBenchmark)
    return benchmark, resolved, resolved.model

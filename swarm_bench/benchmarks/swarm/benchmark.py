"""The swarm benchmark: agents on the tasks of a suite, in one mode and in another. `compare`, `ab`
and `calibrate` are designs of it."""

from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import MISSING, fields
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import BaseModel, Field, TypeAdapter, create_model

from swarm_bench.benchmarks.swarm.artefacts import list_printed
from swarm_bench.benchmarks.swarm.metrics.catalogue import load_metrics
from swarm_bench.benchmarks.swarm.run_plan import Swarm, plan
from swarm_bench.benchmarks.swarm.running.packing import unpack_kit
from swarm_bench.benchmarks.swarm.running.rehearsing import REHEARSAL_LOG, open_rehearsal
from swarm_bench.benchmarks.swarm.running.swarm import run_swarm
from swarm_bench.benchmarks.swarm.running.trial import (
    Delivery,
    Execution,
    SwarmExecutor,
    SwarmJob,
)
from swarm_bench.benchmarks.swarm.scorers import load_scorers
from swarm_bench.config.annotations import Option, notes, written_name
from swarm_bench.config.compare_options import SCOPES, Settings
from swarm_bench.core.events import Emit
from swarm_bench.core.metric import Metrics
from swarm_bench.core.outcome import Outcome
from swarm_bench.core.ports import Scorer
from swarm_bench.core.session.designs import BENCHMARK, DESIGNS
from swarm_bench.core.session.experiment import Experiment, Task
from swarm_bench.core.session.records import Measurements
from swarm_bench.core.status import Cause
from swarm_bench.engine.plan import Block


def _build_properties() -> dict[str, Any]:
    options = notes(Settings, Option)
    return {
        written_name(setting.name): _build_property(setting, options[setting.name])
        for setting in fields(Settings)
        if setting.name in options and not SCOPES[setting.name].of_call
    }


def _build_property(setting: Any, option: Option) -> tuple[Any, Any]:
    if setting.default_factory is not MISSING:
        return setting.type, Field(default_factory=setting.default_factory, description=option.help)
    return setting.type, Field(default=setting.default, description=option.help)


Properties: type[BaseModel] = create_model("Properties", **_build_properties())


class SwarmBenchmark:
    """Is run by the commands `compare`, `ab` and `calibrate`."""

    name = BENCHMARK
    version = 1
    about = (
        f"Agents on the tasks of a suite, with and without a retrieval tool: {', '.join(DESIGNS)}."
    )
    properties: type[BaseModel] = Properties

    def plan(self, experiment: Experiment) -> Sequence[Block[Task]]:
        """Return the swarms of all runs."""
        return plan(experiment)

    def scorers(self, names: Sequence[str] | None = None) -> tuple[Scorer, ...]:
        """Return ours, and those that packages register, or those of these names. Raises
        `ConfigError`."""
        return load_scorers(names)

    def metrics(self) -> Metrics:
        """Return ours, and those that packages register. Raises `ConfigError`."""
        return load_metrics()

    @cached_property
    def jobs(self) -> TypeAdapter[SwarmJob]:
        return TypeAdapter(SwarmJob)

    @cached_property
    def deliveries(self) -> TypeAdapter[Delivery]:
        return TypeAdapter(Delivery)

    @asynccontextmanager
    async def unpacked(
        self, context: bytes, folder: Path, emit: Emit
    ) -> AsyncIterator[SwarmExecutor]:
        """Open what runs swarms below the folder."""
        kit = unpack_kit(context, folder, emit)
        async with open_rehearsal(kit, folder / REHEARSAL_LOG) as kit:
            yield partial(run_swarm, kit)

    def find_end(self, delivery: Delivery) -> str | None:
        """Return the id of the trial that an execution is of."""
        return delivery.trial.id if isinstance(delivery, Execution) else None

    def find_group(self, job: SwarmJob) -> Swarm:
        """Return the swarm."""
        return job.swarm

    def owns_file(self, job: SwarmJob, file: PurePosixPath) -> bool:
        """Tell whether it is what one of the agents printed, or the log of their service."""
        return file in list_printed(job.swarm)

    def describe_lost(
        self, job: SwarmJob, finished_ids: Collection[str], detail: str
    ) -> Iterator[Delivery]:
        """Yield an execution of each trial that has none yet. What happened around them is not
        known, nor what they spent."""
        for trial in job.swarm.trials:
            if trial.id not in finished_ids:
                yield Execution(
                    trial=trial,
                    outcome=Outcome(cause=Cause.NODE_LOST, detail=detail),
                    measured=Measurements(attempt=job.attempts.get(trial.id, 0) + 1),
                    prompt=trial.case.prompt,
                    workspace="",
                    program_version=None,
                )

"""The rehearsal server of a session."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from swarm_bench.benchmarks.swarm.running.kit import Kit
from swarm_bench.core.events import Preparing
from swarm_bench.models.rehearsal.launch import start_rehearsal
from swarm_bench.runtime.environment import small_environment
from swarm_bench.runtime.homes import Homes

REHEARSAL_LOG = "rehearsal.log"


@asynccontextmanager
async def open_rehearsal(kit: Kit, log: Path) -> AsyncIterator[Kit]:
    """Start the server that answers in the place of a model, in a rehearsal. Yields the kit with
    it. Raises `ServiceFailed` when it does not come up."""
    experiment = kit.experiment
    if not experiment.rehearsal:
        yield kit
        return
    kit.emit(Preparing(step="the rehearsal server"))
    instructions = sorted({mode.instructions for mode in experiment.modes})
    async with Homes(work=kit.work).open_home("home-rehearsal") as home:
        started = start_rehearsal(
            {**small_environment(os.environ), **home},
            experiment.faults,
            log,
            secrets=kit.secrets,
            instructions=instructions,
        )
        async with started as rehearsal:
            yield replace(kit, rehearsal=rehearsal)

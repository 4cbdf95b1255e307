"""The retrieval tool's own counters around a swarm."""

from collections.abc import Mapping
from typing import Any

from swarm_bench.benchmarks.swarm.running.kit import Kit
from swarm_bench.core.events import Trouble
from swarm_bench.core.ports import ProbeContext
from swarm_bench.core.session.experiment import Mode
from swarm_bench.retrieval.probes.readings import FAILED, Reading, asked, figures
from swarm_bench.retrieval.witnesses.agreement import gives_no_tool
from swarm_bench.runtime.redaction.cleaning import cleaned
from swarm_bench.runtime.sink import clean_text

Readings = Mapping[str, dict[str, Any] | None]


async def read(kit: Kit, mode: Mode, context: ProbeContext) -> dict[str, dict[str, Any] | None]:
    """Read the probes of a mode. Of a mode without a tool, read those of all modes, to see that
    nothing is counted. A probe that fails reads `FAILED`. A service may repeat what it was
    asked, also a key."""
    readings = dict[str, dict[str, Any] | None]()
    for name, probe in kit.probes.items():
        if gives_no_tool(mode) or name in mode.probes:
            answer = await asked(probe, context)
            if answer.problem:
                message = f"the probe {name}: {clean_text(answer.problem, kit.secrets)}"
                kit.emit(Trouble(message=message))
            if answer.is_there:
                reading = FAILED if answer.problem else answer.reading
                readings[name] = cleaned(reading, kit.secrets)
    return readings


def differences(kit: Kit, before: Readings, after: Readings) -> dict[str, Reading]:
    """Subtract the readings of each counter; `None` when one is missing or failed."""
    return {
        name: figures(kit.probes[name], before.get(name), reading)
        for name, reading in after.items()
    }

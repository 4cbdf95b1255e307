"""The retrieval tool's own counters around a swarm."""

from collections.abc import Mapping
from typing import Any

from swarm_bench.benchmarks.swarm.running.kit import Kit
from swarm_bench.core.events import Trouble
from swarm_bench.core.ports import ProbeContext
from swarm_bench.core.session.experiment import Mode
from swarm_bench.retrieval.probes.readings import Reading, asked, figures
from swarm_bench.retrieval.witnesses.agreement import gives_no_tool
from swarm_bench.runtime.sink import clean_text

Readings = Mapping[str, dict[str, Any] | None]


async def read(kit: Kit, mode: Mode, place: ProbeContext) -> dict[str, dict[str, Any] | None]:
    """What the probes of a mode read now: where it gives no tool, those of all modes, to see that
    nothing is counted. `None` for one that fails."""
    readings = dict[str, dict[str, Any] | None]()
    for name, probe in kit.probes.items():
        if gives_no_tool(mode) or name in mode.probes:
            answer = await asked(probe, place)
            if answer.problem:
                message = f"the probe {name}: {clean_text(answer.problem, kit.secrets)}"
                kit.emit(Trouble(message=message))
            if answer.is_there:
                readings[name] = answer.reading
    return readings


def differences(kit: Kit, before: Readings, after: Readings) -> dict[str, Reading]:
    """What each counter did over the run; `None` when a reading is missing."""
    return {
        name: figures(kit.probes[name], before.get(name), reading)
        for name, reading in after.items()
    }

"""The retrieval tool's own counters around a swarm, and the files they are kept in."""

import json
from collections.abc import Mapping
from typing import Any

from swarm_bench.benchmarks.swarm.plan.swarms import Swarm
from swarm_bench.benchmarks.swarm.running.kit import Kit
from swarm_bench.core.events import Trouble
from swarm_bench.core.ports import ProbeContext
from swarm_bench.core.session.experiment import Mode
from swarm_bench.retrieval.probes.readings import Reading, asked, content, figures
from swarm_bench.retrieval.witnesses.agreement import gives_no_tool
from swarm_bench.runtime.files import write_whole
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


def write(
    kit: Kit,
    swarm: Swarm,
    before: Readings,
    after: Readings,
    change: Readings,
) -> None:
    """Put the counters of a swarm beside its agents' files, in the shape existing scripts read."""
    folder = kit.folder.make_mode_folder(kit.experiment, swarm.run, swarm.mode)
    several = kit.experiment.agents_per_swarm < kit.experiment.trials_per_mode
    number = f"-{swarm.trials[0].agent}" if several else ""
    for name, counted in change.items():
        probe = kit.probes.get(name)
        if probe is None:
            continue
        written = content(probe, before.get(name), after.get(name), counted)
        if written is not None:
            place = folder / f"{probe.file}{number}.json"
            kit.folder.set_aside(place)
            text = json.dumps({"mode": swarm.mode, **written}, indent=2)
            write_whole(place, text + "\n")

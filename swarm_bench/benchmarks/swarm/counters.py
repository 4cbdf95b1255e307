"""The retrieval tool's own counters around a swarm, and the files they are kept in."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from swarm_bench.benchmarks.swarm.kit import Kit
from swarm_bench.benchmarks.swarm.plan.swarms import Swarm
from swarm_bench.core.ports import Probe
from swarm_bench.core.session.experiment import Mode
from swarm_bench.retrieval.probes.feedback import FEEDBACK_DB, FeedbackProbe, feedback_difference
from swarm_bench.retrieval.probes.service_metrics import ServiceMetricsProbe, service_difference
from swarm_bench.retrieval.witnesses.counters import gives_no_tool
from swarm_bench.runtime.files import write_whole

Reading = Mapping[str, Any] | None
Readings = Mapping[str, dict[str, Any] | None]

_DIFFERENCES: dict[str, Callable[[Reading, Reading], dict[str, Any] | None]] = {
    "feedback": feedback_difference,
    "service": service_difference,
}


def probes_of(mode: Mode) -> Sequence[str]:
    """The probes to read around a mode: where it gives no tool, all of them, to see that nothing
    is counted."""
    return tuple(_DIFFERENCES) if gives_no_tool(mode) else mode.probes


def probes(
    names: Sequence[str], workspace: Path, service_url: str | None, key: str | None
) -> list[Probe]:
    """The probes of these names; the service's only when there is a service."""
    found: list[Probe] = []
    if "feedback" in names:
        found.append(FeedbackProbe(workspace))
    if "service" in names and service_url is not None:
        found.append(ServiceMetricsProbe(service_url, key))
    return found


def differences(before: Readings, after: Readings) -> dict[str, dict[str, Any] | None]:
    """What each counter did over the run; `None` when a reading is missing."""
    return {name: _DIFFERENCES[name](before.get(name), after[name]) for name in after}


def files(
    number: str, mode: str, before: Readings, after: Readings, change: Readings
) -> dict[str, dict[str, Any]]:
    """The readings and what changed between them, as they lie beside the agents' files: by name,
    in the shape existing scripts read."""
    found: dict[str, dict[str, Any]] = {}
    feedback, service = change.get("feedback"), change.get("service")
    if feedback is not None:
        content = {"mode": mode, "db_path": FEEDBACK_DB.as_posix(), **feedback}
        found[f"local-feedback-metrics{number}.json"] = content
    if service is not None:
        found[f"service-metrics{number}.json"] = {
            "performance": service,
            "analytics": (after.get("service") or {}).get("analytics"),
            "before": before.get("service"),
            "after": after.get("service"),
        }
    return found


def write(
    kit: Kit,
    swarm: Swarm,
    before: Readings,
    after: Readings,
    change: Readings,
) -> None:
    """Put the counters of a swarm beside its agents' files."""
    folder = kit.folder.make_mode_folder(kit.experiment, swarm.run, swarm.mode)
    several = kit.experiment.agents_per_swarm < kit.experiment.trials_per_mode
    number = f"-{swarm.trials[0].agent}" if several else ""
    for file, content in files(number, swarm.mode, before, after, change).items():
        kit.folder.set_aside(folder / file)
        write_whole(folder / file, json.dumps(content, indent=2) + "\n")

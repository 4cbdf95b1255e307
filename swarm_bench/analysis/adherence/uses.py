"""Whether the retrieval tool was used at all, by its own counters where it has any."""

from collections.abc import Mapping

from swarm_bench.analysis.metrics.reading import read_finite
from swarm_bench.analysis.once import once
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.slices import Slice
from swarm_bench.core.figures import total
from swarm_bench.core.session.records import SwarmRecord, Treatment
from swarm_bench.core.treatment.counters import Counters
from swarm_bench.retrieval.probes.registered import SHIPPED, find_counters


@once
def collect_counters(selection: Selection) -> dict[str, Counters]:
    """Return what each probe of the session counts, the most telling one first: a file that is not
    there may be that of a tool that nobody asked."""
    experiment = selection.data.experiment
    of_modes = (name for mode in experiment.modes for name in mode.probes)
    names = {*SHIPPED, *of_modes, *experiment.counters}
    by_name = {name: find_counters(experiment, name) for name in sorted(names)}
    entries = [(name, spec) for name, spec in by_name.items() if spec is not None]
    return dict(sorted(entries, key=lambda item: item[1].file is not None))


def is_exercised(selection: Selection) -> bool | None:
    """Tell whether each mode with a tool used it in each of its runs; `None` when no mode has a
    tool, or for one of them nothing can tell."""
    verdicts = [
        is_exercised_in(part, _select_probes(selection, mode))
        for mode in selection.modes
        if selection.has_tool(mode) and not selection.is_placebo(mode)
        for part in selection.list_slices(mode)
        if part.trials
    ]
    if False in verdicts:
        return False
    return None if not verdicts or None in verdicts else True


def _select_probes(selection: Selection, mode: str) -> dict[str, Counters]:
    """Select the probes of the mode whose counts are of its own agents."""
    external = bool(selection.data.experiment.service_url)
    probe_names = selection.find_probes(mode)
    return {
        name: spec
        for name, spec in collect_counters(selection).items()
        if name in probe_names and not (external and spec.shared)
    }


def is_exercised_in(part: Slice, probes: Mapping[str, Counters]) -> bool | None:
    for probe, spec in probes.items():
        uses = count_uses(part.swarms, probe, spec)
        if uses is not None:
            return uses > 0
    labels = {trial.retrieval for trial in part.trials}
    if Treatment.USED in labels:
        return True
    return None if labels & {None, Treatment.UNKNOWN} else False


def count_uses(swarms: tuple[SwarmRecord, ...], probe: str, spec: Counters) -> float | None:
    """Sum the uses that the probe counted in these swarms; `None` when none of them has the
    counter. Counters that went down started again in between, and tell nothing."""
    values_by_swarm = [
        [
            value
            for key in spec.telling
            if (value := read_finite((swarm.difference.get(probe) or {}).get(key))) is not None
        ]
        for swarm in swarms
    ]
    return total(sum(values) for values in values_by_swarm if values and min(values) >= 0)

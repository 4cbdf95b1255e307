"""What the mode files ask for, for a person to look at before it runs."""

import shlex
from collections.abc import Iterator

from swarm_bench.core.outcome import START_SECONDS
from swarm_bench.core.report.plan import Entry
from swarm_bench.core.session.experiment import Experiment, Mode
from swarm_bench.retrieval.modes.mode import drop_secrets
from swarm_bench.retrieval.modes.started import list_own_probes, write_server_lines


def list_mode_entries(experiment: Experiment) -> Iterator[Entry]:
    """Yield an entry for each mode that asks for something, with what it asks for."""
    for mode in map(drop_secrets, experiment.modes):
        parts = [
            Entry(label=label, texts=(text,)) for label, text in _list_requests(experiment, mode)
        ]
        if parts:
            yield Entry(label="Mode", texts=(mode.name,), parts=tuple(parts))


def _list_requests(experiment: Experiment, mode: Mode) -> Iterator[tuple[str, str]]:
    for name, line in write_server_lines(mode).items():
        yield f"server {name}", line
    if mode.prepare is not None:
        yield "prepare", _describe_preparation(experiment, mode)
    if mode.start_seconds != START_SECONDS:
        yield "start", f"its servers may take {mode.start_seconds:g} s"
    if mode.warm_up is not None:
        yield "warm up", f"{mode.warm_up.tool}, before the agents of each swarm start"
    if mode.teardown:
        yield "teardown", f"{shlex.join(mode.teardown)}, after each swarm"
    if mode.version:
        yield "version", shlex.join(mode.version)
    if mode.search is not None:
        yield "search", mode.search.tool
    yield from (("counters", probe) for probe in list_own_probes(mode))
    if mode.may_create:
        yield "may create", ", ".join(mode.may_create)
    if mode.keep:
        yield "keeps", f"{', '.join(mode.keep)} between runs"


def _describe_preparation(experiment: Experiment, mode: Mode) -> str:
    step = mode.prepare
    if step is None:
        return ""
    command = shlex.join(step.command) if step.command else f"the tool {step.tool}"
    if not experiment.prepares(mode):
        return f"{command}, not in this session (--index cold): the tool indexes by itself"
    phrase = "the first clone, copied into the others" if step.copyable else "each clone"
    return f"{command}, in {phrase}, at most {experiment.limits.index_timeout:g} s"

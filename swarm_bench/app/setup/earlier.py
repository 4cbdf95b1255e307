"""Finds an earlier session that tells what trials cost and how much they vary."""

from collections.abc import Sequence
from contextlib import suppress

from swarm_bench.analysis.planning.launches import Launches
from swarm_bench.analysis.planning.outlook import Earlier, expected, outlook
from swarm_bench.analysis.planning.planned import PlanRow
from swarm_bench.app.setup.folders import RESULTS
from swarm_bench.app.setup.prepared import Prepared
from swarm_bench.benchmarks.swarm.folder import EXPERIMENT, SessionFolder
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.config.settings import Resolved
from swarm_bench.core.errors import SwarmBenchError
from swarm_bench.core.events import Emit, Trouble
from swarm_bench.core.report.plan import Entry
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.prices import price_of

_MOST_READ = 30
"""Of the newest sessions."""


def earlier_session(experiment: Experiment) -> Earlier | None:
    """Return the newest session below `results/` of the same agent, model and repository, a
    calibration before others; `None` where there is none. What cannot be read is passed over."""
    files = [file for file in RESULTS.glob(f"*/{EXPERIMENT}") if file.is_file()]
    newest = sorted(files, key=lambda file: file.stat().st_mtime, reverse=True)[:_MOST_READ]
    alike = list[tuple[bool, SessionFolder]]()
    for file in newest:
        with suppress(SwarmBenchError):
            folder = SessionFolder(file.parent)
            stored = folder.read_experiment()
            if stored.session != experiment.session and _key(stored) == _key(experiment):
                alike.append((not stored.design.mode_twice, folder))
    for _, folder in sorted(alike, key=lambda candidate: candidate[0]):
        with suppress(SwarmBenchError):
            data = folder.read()
            if any(trial.wall_seconds is not None for trial in data.trials):
                return Earlier(folder=f"{RESULTS}/{folder.path.name}", data=data)
    return None


def outlook_of(
    ready: Prepared, rows: Sequence[PlanRow], launches: Launches, resolved: Resolved
) -> tuple[Entry, ...]:
    """Say what a session could show, what it would cost, and what limits that; nothing of a
    replay."""
    if ready.recorded is not None:
        return ()
    experiment, limit = ready.experiment, resolved.settings.max_cost
    earlier, by_rules = earlier_session(experiment), launches.paid is False
    remaining = sum(not row[-1] for row in rows)
    price = price_of(experiment.model or experiment.agent.model, experiment.prices or {})
    limits = [f"--max-cost {limit:g}: no trial starts that could cost more"] if limit else []
    priced = [f"where the agent reports no cost, {price.table} prices it"] if price else []
    texts = [] if by_rules else [*limits, *priced]
    return (
        *expected(experiment, earlier, remaining, paid=not by_rules),
        *([Entry(label="", texts=tuple(texts))] if texts else []),
        *outlook(experiment, earlier, METRICS, fixed_rules=by_rules),
    )


def tell_outlook(experiment: Experiment, emit: Emit) -> None:
    """Say in one line what a session that somebody pays for can show; `--plan` says more."""
    earlier = earlier_session(experiment)
    noise = f"with the noise of {earlier.folder}" if earlier else "with assumed noise"
    for entry in outlook(experiment, earlier, METRICS, fixed_rules=False):
        shown = "; ".join(entry.texts[:-1])
        emit(Trouble(message=f"{noise}, {shown} (--plan says more)"))


def _key(experiment: Experiment) -> tuple[object, ...]:
    replayed = experiment.replayed is not None
    return experiment.agent.name, experiment.model, experiment.repository.path, replayed

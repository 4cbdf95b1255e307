"""Finds an earlier session that tells what trials cost and how much they vary."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path

from swarm_bench.analysis.planning.forecast import Earlier, look_ahead
from swarm_bench.analysis.planning.launches import Launches
from swarm_bench.analysis.planning.outlook import describe_outlook
from swarm_bench.analysis.planning.session_plan import PlanRow
from swarm_bench.analysis.planning.short_outlook import describe_in_short
from swarm_bench.analysis.planning.spending import (
    SetUp,
    describe_expected,
    describe_set_up,
    explain_too_low,
    measure_set_up,
)
from swarm_bench.app.audit import audit_streams
from swarm_bench.app.setup.folders import RESULTS
from swarm_bench.app.setup.prepared import PreparedSession
from swarm_bench.app.stored.past import find_session_folder
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.benchmarks.swarm.ledger import make_ledger
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.benchmarks.swarm.run_plan import plan
from swarm_bench.config.layers import Resolved, Settings
from swarm_bench.core.errors import SwarmBenchError, UsageError
from swarm_bench.core.events import Emit, Foresight, WarningRaised
from swarm_bench.core.report.plan import Entry
from swarm_bench.core.session.experiment import REHEARSAL, Experiment
from swarm_bench.core.session.prices import find_price
from swarm_bench.engine.folder import EXPERIMENT
from swarm_bench.engine.plan import iterate_groups

_MOST_READ = 30
"""Number of the newest similar sessions that are read."""


def find_earlier_session(
    experiment: Experiment,
    settings: Settings,
    continued: SessionFolder | None = None,
    *,
    fixed_rules: bool = False,
) -> Earlier | None:
    """Return the newest session of the same agent, model and repository, a calibration before
    others; `None` where there is none. What cannot be read is passed over, and so is what has other
    figures than its stored output. Runs of fixed rules are equal, so with them only comparisons
    tell, and a calibration comes last.

    They lie below `results/` and beside the `--output`, where a session that is continued is the
    newest itself, or where `--noise` says; there they may be of another repository. Raises
    `UsageError` when nothing there tells.
    """
    named_folders = [find_session_folder(word) for word in settings.noise]
    first_sessions = [(continued, experiment)] if continued and not named_folders else []
    other_sessions = (
        _iterate_agent_sessions(experiment, named_folders)
        if named_folders
        else _iterate_similar(experiment, _list_folders(settings))
    )
    candidates = chain(first_sessions, other_sessions)
    ordered = sorted(candidates, key=lambda session: session[1].design.mode_twice is fixed_rules)
    for folder, stored_experiment in ordered:
        with suppress(SwarmBenchError):
            data = audit_streams(folder, folder.read(stored_experiment))
            if data.audit and data.audit.differing:
                continue
            if any(trial.wall_seconds is not None for trial in data.trials):
                return Earlier(folder=os.path.relpath(folder.path), data=data)
    if named_folders:
        model = f" with the model {experiment.model}" if experiment.model else ""
        raise UsageError(
            f"--noise {' '.join(settings.noise)}: no session of {experiment.agent.name}{model} "
            "lies there that could be read and has the figures of its stored output; name one, or "
            "omit it"
        )
    return None


def find_earlier_set_up(
    experiment: Experiment, settings: Settings, continued: SessionFolder | None = None
) -> SetUp | None:
    """Return what setting up took in the swarms of the `continued` session, or else in those of the
    newest session of the same kind that shows it of the most modes; `None` where there is none."""
    named_folders = [Path(folder).expanduser() for folder in settings.noise]
    other_sessions = _iterate_similar(experiment, [*named_folders, *_list_folders(settings)])
    sessions = chain([(continued, experiment)] if continued else [], other_sessions)
    best: SetUp | None = None
    for folder, stored_experiment in sessions:
        if stored_experiment.index != experiment.index:
            continue
        with suppress(SwarmBenchError):
            set_up = measure_set_up(
                os.path.relpath(folder.path), stored_experiment, folder.read_swarms()
            )
            measured_modes = set_up.preparation.keys() & set(experiment.arms)
            if len(measured_modes) > (
                len(best.preparation.keys() & set(experiment.arms)) if best else 0
            ):
                best = set_up
            if len(measured_modes) == len(experiment.modes):
                break
    return best


def _find_rehearsal(experiment: Experiment, settings: Settings) -> Earlier | None:
    """Return the newest session in which the agent was rehearsed on the repository."""
    rehearsed = experiment.model_copy(update={"model": REHEARSAL})
    for folder, _ in _iterate_similar(rehearsed, _list_folders(settings)):
        with suppress(SwarmBenchError):
            return Earlier(folder=os.path.relpath(folder.path), data=folder.read())
    return None


def _list_folders(settings: Settings) -> list[Path]:
    """Return the folders in which sessions lie."""
    return [RESULTS, *([settings.output.expanduser().parent] if settings.output else [])]


def _iterate_similar(
    experiment: Experiment, folders: Sequence[Path]
) -> Iterator[tuple[SessionFolder, Experiment]]:
    """Yield other sessions of the same agent, model and repository, the newest first."""
    for folder, stored_experiment in _iterate_agent_sessions(experiment, folders):
        if stored_experiment.repository.path == experiment.repository.path:
            yield folder, stored_experiment


def _iterate_agent_sessions(
    experiment: Experiment, folders: Sequence[Path]
) -> Iterator[tuple[SessionFolder, Experiment]]:
    """Yield the newest of the other sessions of the same agent and model, which a place may be."""
    patterns = (EXPERIMENT, f"*/{EXPERIMENT}")
    among = {
        file.resolve(): file
        for folder in folders
        for pattern in patterns
        for file in folder.glob(pattern)
    }
    files = [file for file in among.values() if file.is_file()]
    newest = sorted(files, key=lambda file: file.stat().st_mtime, reverse=True)
    yield from islice(_filter_sessions(experiment, newest), _MOST_READ)


def _filter_sessions(
    experiment: Experiment, files: Iterable[Path]
) -> Iterator[tuple[SessionFolder, Experiment]]:
    """Yield those of the same agent and model."""
    for file in files:
        with suppress(SwarmBenchError):
            folder = SessionFolder(file.parent)
            stored_experiment = folder.read_experiment()
            if stored_experiment.session != experiment.session and _build_key(
                stored_experiment
            ) == _build_key(experiment):
                yield folder, stored_experiment


def build_outlook(
    ready: PreparedSession, rows: Sequence[PlanRow], launches: Launches, resolved: Resolved
) -> tuple[Entry, ...]:
    """Say what a session could show, what it would cost, and what limits that; nothing of a
    replay, or where nothing is to run."""
    if ready.recorded_session is not None:
        return ()
    experiment = ready.experiment
    limit = experiment.share(resolved.settings.max_cost)
    pending = Counter(mode for _, mode, *_, is_done in rows if not is_done)
    if not pending:
        return ()
    by_rules = launches.paid is False
    rehearsal = None if by_rules else _find_rehearsal(experiment, resolved.settings)
    continued = SessionFolder(resolved.continued[0].folder) if resolved.continued else None
    earlier = find_earlier_session(experiment, resolved.settings, continued, fixed_rules=by_rules)
    set_up = find_earlier_set_up(experiment, resolved.settings, continued)
    saving = resolved.settings.expect
    outlook = look_ahead(experiment, earlier, METRICS, saving=saving, fixed_rules=by_rules)
    price = find_price(experiment.model or experiment.agent.model, experiment.prices or {})
    limits = []
    if limit:
        prices, done = experiment.prices or {}, len(rows) - pending.total()
        remaining = limit - make_ledger(limit, prices, [continued] if continued else []).total_cost
        limit_text = f"--max-cost {limit:g}: no trial starts that could cost more"
        limits = [limit_text, explain_too_low(experiment, earlier, remaining, done)]
    priced = [f"where the agent reports no cost, {price.table} prices it"] if price else []
    texts = [text for text in (*limits, *priced) if text]
    if by_rules:
        is_useless = resolved.is_typed("expect")
        texts = ["--expect has no effect: fixed rules decide what is spent"] if is_useless else []
    return (
        *describe_expected(experiment, earlier, rehearsal, pending, paid=not by_rules),
        *([Entry(label="", texts=tuple(texts))] if texts else []),
        describe_set_up(experiment, set_up, _list_pending_arms(experiment, rows)),
        *([describe_outlook(outlook)] if outlook else []),
    )


def _list_pending_arms(experiment: Experiment, rows: Sequence[PlanRow]) -> list[str]:
    """Return the mode of each swarm that has a trial left."""
    done = {row[:3] for row in rows if row[-1]}
    return [
        swarm.arm
        for swarm in iterate_groups(plan(experiment))
        if any((swarm.run, swarm.arm, trial.number) not in done for trial in swarm.trials)
    ]


def tell_outlook(
    experiment: Experiment, settings: Settings, emit: Emit, *, fixed_rules: bool
) -> None:
    """Say in short what a session can show, and where its limit of cost is too low for that."""
    earlier = find_earlier_session(experiment, settings, fixed_rules=fixed_rules)
    saving = settings.expect
    outlook = look_ahead(experiment, earlier, METRICS, saving=saving, fixed_rules=fixed_rules)
    if outlook:
        emit(Foresight(message=describe_in_short(outlook, METRICS)))
    limit = None if fixed_rules or settings.resume else experiment.share(settings.max_cost)
    if limit and (sentence := explain_too_low(experiment, earlier, limit, 0)):
        emit(WarningRaised(message=f"--max-cost {limit:g}: {sentence}"))


def _build_key(experiment: Experiment) -> tuple[object, ...]:
    replayed = experiment.replayed is not None
    return experiment.agent.name, experiment.model, replayed

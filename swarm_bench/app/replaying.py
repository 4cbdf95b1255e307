"""Conversion of a recording into an experiment: the recorded one, on any machine; and what cannot
be recorded or replayed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version

from swarm_bench.app.notices import tell_prices
from swarm_bench.app.setup.folders import create_warn, open_work_folder
from swarm_bench.app.setup.prepared import PreparedSession
from swarm_bench.app.setup.resolving import anchor_paths
from swarm_bench.benchmarks.swarm.run_plan import cut_to_started
from swarm_bench.config.annotations import flag
from swarm_bench.config.compare_options import SCOPES
from swarm_bench.config.layers import Resolved, Settings
from swarm_bench.core.errors import UsageError
from swarm_bench.core.events import Emit, WarningRaised
from swarm_bench.core.session.designs import Design
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.preregistration import InterimVerdicts
from swarm_bench.core.session.recording import FOLDER, CheckedRecording, Replays
from swarm_bench.engine.continuing import check_command
from swarm_bench.models.own_prices import read_prices
from swarm_bench.retrieval.tools import Tools
from swarm_bench.runtime.workspaces.workspace import Snapshot


def check_recordable(settings: Settings, experiment: Experiment) -> None:
    """Refuse to record a session that cannot be. Raises `UsageError`."""
    if settings.record and FOLDER in (mode.name for mode in experiment.modes):
        raise UsageError(
            f"--record keeps its files in {FOLDER}/, which is the folder of the mode {FOLDER!r}; "
            "rename the mode's file"
        )


@contextmanager
def open_replay(
    agent: Replays,
    resolved: Resolved,
    design: Design,
    emit: Emit | None,
) -> Iterator[PreparedSession]:
    """Prepare a replay, which needs neither the repository nor the programs of its modes."""
    recorded_session = agent.recorded
    old = resolved.session
    session = old.session if old else os.urandom(4).hex()
    experiment = _build_replay(recorded_session, resolved, design, session)
    if emit:
        for problem in recorded_session.problems:
            emit(WarningRaised(message=f"the recording: {problem}"))
        tell_prices(experiment, emit)
    name = session if emit else f"plan-{os.urandom(4).hex()}"
    with open_work_folder(resolved.settings.workspace_root, name, create_warn(emit)) as work:
        files = frozenset(recorded_session.recording.files)
        yield PreparedSession(
            experiment=experiment,
            agent=agent,
            tools=Tools(
                work=work,
                programs={},
                user_environment=resolved.environment,
                dotenv=resolved.dotenv,
            ),
            snapshot=Snapshot(path=work, repository=experiment.repository, files=files),
            recorded_session=recorded_session,
        )


def _build_replay(
    recorded_session: CheckedRecording, resolved: Resolved, design: Design, session: str
) -> Experiment:
    """Make the recorded experiment, or the part of it that was asked for.

    Raises `UsageError` for what the recording does not have.
    """
    recorded_experiment = _limit_to_recorded(recorded_session)
    _check(recorded_experiment, resolved, design)
    if resolved.session is not None:
        return _continue(recorded_experiment, resolved, resolved.session)
    settings = resolved.settings
    names = (
        settings.modes
        if resolved.is_typed("modes")
        else [mode.name for mode in recorded_experiment.modes]
    )
    runs = settings.runs if resolved.is_typed("runs") else recorded_experiment.runs
    recorded_orders = recorded_experiment.order[: runs * recorded_experiment.orders_per_run]
    return recorded_experiment.model_copy(
        update={
            "session": session,
            "replayed": recorded_experiment.session,
            "created_at": datetime.now(UTC),
            "modes": tuple(recorded_experiment.mode(name) for name in dict.fromkeys(names)),
            "prices": {**read_prices(), **(recorded_experiment.prices or {})},
            "runs": runs,
            "order": tuple(
                tuple(name for name in order if name in names) for order in recorded_orders
            ),
            "versions": {**recorded_experiment.versions, "swarm-bench": version("swarm-bench")},
            "settings": anchor_paths(resolved.dump_settings()),
        }
    )


def _limit_to_recorded(recorded_session: CheckedRecording) -> Experiment:
    """Return the recorded experiment; of one that ended before its tasks did, at its verdict or at
    `--max-cost`, nothing after that is planned. A recording has no verdicts."""
    recorded_experiment = recorded_session.recording.experiment
    started_part = cut_to_started(
        recorded_experiment, {trial.agent for trial in recorded_session.trials.values()}
    )
    if len(started_part.tasks) == len(recorded_experiment.tasks):
        return recorded_experiment
    blocks, tasks = len(started_part.agents_of_blocks), len(started_part.tasks)
    last_look = InterimVerdicts(blocks=blocks, tasks=tasks, verdicts={}, stands=False)
    return recorded_experiment.model_copy(update={"looks": (last_look,)})


def _check(recorded_experiment: Experiment, resolved: Resolved, design: Design) -> None:
    settings = resolved.settings
    recorded_design = recorded_experiment.design
    check_command(
        recorded_design,
        design,
        "The recording is of another command; replay it with: swarm-bench "
        f"{recorded_design.name} --agent {settings.agent}",
    )
    if settings.record:
        raise UsageError("A replay cannot be recorded; omit --record, and share its DIR")
    for name, scope in SCOPES.items():
        if scope.of_recording and resolved.is_typed(name):
            raise UsageError(
                f"{flag(name)} cannot be given with a replay, which follows the recorded session; "
                "omit it"
            )
    has = [mode.name for mode in recorded_experiment.modes]
    unknown = [name for name in settings.modes if name not in has]
    if resolved.is_typed("modes") and unknown:
        raise UsageError(
            f"--modes {' '.join(unknown)}: the recording has {', '.join(has)}; choose among them"
        )
    if resolved.is_typed("runs") and settings.runs > recorded_experiment.runs:
        raise UsageError(
            f"--runs {settings.runs}: the recording has {recorded_experiment.runs}; give no "
            "more than that"
        )


def _continue(recorded_experiment: Experiment, resolved: Resolved, old: Experiment) -> Experiment:
    if (old.replayed, old.tasks) != (recorded_experiment.session, recorded_experiment.tasks):
        raise UsageError(
            f"The session replays the recording of {old.replayed}, and this is one of "
            f"{recorded_experiment.session}; start a new session"
        )
    if resolved.is_typed("modes") or resolved.is_typed("runs"):
        raise UsageError("A replay that is continued cannot grow; start a new session")
    return old

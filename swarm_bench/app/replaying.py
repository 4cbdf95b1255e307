"""From a recording to an experiment: it is the recorded one, on any machine; and what cannot be
recorded or replayed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version

from swarm_bench.app.notices import tell_prices
from swarm_bench.app.setup.folders import warning, work_folder
from swarm_bench.app.setup.prepared import Prepared
from swarm_bench.app.setup.resolving import anchored
from swarm_bench.benchmarks.swarm.plan.swarms import as_far_as
from swarm_bench.config.annotations import flag
from swarm_bench.config.options import SCOPES
from swarm_bench.config.settings import Resolved, Settings
from swarm_bench.core.errors import UsageError
from swarm_bench.core.events import Emit, Trouble
from swarm_bench.core.session.designs import Design
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.looks import Look
from swarm_bench.core.session.recording import FOLDER, Recorded, Replays
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
def replay_prepared(
    agent: Replays,
    resolved: Resolved,
    design: Design,
    emit: Emit | None,
) -> Iterator[Prepared]:
    """Prepare a replay, which needs neither the repository nor the programs of its modes."""
    recorded = agent.recorded
    old = resolved.session
    session = old.session if old else os.urandom(4).hex()
    experiment = _replayed_experiment(recorded, resolved, design, session)
    if emit:
        for problem in recorded.problems:
            emit(Trouble(message=f"the recording: {problem}"))
        tell_prices(experiment, emit)
    name = session if emit else f"plan-{os.urandom(4).hex()}"
    with work_folder(resolved.settings.workspace_root, name, warning(emit)) as work:
        files = frozenset(recorded.recording.files)
        yield Prepared(
            experiment=experiment,
            agent=agent,
            tools=Tools(
                work=work,
                programs={},
                user_environment=resolved.environment,
                dotenv=resolved.dotenv,
            ),
            snapshot=Snapshot(path=work, repository=experiment.repository, files=files),
            recorded=recorded,
        )


def _replayed_experiment(
    recorded: Recorded, resolved: Resolved, design: Design, session: str
) -> Experiment:
    """Make the recorded experiment, or the part of it that was asked for.

    Raises `UsageError` for what the recording does not have.
    """
    then = _as_far_as_recorded(recorded)
    _check(then, resolved, design)
    if resolved.session is not None:
        return _continued(then, resolved, resolved.session)
    settings = resolved.settings
    names = settings.modes if resolved.is_typed("modes") else [mode.name for mode in then.modes]
    runs = settings.runs if resolved.is_typed("runs") else then.runs
    drawn = then.order[: runs * then.orders_per_run]
    return then.model_copy(
        update={
            "session": session,
            "replayed": then.session,
            "created_at": datetime.now(UTC),
            "modes": tuple(then.mode(name) for name in dict.fromkeys(names)),
            "prices": {**read_prices(), **(then.prices or {})},
            "runs": runs,
            "order": tuple(tuple(name for name in order if name in names) for order in drawn),
            "versions": {**then.versions, "swarm-bench": version("swarm-bench")},
            "settings": anchored(resolved.stored()),
        }
    )


def _as_far_as_recorded(recorded: Recorded) -> Experiment:
    """Return the recorded experiment; of one that ended before its tasks did, at its verdict or at
    `--max-cost`, nothing after that is planned. A recording has no verdicts."""
    then = recorded.recording.experiment
    begun = as_far_as(then, {trial.agent for trial in recorded.trials.values()})
    if len(begun.tasks) == len(then.tasks):
        return then
    blocks, tasks = len(begun.agents_of_blocks), len(begun.tasks)
    look = Look(blocks=blocks, tasks=tasks, verdicts={}, stands=False)
    return then.model_copy(update={"looks": (look,)})


def _check(then: Experiment, resolved: Resolved, design: Design) -> None:
    settings = resolved.settings
    if then.design != design:
        raise UsageError(
            "The recording is of another command; replay it with: swarm-bench "
            f"{then.design.name} --agent {settings.agent}"
        )
    if settings.record:
        raise UsageError("A replay cannot be recorded; omit --record, and share its DIR")
    for name, scope in SCOPES.items():
        if scope.of_recording and resolved.is_typed(name):
            raise UsageError(
                f"{flag(name)} cannot be given with a replay, which follows the recorded session; "
                "omit it"
            )
    has = [mode.name for mode in then.modes]
    other = [name for name in settings.modes if name not in has]
    if resolved.is_typed("modes") and other:
        raise UsageError(
            f"--modes {' '.join(other)}: the recording has {', '.join(has)}; choose among them"
        )
    if resolved.is_typed("runs") and settings.runs > then.runs:
        raise UsageError(
            f"--runs {settings.runs}: the recording has {then.runs}; give no more than that"
        )


def _continued(then: Experiment, resolved: Resolved, old: Experiment) -> Experiment:
    if (old.replayed, old.tasks) != (then.session, then.tasks):
        raise UsageError(
            f"The session replays the recording of {old.replayed}, and this is one of "
            f"{then.session}; start a new session"
        )
    if resolved.is_typed("modes") or resolved.is_typed("runs"):
        raise UsageError("A replay that is continued cannot grow; start a new session")
    return old

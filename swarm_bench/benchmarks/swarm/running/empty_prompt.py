"""What it costs to have a mode's tool at all: the one request of an agent that is given nothing to
do.

The empty prompt goes to every mode alike, once, right after the agents of its first swarm: whatever
it does to a service that they share, they have been measured. It has a clone at a path of its own,
which a service may go on using when the clone is gone.
"""

from dataclasses import replace
from pathlib import Path

import anyio

from swarm_bench.benchmarks.swarm.artefacts import Artefacts
from swarm_bench.benchmarks.swarm.plan.swarms import SwarmTrial
from swarm_bench.benchmarks.swarm.records.making import add_price, drop_zeros
from swarm_bench.benchmarks.swarm.running.delivery import Delivery, Execution
from swarm_bench.benchmarks.swarm.running.kit import Kit, SwarmContext
from swarm_bench.benchmarks.swarm.running.trial import FindLoss, run_trial
from swarm_bench.core.errors import HarnessError
from swarm_bench.core.events import Event
from swarm_bench.core.figures import total
from swarm_bench.core.outcome import Outcome
from swarm_bench.core.session.experiment import Limits, Task, stable_id
from swarm_bench.core.status import Cause
from swarm_bench.core.treatment.overhead import Overhead
from swarm_bench.runtime.monitor import TreeMonitor
from swarm_bench.runtime.ownership import temporary
from swarm_bench.runtime.workspaces.inventory import copy_paths
from swarm_bench.runtime.workspaces.workspace import clone

NOTHING_TO_DO = Task(id="overhead", title="nothing to do", prompt="Reply with the single word OK.")
REQUEST_SECONDS = 30.0
"""For one short request, beside the start of the slowest server; an agent that hangs must not hold
up the session for the time of a task."""


async def measure_empty_prompt(
    kit: Kit, line: Overhead, swarm_context: SwarmContext, find_loss: FindLoss
) -> Overhead:
    """Give an agent of the mode of the line nothing to do, and return the line with what its
    request took. What goes wrong is a sentence in it, and nothing else."""
    longest = compute_timeout(line, kit.experiment.limits)
    try:
        execution = await _execute(kit, line.mode, swarm_context, find_loss, longest)
    except HarnessError as error:
        return _add_problem(line, str(error))
    return _add_figures(line, execution, longest)


def compute_timeout(line: Overhead, limits: Limits) -> float:
    """Return how long the empty prompt of a mode may take."""
    slowest = max(line.server_seconds.values(), default=0.0)
    return min(limits.timeout, REQUEST_SECONDS + slowest)


async def _execute(
    kit: Kit, mode: str, swarm_context: SwarmContext, find_loss: FindLoss, longest: float
) -> Execution | None:
    # Numbers, so that the paths in the prompts of all modes are equally long.
    number = [candidate.name for candidate in kit.experiment.modes].index(mode) + 1
    target = kit.work / "overhead" / str(number) / kit.workspace.name
    delivered: list[Execution] = []

    async def keep(delivery: Delivery) -> None:
        if isinstance(delivery, Execution):
            priced = add_price(kit.experiment, delivery.outcome)
            delivered.append(replace(delivery, outcome=drop_zeros(priced)))

    with temporary(kit.work) as folder:
        async with (
            clone(kit.snapshot, target, keep=None) as workspace,
            kit.tools.homes.open_home("home-overhead") as home,
        ):
            # A server may not start without its index, and building it again takes its time.
            await anyio.to_thread.run_sync(
                copy_paths, swarm_context.site.workspace, workspace, swarm_context.prepared_files
            )
            site = replace(swarm_context.site, workspace=workspace, home=home)
            context = SwarmContext(site=site, monitor=TreeMonitor(), attempts={})
            await run_trial(
                _make_quiet_kit(kit, folder, longest), context, _make_trial(mode), find_loss, keep
            )
    return delivered[0] if delivered else None


def _make_quiet_kit(kit: Kit, folder: Path, longest: float) -> Kit:
    """Return the kit for an agent of which nothing is kept, and of which nobody hears."""
    limits = kit.experiment.limits.model_copy(update={"max_turns": 1, "timeout": longest})
    experiment = kit.experiment.model_copy(
        # The form of an answer is part of the task, and the same in every mode.
        update={"limits": limits, "answer_format": ""}
    )
    artefacts = Artefacts(folder, runs=1)
    return replace(kit, experiment=experiment, artefacts=artefacts, emit=_ignore, record=False)


def _ignore(_event: Event) -> None:
    pass


def _make_trial(mode: str) -> SwarmTrial:
    id = stable_id(NOTHING_TO_DO.id, mode)
    return SwarmTrial(id=id, run=1, arm=mode, case=NOTHING_TO_DO, number=1)


def _add_figures(line: Overhead, execution: Execution | None, longest: float) -> Overhead:
    if execution is None:
        return _add_problem(line, "it was not asked")
    outcome = execution.outcome
    tokens = _count_first_request(outcome)
    if tokens is None:
        return _add_problem(line, _explain_failure(execution, longest))
    figures_of_prompt = {"prompt_tokens": tokens, "prompt_cost": outcome.cost, "problem": None}
    return line.model_copy(update=figures_of_prompt)


def _add_problem(line: Overhead, reason: str) -> Overhead:
    return line.model_copy(update={"problem": f"the empty prompt gave no figures: {reason}"})


def _explain_failure(execution: Execution, longest: float) -> str:
    cause = execution.outcome.cause
    if cause is Cause.TIMEOUT:
        return f"the agent had not ended after {longest:.0f} s"
    if cause is Cause.FINISHED:
        return "the agent does not report the tokens of one request"
    return execution.outcome.detail or cause


def _count_first_request(outcome: Outcome) -> int | None:
    """Return all its input tokens; `None` when one of the figures is missing."""
    requests = outcome.turn_usage or ((outcome.usage,) if outcome.requests == 1 else ())
    if not requests:
        return None
    return total([requests[0].input, requests[0].cache_read, requests[0].cache_create])

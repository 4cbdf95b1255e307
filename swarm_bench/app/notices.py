"""What a reader of the figures should know before there are any."""

import os
from dataclasses import replace

from swarm_bench.analysis.wording import join, quantify
from swarm_bench.core.events import Emit, Preparing, WarningRaised
from swarm_bench.core.session.experiment import Experiment, Repository
from swarm_bench.models.own_prices import read_prices
from swarm_bench.runtime.processes.launching import room_at_once
from swarm_bench.runtime.workspaces.omissions import sentences_on_answers

LOCAL_AGENT = "scout"
"""The agent that works on this machine, and waits for no provider."""


def emit_notices(experiment: Experiment, emit: Emit) -> None:
    """Say what the copies leave out, and when agents of ours wait for each other."""
    tell_omissions(experiment.repository, emit)
    for sentence in explain_waiting(experiment):
        emit(WarningRaised(message=sentence))


def tell_omissions(repository: Repository, emit: Emit) -> None:
    """Say what the copies leave out: answer keys should not be there, and are no trouble."""
    for sentence in sentences_on_answers(repository):
        emit(Preparing(step=sentence))
    for sentence in repository.left_out:
        emit(WarningRaised(message=sentence))


def tell_stand(previous: Experiment, now: Experiment, emit: Emit) -> None:
    """Say of a session that is continued that its verdict stands, or does not any more."""
    if not previous.stands_after and not now.stands_after:
        return
    tasks = (now if now.stands_after else previous).looks[-1].tasks
    stood = f"the verdict stood after {tasks} of {now.tasks_named} tasks (--until-clear)"
    if now.stands_after:
        consequence = "so no further block is run; start a new session for more"
    else:
        consequence = (
            "and does not stand by the scores, modes and trials of now, so the session continues"
        )
    emit(WarningRaised(message=f"{stood}, {consequence}"))


def tell_prices(experiment: Experiment, emit: Emit) -> None:
    """Say which models have another price now than in the session or recording, which keeps its
    own."""
    session_prices, now = experiment.prices or {}, read_prices()
    models = [
        model
        for model, price in session_prices.items()
        if model in now and replace(now[model], table=price.table) != price
    ]
    if models:
        prices = "price of {} is another" if len(models) == 1 else "prices of {} are others"
        changed = prices.format(join(models))
        message = f"the {changed} now than when the session began, which keeps its own"
        emit(WarningRaised(message=message))


def explain_waiting(experiment: Experiment) -> list[str]:
    """Say why agents wait: for a place below the limit of open files, and for a processor that
    agents of ours share."""
    processors, agents = os.cpu_count() or 1, experiment.at_once
    sentences = []
    if agents == room_at_once() < experiment.agents_per_swarm:
        sentences.append(
            f"of {quantify(experiment.agents_per_swarm, 'agent')} {agents} run at once, for more "
            "have no room below the hard limit of open files (ulimit -Hn)"
        )
    if experiment.agent.name == LOCAL_AGENT and agents > processors:
        sentences.append(
            f"{agents} agents share {quantify(processors, 'processor')}, so times include waiting; "
            f"--concurrency {processors} avoids that"
        )
    return sentences

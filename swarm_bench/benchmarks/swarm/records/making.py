"""From what an agent left to its line in `metrics.jsonl`."""

import math
from collections.abc import Collection
from dataclasses import replace

from swarm_bench.benchmarks.swarm.plan.swarms import SwarmTrial
from swarm_bench.benchmarks.swarm.records.caps import MOST_NAMES, within_caps
from swarm_bench.benchmarks.swarm.records.parts import (
    About,
    Beside,
    Measured,
    Parts,
    Priced,
    Rehearsed,
    Spent,
    Tools,
)
from swarm_bench.benchmarks.swarm.records.pricing import with_price
from swarm_bench.core.errors import Refused
from swarm_bench.core.outcome import AgentExit, Outcome, Usage
from swarm_bench.core.ports import Agent
from swarm_bench.core.session.experiment import REHEARSAL, Experiment
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.status import CONSEQUENCES, Cause
from swarm_bench.core.treatment.evidence import Treatment
from swarm_bench.core.treatment.tool_answers import by_tool
from swarm_bench.engine.caps import shortened
from swarm_bench.models.rehearsal.launch import Traffic
from swarm_bench.models.tokens import COUNTER
from swarm_bench.retrieval.witnesses.treatment import is_of_server, mcp_calls, treatment
from swarm_bench.runtime.redaction.cleaning import cleaned
from swarm_bench.runtime.untrusted import check

STAYED = "It had answered and did not end, so it was ended"
"""The detail of an answer of such a program."""


def outcome_of(agent: Agent, exit: AgentExit) -> Outcome:
    """Have the adapter read what an agent left, without the secrets of `exit`. An agent can replace
    its output by something else: that is not opened. What had answered and was ended then counts
    as if it had ended by itself. Raises whatever the adapter raises, and `ValueError` for figures
    that nobody can have."""
    stayed = exit.stopped == "answered"
    if stayed:
        exit = replace(exit, returncode=0, stopped=None)
    try:
        check(exit.stdout)
        check(exit.stderr)
    except OSError as error:
        detail = f"Its output is not what it printed: {error}"
        return Outcome(cause=Cause.UNREADABLE_OUTPUT, detail=detail)
    try:
        outcome = cleaned(agent.outcome(exit), exit.secrets)
    except Refused as error:
        return Outcome(cause=Cause.UNREADABLE_OUTPUT, detail=str(error))
    for part in (outcome, outcome.usage, outcome.all_in):
        for name, figure in vars(part).items():
            if isinstance(figure, int | float) and not 0 <= figure < math.inf:
                raise ValueError(f"the adapter gave {figure} as {name}")
    if stayed and outcome.cause is Cause.FINISHED:
        return replace(outcome, detail=outcome.detail or STAYED)
    return outcome


def make_record(
    experiment: Experiment, trial: SwarmTrial, outcome: Outcome, measured: Measured, beside: Beside
) -> TrialRecord:
    """Make the record of a trial. What the agent did not report stays `None`."""
    outcome = with_price(experiment, within_caps(outcome))
    return Parts(
        about=_about(experiment, trial, outcome, beside),
        measured=measured,
        spent=spent(outcome, experiment.limits.max_turns),
        priced=_priced(experiment, outcome),
        tools=_tools(experiment, trial, outcome, beside),
        beside=beside,
    ).record()


def spent(outcome: Outcome, max_turns: int) -> Spent:
    """Return what the agent reported. An answer takes tokens: zeros throughout are no figures, and
    neither is a cost of 0 beside them."""
    counted = any(vars(outcome.usage).values())
    usage = outcome.usage if counted else Usage()
    milliseconds = outcome.duration_ms
    requests = outcome.requests
    if requests is None and outcome.turns_are_requests:
        requests = outcome.turns
    budgeted = outcome.turns if requests is None else requests
    return Spent(
        duration_ms=milliseconds,
        duration_s=None if milliseconds is None else round(milliseconds / 1000, 3),
        num_turns=outcome.turns,
        input_tokens=usage.input,
        cache_read=usage.cache_read,
        cache_create=usage.cache_create,
        output_tokens=usage.output,
        total_tokens=usage.reported,
        effective_tokens=usage.effective,
        cost=outcome.cost if counted else outcome.cost or None,
        compacted=None if budgeted is None else int(budgeted >= max_turns),
        requests=requests,
        api_seconds=None if outcome.api_ms is None else outcome.api_ms / 1000,
        cost_unreliable=outcome.cost_unreliable,
        all_in_tokens=outcome.all_in.effective,
        turn_usage=_turn_usage(outcome),
        retries=outcome.retries,
        compactions=outcome.compactions,
        subagents=outcome.subagents,
        permission_denials=outcome.permission_denials,
    )


def _priced(experiment: Experiment, outcome: Outcome) -> Priced:
    """Say who priced and counted: in a rehearsal no model, no bill and no provider did."""
    estimated, table, counter = outcome.cost_estimated, outcome.price_table, outcome.token_counter
    if experiment.rehearsal:
        counter = COUNTER
        if outcome.cost is not None:
            name = outcome.model or "the model it named"
            estimated, table = True, f"that {experiment.agent.name} has for {name}"
    return Priced(
        rehearsal=experiment.rehearsal or None,
        cost_estimated=estimated,
        price_table=table,
        token_counter=counter,
    )


def rehearsed(traffic: Traffic | None, servers: Collection[str]) -> Rehearsed:
    """Return what the rehearsal server saw of an agent in a mode with these MCP servers."""
    if traffic is None:
        return Rehearsed()
    return Rehearsed(
        rehearsal_requests=traffic.requests,
        rehearsal_faults=traffic.faults,
        rehearsal_request_tokens=traffic.request_tokens,
        rehearsal_tool_tokens=sum(traffic.tools.values()),
        rehearsal_mcp_tokens=sum(
            tokens for tool, tokens in traffic.tools.items() if is_of_server(tool, servers)
        ),
        rehearsal_tools=[shortened(name) for name in sorted(traffic.tools)[:MOST_NAMES]],
    )


def _turn_usage(outcome: Outcome) -> list[dict[str, int | None]] | None:
    if outcome.turn_usage is None:
        return None
    return [
        {
            "input": usage.input,
            "cache_read": usage.cache_read,
            "cache_create": usage.cache_create,
            "output": usage.output,
        }
        for usage in outcome.turn_usage
    ]


def _about(experiment: Experiment, trial: SwarmTrial, outcome: Outcome, beside: Beside) -> About:
    backend = experiment.retrieval.get(trial.arm)
    return About(
        session=experiment.session,
        trial=trial.id,
        mode=trial.arm,
        run=trial.run,
        agent=trial.number,
        task=trial.case.prompt,
        task_id=trial.case.id,
        status=CONSEQUENCES[outcome.cause].status,
        cause=outcome.cause,
        detail=outcome.detail,
        program=experiment.agent.name,
        program_version=outcome.program_version or beside.program_version,
        model=REHEARSAL if experiment.rehearsal else outcome.model or experiment.model,
        fixed_rules=outcome.fixed_rules,
        backend=backend.label if backend else None,
        replayed=beside.replayed,
    )


def _tools(experiment: Experiment, trial: SwarmTrial, outcome: Outcome, beside: Beside) -> Tools:
    purposes = experiment.tool_purposes.get(trial.arm, {})
    label, evidence = treatment(experiment.mode(trial.arm).servers, outcome, purposes)
    reached = {"outside": beside.outside, "answers": beside.answers}
    return Tools(
        tool_calls=outcome.tool_calls,
        tool_failures=outcome.tool_failures,
        tool_unanswered=outcome.tool_unanswered,
        tool_seconds=outcome.tool_seconds,
        tool_result_tokens=outcome.tool_result_tokens,
        tool_answers=None if outcome.tool_answers is None else by_tool(outcome.tool_answers),
        unusable_tools=outcome.unusable_tools,
        names_cut=outcome.names_cut,
        mcp_calls=mcp_calls(outcome),
        mcp_servers=outcome.servers,
        retrieval=Treatment.CONTAMINATED if beside.answers else label,
        evidence=evidence.model_copy(update=reached),
    )

"""From what an agent left to its line in `metrics.jsonl`."""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from swarm_bench.benchmarks.swarm.running.delivery import Execution
from swarm_bench.core.errors import Refused
from swarm_bench.core.outcome import AgentExit, Outcome, Reported, Usage
from swarm_bench.core.ports import Agent
from swarm_bench.core.session.experiment import REHEARSAL, Experiment
from swarm_bench.core.session.prices import price_of
from swarm_bench.core.session.records import Rehearsed, Spent, TrialRecord
from swarm_bench.core.status import CONSEQUENCES, Cause
from swarm_bench.core.treatment.evidence import Treatment
from swarm_bench.core.treatment.tool_answers import by_tool
from swarm_bench.engine.caps import LONGEST_DETAIL, OTHERS, shortened
from swarm_bench.engine.scoring import Scored
from swarm_bench.models.rehearsal.launch import Traffic
from swarm_bench.models.tokens import COUNTER
from swarm_bench.retrieval.witnesses.treatment import is_of_server, mcp_calls, treatment
from swarm_bench.runtime.redaction.cleaning import cleaned
from swarm_bench.runtime.untrusted import check

Figure = TypeVar("Figure", int, float)

MOST_NAMES = 500
"""Names of one kind that are kept of a trial; no honest agent has as many tools."""
MOST_REQUESTS = 10_000
"""Requests whose usage is kept one by one; of more it is missing."""
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


def make_record(experiment: Experiment, execution: Execution, scored: Scored) -> TrialRecord:
    """Make the record of a trial that has ended. What its agent did not report stays `None`."""
    trial = execution.trial
    outcome = settle_outcome(experiment, execution.outcome)
    backend = experiment.retrieval.get(trial.arm)
    purposes = experiment.tool_purposes.get(trial.arm, {})
    label, evidence = treatment(experiment.mode(trial.arm).servers, outcome, purposes)
    reached = {"outside": execution.outside, "answers": execution.answers}
    return TrialRecord(
        session=experiment.session,
        trial=trial.id,
        mode=trial.arm,
        run=trial.run,
        agent=trial.number,
        task=trial.case.prompt,
        task_id=trial.case.id,
        status=CONSEQUENCES[outcome.cause].status,
        cause=outcome.cause,
        program=experiment.agent.name,
        backend=backend.label if backend else None,
        rehearsal=experiment.rehearsal or None,
        replayed=execution.replayed,
        tool_answers=None if outcome.tool_answers is None else by_tool(outcome.tool_answers),
        mcp_calls=mcp_calls(outcome),
        mcp_servers=outcome.servers,
        retrieval=Treatment.CONTAMINATED if execution.answers else label,
        evidence=evidence.model_copy(update=reached),
        unscored_characters=scored.unscored_characters,
        scores=scored.scores,
        missing_scores=scored.missing,
        score_failures=scored.failures,
        **vars(_reported(experiment, execution, outcome)),
        **vars(sum_up(outcome, experiment.limits.max_turns)),
        **vars(execution.measured),
        **vars(execution.rehearsed),
        **vars(scored.own),
    )


def settle_outcome(experiment: Experiment, outcome: Outcome) -> Outcome:
    """Return the outcome as its record has it: capped, priced, and without figures that are
    none."""
    return drop_zeros(with_price(experiment, within_caps(outcome)))


def drop_zeros(outcome: Outcome) -> Outcome:
    """Return the outcome with the requests that its turns are. An answer takes tokens: zeros
    throughout are no figures, and neither is a cost of 0 beside them."""
    requests = outcome.requests
    if requests is None and outcome.turns_are_requests:
        requests = outcome.turns
    if any(vars(outcome.usage).values()):
        return replace(outcome, requests=requests)
    return replace(outcome, requests=requests, usage=Usage(), cost=outcome.cost or None)


def sum_up(outcome: Outcome, max_turns: int) -> Spent:
    """Compute what the agent spent, of a settled outcome."""
    usage, requests, milliseconds = outcome.usage, outcome.turn_usage, outcome.duration_ms
    budgeted = outcome.turns if outcome.requests is None else outcome.requests
    return Spent(
        duration_s=None if milliseconds is None else round(milliseconds / 1000, 3),
        num_turns=outcome.turns,
        input_tokens=usage.input,
        cache_read=usage.cache_read,
        cache_create=usage.cache_create,
        output_tokens=usage.output,
        total_tokens=usage.reported,
        effective_tokens=usage.effective,
        compacted=None if budgeted is None else int(budgeted >= max_turns),
        api_seconds=None if outcome.api_ms is None else outcome.api_ms / 1000,
        all_in_tokens=outcome.all_in.effective,
        turn_usage=None if requests is None else [vars(request) for request in requests],
    )


def _reported(experiment: Experiment, execution: Execution, outcome: Outcome) -> Reported:
    """Take over what has the same name in the record. In a rehearsal no model answered, no bill is
    sent and no provider counted."""
    figures = outcome.reported
    version = figures.program_version or execution.program_version
    if not experiment.rehearsal:
        return replace(figures, program_version=version, model=figures.model or experiment.model)
    if figures.cost is not None:
        name = figures.model or "the model it named"
        table = f"that {experiment.agent.name} has for {name}"
        figures = replace(figures, cost_estimated=True, price_table=table)
    return replace(figures, program_version=version, model=REHEARSAL, token_counter=COUNTER)


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


def with_price(experiment: Experiment, outcome: Outcome) -> Outcome:
    """Price the tokens of an agent that gives no cost, gives our own estimate, or had no price of
    its model. What no table has stays as it is; in a rehearsal no model has a price."""
    reported = outcome.cost is not None and not outcome.cost_unreliable
    if experiment.rehearsal or (reported and not outcome.cost_estimated):
        return outcome
    price = price_of(outcome.model or experiment.model, experiment.prices or {})
    usage = _billed(outcome)
    stated = usage.can_be_of_text if outcome.text else any(vars(usage).values())
    cost = price.of(usage) if price and stated else None
    if price is None or cost is None:
        return outcome
    return replace(
        outcome, cost=cost, cost_estimated=True, cost_unreliable=None, price_table=price.table
    )


def _billed(outcome: Outcome) -> Usage:
    """Return the tokens with those of sub-agents and compactions, where they are known."""
    return outcome.usage if outcome.all_in.effective is None else outcome.all_in


def within_caps(outcome: Outcome) -> Outcome:
    """Cap the outcome so that it can be stored; `names_cut` says how many names were shortened or
    omitted."""
    tools, offered, servers = _Names(), _Names(), _Names()
    usage = outcome.turn_usage
    by_tool: dict[str, Any] = {
        name: tools.summed(figure)
        for name, figure in vars(outcome.reported).items()
        if isinstance(figure, Mapping)
    }
    return replace(
        outcome,
        **by_tool,
        tool_answers=outcome.tool_answers
        and tuple(replace(answer, tool=tools.kept(answer.tool)) for answer in outcome.tool_answers),
        tools_offered=offered.listed(outcome.tools_offered),
        unusable_tools=offered.listed(outcome.unusable_tools),
        servers=outcome.servers and servers.first(outcome.servers),
        turn_usage=usage if usage is None or len(usage) <= MOST_REQUESTS else None,
        detail=outcome.detail and shortened(outcome.detail, LONGEST_DETAIL),
        model=outcome.model and shortened(outcome.model),
        program_version=outcome.program_version and shortened(outcome.program_version),
        price_table=outcome.price_table and shortened(outcome.price_table),
        token_counter=outcome.token_counter and shortened(outcome.token_counter),
        names_cut=sum(len(names.cut) for names in (tools, offered, servers)),
    )


class _Names:
    """The names of one kind, the first ones as they are."""

    def __init__(self) -> None:
        self.cut: set[str] = set()
        self._kept: dict[str, str] = {}

    def kept(self, name: str) -> str:
        """Return the name under which its figures are kept."""
        if name not in self._kept and len(self._kept) < MOST_NAMES:
            self._kept[name] = shortened(name)
        kept = self._kept.get(name, OTHERS)
        if kept != name:
            self.cut.add(name)
        return kept

    def summed(self, figures: Mapping[str, Figure] | None) -> dict[str, Figure] | None:
        """Add up the figures of names that are kept as the same."""
        if figures is None:
            return None
        sums: dict[str, Figure] = {}
        for name, figure in figures.items():
            kept = self.kept(name)
            sums[kept] = sums[kept] + figure if kept in sums else figure
        return sums

    def listed(self, names: Iterable[str] | None) -> tuple[str, ...] | None:
        """Return the names that are kept, each once."""
        if names is None:
            return None
        kept = dict.fromkeys(map(self.kept, names))
        kept.pop(OTHERS, None)
        return tuple(kept)

    def first(self, states: Mapping[str, str]) -> dict[str, str]:
        """Shorten the state of each name; names that are not kept have none."""
        kept = {self.kept(name): shortened(state) for name, state in states.items()}
        kept.pop(OTHERS, None)
        return kept

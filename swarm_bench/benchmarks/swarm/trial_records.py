"""Conversion of what an agent left into its line in `metrics.jsonl`."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from swarm_bench.benchmarks.swarm.running.trial import Execution
from swarm_bench.core.outcome import Outcome, Reported, Usage
from swarm_bench.core.session.experiment import REHEARSAL, Experiment
from swarm_bench.core.session.prices import find_price
from swarm_bench.core.session.records import Spending, TrialRecord
from swarm_bench.core.status import CONSEQUENCES
from swarm_bench.core.treatment.evidence import Treatment
from swarm_bench.core.treatment.tool_answers import by_tool
from swarm_bench.engine.caps import LONGEST_DETAIL, MOST_NAMES, OTHER_NAMES, shorten
from swarm_bench.engine.scoring import ScoringResult
from swarm_bench.retrieval.witnesses.treatment import count_mcp_calls, label_trial
from swarm_bench.text.tokens import COUNTER

Figure = TypeVar("Figure", int, float)

MOST_REQUESTS = 10_000
"""Requests whose usage is kept one by one; of more it is missing."""


def make_record(experiment: Experiment, execution: Execution, scored: ScoringResult) -> TrialRecord:
    """Make the record of a trial that has ended. What its agent did not report stays `None`."""
    trial = execution.trial
    outcome = settle_outcome(experiment, execution.outcome)
    backend = experiment.retrieval.get(trial.arm)
    purposes = experiment.tool_purposes.get(trial.arm, {})
    label, evidence = label_trial(experiment.mode(trial.arm).servers, outcome, purposes)
    evidence_fields = {"outside": execution.outside, "answers": execution.answers}
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
        mcp_calls=count_mcp_calls(outcome),
        mcp_servers=outcome.servers,
        retrieval=Treatment.CONTAMINATED if execution.answers else label,
        evidence=evidence.model_copy(update=evidence_fields),
        unscored_characters=scored.unscored_characters,
        scores=scored.scores,
        missing_scores=scored.missing,
        score_failures=scored.failures,
        **vars(_make_reported(experiment, execution, outcome)),
        **vars(sum_up(outcome, experiment.limits.max_turns)),
        **vars(execution.measured),
        **vars(execution.rehearsed),
        **vars(scored.own_scores),
    )


def settle_outcome(experiment: Experiment, outcome: Outcome) -> Outcome:
    """Return the outcome as its record has it: capped, priced, and without figures that are
    none."""
    return drop_zeros(add_price(experiment, cap_outcome(outcome)))


def drop_zeros(outcome: Outcome) -> Outcome:
    """Return the outcome with the requests that its turns are. An answer takes tokens: zeros
    throughout are no figures, and neither is a cost of 0 beside them."""
    requests = outcome.requests
    if requests is None and outcome.turns_are_requests:
        requests = outcome.turns
    if any(vars(outcome.usage).values()):
        return replace(outcome, requests=requests)
    return replace(outcome, requests=requests, usage=Usage(), cost=outcome.cost or None)


def sum_up(outcome: Outcome, max_turns: int) -> Spending:
    """Compute what the agent spent, of a settled outcome."""
    usage, requests, milliseconds = outcome.usage, outcome.turn_usage, outcome.duration_ms
    budgeted = outcome.turns if outcome.requests is None else outcome.requests
    return Spending(
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


def _make_reported(experiment: Experiment, execution: Execution, outcome: Outcome) -> Reported:
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


def add_price(experiment: Experiment, outcome: Outcome) -> Outcome:
    """Price the tokens of an agent that gives no cost, gives our own estimate, or had no price of
    its model. What no table has stays as it is; in a rehearsal no model has a price."""
    reported = outcome.cost is not None and not outcome.cost_unreliable
    if experiment.rehearsal or (reported and not outcome.cost_estimated):
        return outcome
    price = find_price(outcome.model or experiment.model, experiment.prices or {})
    usage = _select_billed(outcome)
    stated = usage.can_be_of_text if outcome.text else any(vars(usage).values())
    cost = price.compute_cost(usage) if price and stated else None
    if price is None or cost is None:
        return outcome
    return replace(
        outcome, cost=cost, cost_estimated=True, cost_unreliable=None, price_table=price.table
    )


def _select_billed(outcome: Outcome) -> Usage:
    """Return the tokens with those of sub-agents and compactions, where they are known."""
    return outcome.usage if outcome.all_in.effective is None else outcome.all_in


def cap_outcome(outcome: Outcome) -> Outcome:
    """Cap the outcome so that it can be stored; `names_cut` says how many names were shortened or
    omitted."""
    tools, offered_tools, servers = _Names(), _Names(), _Names()
    usage = outcome.turn_usage
    by_tool: dict[str, Any] = {
        name: tools.sum_figures(figure)
        for name, figure in vars(outcome.reported).items()
        if isinstance(figure, Mapping)
    }
    return replace(
        outcome,
        **by_tool,
        tool_answers=outcome.tool_answers
        and tuple(
            replace(answer, tool=tools.map_name(answer.tool)) for answer in outcome.tool_answers
        ),
        tools_offered=offered_tools.list_names(outcome.tools_offered),
        unusable_tools=offered_tools.list_names(outcome.unusable_tools),
        servers=outcome.servers and servers.shorten_states(outcome.servers),
        turn_usage=usage if usage is None or len(usage) <= MOST_REQUESTS else None,
        detail=outcome.detail and shorten(outcome.detail, LONGEST_DETAIL),
        model=outcome.model and shorten(outcome.model),
        program_version=outcome.program_version and shorten(outcome.program_version),
        price_table=outcome.price_table and shorten(outcome.price_table),
        token_counter=outcome.token_counter and shorten(outcome.token_counter),
        names_cut=sum(len(names.cut) for names in (tools, offered_tools, servers)),
    )


class _Names:
    """The names of one kind, the first ones as they are."""

    def __init__(self) -> None:
        self.cut: set[str] = set()
        self._stored_names: dict[str, str] = {}

    def map_name(self, name: str) -> str:
        """Return the name under which its figures are kept."""
        if name not in self._stored_names and len(self._stored_names) < MOST_NAMES:
            self._stored_names[name] = shorten(name)
        stored_name = self._stored_names.get(name, OTHER_NAMES)
        if stored_name != name:
            self.cut.add(name)
        return stored_name

    def sum_figures(self, figures: Mapping[str, Figure] | None) -> dict[str, Figure] | None:
        """Add up the figures of names that are kept as the same."""
        if figures is None:
            return None
        sums: dict[str, Figure] = {}
        for name, figure in figures.items():
            stored_name = self.map_name(name)
            sums[stored_name] = sums[stored_name] + figure if stored_name in sums else figure
        return sums

    def list_names(self, names: Iterable[str] | None) -> tuple[str, ...] | None:
        """Return the names that are kept, each once."""
        if names is None:
            return None
        stored_names = dict.fromkeys(map(self.map_name, names))
        stored_names.pop(OTHER_NAMES, None)
        return tuple(stored_names)

    def shorten_states(self, states: Mapping[str, str]) -> dict[str, str]:
        """Shorten the state of each name; names that are not kept have none."""
        stored_states = {self.map_name(name): shorten(state) for name, state in states.items()}
        stored_states.pop(OTHER_NAMES, None)
        return stored_states

"""What was asked, the requests with their calls, and the answer, as formats of trajectories have
them one after the other."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from swarm_bench.core.outcome import Usage
from swarm_bench.core.report.exported import ExportedTrial
from swarm_bench.core.treatment.conversation import Conversation, ShownCall


@dataclass(frozen=True, kw_only=True)
class Step:
    """A message, with the calls that it made."""

    role: Literal["system", "user", "agent"]
    text: str = ""
    """Empty where nothing was said, or where the transcript does not show it."""
    calls: tuple[ShownCall, ...] = ()
    usage: Usage | None = None
    """Tokens of the request; `None` for what is no request of the main conversation."""


def list_steps(trial: ExportedTrial) -> list[Step]:
    """List the steps of a trial; none where nothing is known of it."""
    steps = list(_list_requests(trial.conversation, trial.turns))
    if trial.answer is not None:
        _add_answer(steps, trial.answer)
    return [*(Step(role=message.role, text=message.text) for message in trial.prompt), *steps]


def _add_answer(steps: list[Step], answer: str) -> None:
    """Put the answer into the last request, which may have its text already, or behind it."""
    last = steps[-1] if steps else None
    if last is None or last.calls or last.text not in ("", answer):
        steps.append(Step(role="agent", text=answer))
    else:
        steps[-1] = replace(last, text=answer)


def _list_requests(conversation: Conversation | None, turns: Sequence[Usage]) -> Iterator[Step]:
    """Yield a step for each request of the main conversation, and one for calls that belong to
    none, such as those of sub-agents, behind the request that is before them."""
    calls = conversation.calls if conversation else ()
    texts = conversation.texts if conversation else {}
    by_turn, strays = _group_calls(calls)
    number = max([len(turns), *by_turn, *texts])
    for turn in range(number + 1):
        if turn > 0:
            yield Step(
                role="agent",
                text=texts.get(turn, ""),
                calls=tuple(by_turn.get(turn, ())),
                usage=turns[turn - 1] if turn <= len(turns) else Usage(),
            )
        if turn in strays:
            yield Step(role="agent", calls=tuple(strays[turn]))


Calls = Mapping[int, list[ShownCall]]


def _group_calls(calls: Sequence[ShownCall]) -> tuple[Calls, Calls]:
    """Group calls by their request, and those of none by the last request before them."""
    by_turn = defaultdict[int, list[ShownCall]](list)
    strays = defaultdict[int, list[ShownCall]](list)
    latest = 0
    for call in calls:
        if call.turn is None:
            strays[latest].append(call)
        else:
            latest = call.turn
            by_turn[call.turn].append(call)
    return by_turn, strays


def read_arguments(call: ShownCall) -> Mapping[str, Any]:
    """Return the arguments of a call as the object that formats want."""
    if isinstance(call.arguments, Mapping):
        return call.arguments
    return {} if call.arguments is None else {"value": call.arguments}

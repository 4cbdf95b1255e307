"""Lets `rules` think for a foreign agent program: with its tools, in its words."""

import json
import logging
from collections.abc import Mapping, Sequence

from swarm_bench.core.ports import Message, ToolCall, ToolResult, ToolSpec
from swarm_bench.programs.rehearsal.apis.api import AgentRequest
from swarm_bench.programs.rehearsal.thinking import history, mcp_search, prompts, retrieval_tools
from swarm_bench.programs.rehearsal.thinking.history import Memory, ProgramStep
from swarm_bench.programs.rehearsal.thinking.retrieval_tools import Route
from swarm_bench.programs.rehearsal.thinking.schema_answer import build_smallest
from swarm_bench.programs.rehearsal.thinking.toolbox import ProgramCall, Toolbox
from swarm_bench.programs.rules.answer import find_dictated
from swarm_bench.programs.rules.model import OWN_TOOLS, Rules
from swarm_bench.text.terms import task_of, terms_of

SHORT = "Rehearsal"
"""Answer to a request that is not about the task: for a title, a topic, a memory."""
_TASK_LETTERS = 100_000
"""Characters of a task that the rules look at: they go through its words one by one."""

_Wish = tuple[ProgramCall, ToolCall]
"""A call in the program's terms, and in scout's."""

_log = logging.getLogger(__name__)


def think(request: AgentRequest, memory: Memory, instructions: Sequence[str] = ()) -> Message:
    """Write the next message of the assistant, in the program's own terms. Calls of this turn are
    added to the memory. `instructions` are those of the modes: they stand before a task."""
    if request.schema is not None and not request.tools:
        return _say(json.dumps(build_smallest(request.schema)))
    prompt_texts = list(prompts.prompt_texts(request))
    prompt = prompts.task_in(request.messages)
    # What a mode says of its server's tools is no part of the task: `rules` has it so for canopy's.
    task = task_of(
        prompt[:_TASK_LETTERS],
        [
            *mcp_search.rename_tools(request.tools),
            *mcp_search.find_mentioned_tools(prompt_texts),
        ],
        instructions,
    )
    workspace = prompts.workspace_in(prompt_texts)
    steps = history.list_calls(request.messages, memory.calls, workspace)
    aside = prompts.aside_in(request.messages)
    if aside and prompts.wants_summary(aside):
        return _say(prompts.summary(_write_findings(request, task, steps), aside))
    if not request.tools and (last_word := prompts.last_word_in(prompt)) is not None:
        return _say(prompts.summary(last_word, prompt))
    if (findings := prompts.summary_in(request.messages)) is not None:
        return _answer(request, findings)
    if steps and (not request.tools or request.messages[-1].role == "assistant"):
        return _answer(request, _write_findings(request, task, steps))
    if not request.tools or not task or (aside and prompts.has_answered(request.messages)):
        return _say(SHORT)
    if _is_enough(request, memory, task, steps):
        return _answer(request, _write_findings(request, task, steps))
    wishes = (
        find_dictated(task)
        or _reveal_tools(request, steps)
        or _choose_next(request, task, steps, workspace)
    )
    if isinstance(wishes, str):
        return _answer(request, wishes)
    memory.turns[task] += 1
    return _ask(wishes, memory.calls)


def _is_enough(
    request: AgentRequest, memory: Memory, task: str, steps: Sequence[ProgramStep]
) -> bool:
    """Tell whether asking for more calls would never end: the rules decide by what came back, and a
    program may forget that, or show it in a form in which it cannot be recognised."""
    if memory.turns[task] and not steps and any(message.results for message in request.messages):
        if not memory.is_lost:
            _log.warning("results came back under ids that were never given out: no more is asked")
        memory.is_lost = True
        return True
    return (
        history.count_turns(request.messages) >= history.MAX_TURNS
        or memory.turns[task] >= history.MAX_TASK_TURNS
    )


def _choose_next(
    request: AgentRequest, task: str, steps: Sequence[ProgramStep], workspace: str | None
) -> list[_Wish] | str:
    """Choose what the rules wish for, or once more what a tool could not do, by other means; a text
    when it is time to answer."""
    routes = _find_routes(request)
    failing = history.find_failing(steps)
    toolbox = Toolbox.sort(request.tools, workspace, routes, failing)
    if retries := _failed_last(steps, toolbox):
        broken = failing | {step.tool for step in retries}
        toolbox = Toolbox.sort(request.tools, workspace, routes, broken)
        return [(toolbox.translate(step.scout_call), step.scout_call) for step in retries]
    conversation = history.write_conversation(task, history.group_by_turn(steps))
    message = Rules().complete(conversation, toolbox.list_tools())
    wishes = [(toolbox.translate(call), call) for call in message.calls]
    if not routes:
        wishes += _plan_searches(request, task, steps, workspace)
    return wishes or message.text


def _plan_searches(
    request: AgentRequest, task: str, steps: Sequence[ProgramStep], workspace: str | None
) -> list[_Wish]:
    """Plan a search with each MCP server that has one, in the first turn with other calls."""
    finder, door = (
        retrieval_tools.finder(request.tools),
        retrieval_tools.door(request.tools),
    )
    finding = [step for step in steps if finder and step.tool == finder.name]
    terms = terms_of(task)
    if len(finding) < len(steps) or not terms:
        return []
    wishes: list[_Wish] = []
    for tool in mcp_search.choose_tools(request.tools):
        arguments = mcp_search.fill_arguments(tool, terms, workspace)
        wishes.append(((tool.name, arguments), mcp_search.as_scout_call(tool, terms)))
    revealed = [
        tool for step in finding for tool in mcp_search.parse_descriptions(step.result.text)
    ]
    for tool in mcp_search.choose_tools(revealed):
        if door is None:
            break
        arguments = mcp_search.fill_arguments(tool, terms, workspace)
        wishes.append(
            (
                (door.name, {"name": tool.name, "arguments": arguments}),
                mcp_search.as_scout_call(tool, terms),
            )
        )
    return wishes


def _failed_last(steps: Sequence[ProgramStep], toolbox: Toolbox) -> list[ProgramStep]:
    """List calls of the last turn that a tool could not do and a command line may."""
    if toolbox.shell is None:
        return []
    return [
        step
        for step in steps
        if step.turn == steps[-1].turn
        and step.result.is_error
        and step.scout_call.name in OWN_TOOLS
        and step.tool != toolbox.shell.name
    ]


def _reveal_tools(request: AgentRequest, steps: Sequence[ProgramStep]) -> list[_Wish] | None:
    """Make the call that reveals tools of MCP servers, where a program hides them and it was not
    made yet."""
    finder = retrieval_tools.finder(request.tools)
    if finder is None or retrieval_tools.map_offered_tools(request.tools):
        return None
    prompt_texts = list(prompts.prompt_texts(request))
    names = retrieval_tools.find_mentioned_tools(prompt_texts) or mcp_search.find_mentioned(
        prompt_texts
    )
    if not names or any(step.tool == finder.name for step in steps):
        return None
    arguments = retrieval_tools.fill_finder(finder, names)
    return [((finder.name, arguments), ToolCall(id="", name=finder.name, arguments=arguments))]


def _find_routes(request: AgentRequest) -> Mapping[str, Route]:
    if routes := retrieval_tools.map_offered_tools(request.tools):
        return routes
    door, finder = (
        retrieval_tools.door(request.tools),
        retrieval_tools.finder(request.tools),
    )
    if door is None or finder is None:
        return {}
    return retrieval_tools.map_hidden_tools(
        door, retrieval_tools.find_mentioned_tools(prompts.prompt_texts(request))
    )


def _write_findings(request: AgentRequest, task: str, steps: Sequence[ProgramStep]) -> str:
    """Write the answer that the rules would give if no tool gave anything more."""
    messages = history.write_conversation(task, history.group_by_turn(steps))
    names = {step.scout_call.name: None for step in steps}
    tools = [ToolSpec(name=name, description="") for name in names]
    tools += [
        ToolSpec(name=name, description="") for name in _find_routes(request) if name not in names
    ]
    for _ in range(history.MAX_TURNS):
        message = Rules().complete(messages, tools)
        if not message.calls:
            return message.text
        refused = tuple(
            ToolResult(id=call.id, text="No more results", is_error=True) for call in message.calls
        )
        messages += [message, Message(role="user", results=refused)]
    return SHORT


def _ask(wishes: Sequence[_Wish], remembered: dict[str, ToolCall]) -> Message:
    """Make a message with calls, each remembered under a new id."""
    turn = len(remembered) + 1
    calls: list[ToolCall] = []
    for index, ((name, arguments), scout_call) in enumerate(wishes, start=1):
        id = history.new_id(turn, index)
        remembered[id] = ToolCall(id=id, name=scout_call.name, arguments=scout_call.arguments)
        calls.append(ToolCall(id=id, name=name, arguments=arguments))
    return Message(role="assistant", calls=tuple(calls))


def _answer(request: AgentRequest, text: str) -> Message:
    """Answer the task in the form that the program asks for."""
    return _say(text if request.schema is None else json.dumps(build_smallest(request.schema)))


def _say(text: str) -> Message:
    return Message(role="assistant", text=text)

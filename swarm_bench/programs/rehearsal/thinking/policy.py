"""Lets `rules` think for a foreign agent program: with its tools, in its words."""

import json
import logging
from collections.abc import Mapping, Sequence

from swarm_bench.core.ports import Message, ToolCall, ToolResult, ToolSpec
from swarm_bench.models.lexical.terms import task_of, terms_of
from swarm_bench.programs.rehearsal.apis.api import AgentRequest
from swarm_bench.programs.rehearsal.thinking import history, mcp_search, prompts, retrieval_tools
from swarm_bench.programs.rehearsal.thinking.history import Memory, ProgramStep
from swarm_bench.programs.rehearsal.thinking.retrieval_tools import Route
from swarm_bench.programs.rehearsal.thinking.schema_answer import smallest
from swarm_bench.programs.rehearsal.thinking.toolbox import Asking, Toolbox
from swarm_bench.programs.rules.answer import dictated
from swarm_bench.programs.rules.model import OWN_TOOLS, Rules

SHORT = "Rehearsal"
"""What a request that is not about the task is answered with: for a title, a topic, a memory."""
_TASK_LETTERS = 100_000
"""What of a task the rules look at: they go through its words one by one."""

_Wish = tuple[Asking, ToolCall]
"""A call in the program's terms, and in scout's."""

_log = logging.getLogger(__name__)


def think(asked: AgentRequest, memory: Memory, instructions: Sequence[str] = ()) -> Message:
    """Write the next message of the assistant, in the program's own terms. Calls of this turn are
    added to the memory. `instructions` are those of the modes: they stand before a task."""
    if asked.schema is not None and not asked.tools:
        return _say(json.dumps(smallest(asked.schema)))
    prompt_texts = list(prompts.prompt_texts(asked))
    request = prompts.task_in(asked.messages)
    # What a mode says of its server's tools is no part of the task: `rules` has it so for canopy's.
    task = task_of(
        request[:_TASK_LETTERS],
        [*mcp_search.named(asked.tools), *mcp_search.hidden_named(prompt_texts)],
        instructions,
    )
    workspace = prompts.workspace_in(prompt_texts)
    steps = history.taken(asked.messages, memory.made, workspace)
    aside = prompts.aside_in(asked.messages)
    if aside and prompts.wants_summary(aside):
        return _say(prompts.summary(_findings(asked, task, steps), aside))
    if not asked.tools and (last_word := prompts.last_word_in(request)) is not None:
        return _say(prompts.summary(last_word, request))
    if (findings := prompts.summary_in(asked.messages)) is not None:
        return _answer(asked, findings)
    if steps and (not asked.tools or asked.messages[-1].role == "assistant"):
        return _answer(asked, _findings(asked, task, steps))
    if not asked.tools or not task or (aside and prompts.has_answered(asked.messages)):
        return _say(SHORT)
    if _is_enough(asked, memory, task, steps):
        return _answer(asked, _findings(asked, task, steps))
    wished = dictated(task) or _finding(asked, steps) or _next(asked, task, steps, workspace)
    if isinstance(wished, str):
        return _answer(asked, wished)
    memory.turns[task] += 1
    return _ask(wished, memory.made)


def _is_enough(
    asked: AgentRequest, memory: Memory, task: str, steps: Sequence[ProgramStep]
) -> bool:
    """Tell whether asking for more calls would never end: the rules decide by what came back, and a
    program may forget that, or show it in a form in which it cannot be recognised."""
    if memory.turns[task] and not steps and any(message.results for message in asked.messages):
        if not memory.is_lost:
            _log.warning("results came back under ids that were never given out: no more is asked")
        memory.is_lost = True
        return True
    return (
        history.turns_asked(asked.messages) >= history.MAX_TURNS
        or memory.turns[task] >= history.MAX_TASK_TURNS
    )


def _next(
    asked: AgentRequest, task: str, steps: Sequence[ProgramStep], workspace: str | None
) -> list[_Wish] | str:
    """Choose what the rules wish for, or once more what a tool could not do, by other means; a text
    when it is time to answer."""
    routes = _routes(asked)
    failing = history.failing(steps)
    toolbox = Toolbox.of(asked.tools, workspace, routes, failing)
    if again := _failed_last(steps, toolbox):
        broken = failing | {step.tool for step in again}
        toolbox = Toolbox.of(asked.tools, workspace, routes, broken)
        return [(toolbox.asking(step.own), step.own) for step in again]
    conversation = history.conversation(task, history.turns(steps))
    message = Rules().complete(conversation, toolbox.offered())
    wished = [(toolbox.asking(call), call) for call in message.calls]
    if not routes:
        wished += _searches(asked, task, steps, workspace)
    return wished or message.text


def _searches(
    asked: AgentRequest, task: str, steps: Sequence[ProgramStep], workspace: str | None
) -> list[_Wish]:
    """Plan a search with each MCP server that has one, in the first turn with other calls."""
    finder, door = retrieval_tools.finder(asked.tools), retrieval_tools.door(asked.tools)
    finding = [step for step in steps if finder and step.tool == finder.name]
    terms = terms_of(task)
    if len(finding) < len(steps) or not terms:
        return []
    wished: list[_Wish] = []
    for tool in mcp_search.tools_of(asked.tools):
        arguments = mcp_search.arguments(tool, terms, workspace)
        wished.append(((tool.name, arguments), mcp_search.own(tool, terms)))
    hidden = [tool for step in finding for tool in mcp_search.described(step.result.text)]
    for tool in mcp_search.tools_of(hidden):
        if door is None:
            break
        arguments = mcp_search.arguments(tool, terms, workspace)
        wished.append(
            ((door.name, {"name": tool.name, "arguments": arguments}), mcp_search.own(tool, terms))
        )
    return wished


def _failed_last(steps: Sequence[ProgramStep], toolbox: Toolbox) -> list[ProgramStep]:
    """List calls of the last turn that a tool could not do and a command line may."""
    if toolbox.shell is None:
        return []
    return [
        step
        for step in steps
        if step.turn == steps[-1].turn
        and step.result.is_error
        and step.own.name in OWN_TOOLS
        and step.tool != toolbox.shell.name
    ]


def _finding(asked: AgentRequest, steps: Sequence[ProgramStep]) -> list[_Wish] | None:
    """Make the call that reveals tools of MCP servers, where a program hides them and it was not
    made yet."""
    finder = retrieval_tools.finder(asked.tools)
    if finder is None or retrieval_tools.offered(asked.tools):
        return None
    prompt_texts = list(prompts.prompt_texts(asked))
    names = retrieval_tools.hidden(prompt_texts) or mcp_search.hidden(prompt_texts)
    if not names or any(step.tool == finder.name for step in steps):
        return None
    arguments = retrieval_tools.finding(finder, names)
    return [((finder.name, arguments), ToolCall(id="", name=finder.name, arguments=arguments))]


def _routes(asked: AgentRequest) -> Mapping[str, Route]:
    if routes := retrieval_tools.offered(asked.tools):
        return routes
    door, finder = retrieval_tools.door(asked.tools), retrieval_tools.finder(asked.tools)
    if door is None or finder is None:
        return {}
    return retrieval_tools.behind(door, retrieval_tools.hidden(prompts.prompt_texts(asked)))


def _findings(asked: AgentRequest, task: str, steps: Sequence[ProgramStep]) -> str:
    """Write the answer that the rules would give if no tool gave anything more."""
    messages = history.conversation(task, history.turns(steps))
    names = {step.own.name: None for step in steps}
    tools = [ToolSpec(name=name, description="") for name in names]
    tools += [ToolSpec(name=name, description="") for name in _routes(asked) if name not in names]
    for _ in range(history.MAX_TURNS):
        message = Rules().complete(messages, tools)
        if not message.calls:
            return message.text
        refused = tuple(
            ToolResult(id=call.id, text="No more results", is_error=True) for call in message.calls
        )
        messages += [message, Message(role="user", results=refused)]
    return SHORT


def _ask(wished: Sequence[_Wish], made: dict[str, ToolCall]) -> Message:
    """Make a message with calls, each remembered under a new id."""
    turn = len(made) + 1
    calls: list[ToolCall] = []
    for index, ((name, arguments), own) in enumerate(wished, start=1):
        id = history.new_id(turn, index)
        made[id] = ToolCall(id=id, name=own.name, arguments=own.arguments)
        calls.append(ToolCall(id=id, name=name, arguments=arguments))
    return Message(role="assistant", calls=tuple(calls))


def _answer(asked: AgentRequest, text: str) -> Message:
    """Answer the task in the form that the program asks for."""
    return _say(text if asked.schema is None else json.dumps(smallest(asked.schema)))


def _say(text: str) -> Message:
    return Message(role="assistant", text=text)

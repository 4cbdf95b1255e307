"""The rules with the tools of every program."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.benchmarks.swarm.running.workspace_preparation import NOTHING_TO_DO
from swarm_bench.core.ports import Message, ToolCall, ToolResult, ToolSpec
from swarm_bench.programs.rehearsal.apis.api import AgentRequest
from swarm_bench.programs.rehearsal.thinking.history import MAX_TURNS, Memory
from swarm_bench.programs.rehearsal.thinking.policy import SHORT, think
from tests.builders.golden import Sentences

Start = Callable[..., Any]
TASK = "How does authentication work in this code base? Name the functions that check a credential."
PROGRAMS = ["claude", "claude-search", "codex", "gemini", "opencode", "qwen"]
WITH_CANOPY = ["claude", "codex", "gemini", "opencode", "qwen"]
INSTRUCTIONS = (
    "Start with canopy_evidence_pack. Then call canopy_expand.\n\nWhere is authentication?"
)


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_ends_in_the_answer_that_scout_gives(
    name: str, shop: Path, start: Start, scouts_answer: str
) -> None:
    answer, calls = start(name, shop).play()
    assert _without_indentation(answer) == _without_indentation(scouts_answer)
    assert len({call.id for call in calls}) == len(calls)


@pytest.mark.parametrize("name", WITH_CANOPY)
def test_canopy_is_asked_and_its_evidence_is_cited(name: str, shop: Path, start: Start) -> None:
    answer, calls = start(name, shop, INSTRUCTIONS, canopy=True).play()
    asked = json.dumps([(call.name, dict(call.arguments)) for call in calls])
    assert "canopy_evidence_pack" in asked
    assert "canopy_expand" in asked
    assert "`auth.go:16`" in answer
    assert "auth" in asked
    assert "canopy_evidence_pack" not in answer


def _with_search(program: Any, name: str) -> Any:
    """The program with the search of some other server."""
    properties = {"query": {"type": "string"}, "repo": {"type": "string"}, "n": {"type": "integer"}}
    schema = {"properties": properties, "required": ["query", "repo"]}
    search = ToolSpec(name=name, description="Search code.", schema=schema)
    clear = ToolSpec(
        name=name.replace("search_code", "delete_search"), description="", schema=schema
    )
    return replace(program, tools=(*program.tools, clear, search))


def _play_with_search(program: Any, name: str, said: str) -> tuple[str, list[ToolCall]]:
    memory, messages = Memory(), list(program.opening)
    calls: list[ToolCall] = []
    while (message := think(program.asked(messages), memory)).calls and len(calls) < 99:
        calls += message.calls
        results = tuple(
            ToolResult(id=call.id, text=said) if call.name == name else program.result(call)
            for call in message.calls
        )
        messages += [message, Message(role="user", results=results)]
    return message.text, calls


SEARCHES = {
    "claude": "mcp__sourcegraph__search_code",
    "claude-search": "mcp__sourcegraph__search_code",
    "codex": "mcp__sourcegraph__search_code",
    "gemini": "mcp_sourcegraph_search_code",
    "opencode": "sourcegraph_search_code",
}


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("said", ["Error: there is no repository called rehearsal", "[]", "{}"])
def test_the_search_of_another_server_is_called_once_and_the_work_goes_on(
    name: str, said: str, shop: Path, start: Start, scouts_answer: str
) -> None:
    program = _with_search(start(name, shop), SEARCHES[name])
    answer, calls = _play_with_search(program, SEARCHES[name], said)
    (search,) = [call for call in calls if "sourcegraph" in call.name]
    assert search.name == SEARCHES[name]
    assert "authentication" in str(search.arguments["query"])
    assert set(search.arguments) == {"query", "repo"}
    assert _without_indentation(answer) == _without_indentation(scouts_answer)


@pytest.mark.parametrize("instructions", ["", INSTRUCTIONS.partition("\n\n")[0]])
@pytest.mark.parametrize("name", SEARCHES)
def test_the_empty_prompt_is_only_answered(
    name: str, instructions: str, shop: Path, start: Start
) -> None:
    """What it measures is one request, and a tool may take its time over a call."""
    prompt = f"{instructions}\n\n{NOTHING_TO_DO.prompt}".strip()
    program = _with_search(start(name, shop, prompt), SEARCHES[name])
    assert think(program.asked(list(program.opening)), Memory(), [instructions]) == Message(
        role="assistant", text="OK"
    )


@pytest.mark.parametrize(
    "said",
    [
        "vault.lock:7:def authenticate(credential):",
        "Found 1 match:\n./vault.lock:7:def authenticate(credential):",
        json.dumps({"result": "vault.lock:7:def authenticate(credential):"}),
        json.dumps([{"type": "text", "text": "vault.lock:7:def authenticate(credential):"}]),
    ],
)
def test_what_the_search_of_another_server_finds_is_used(
    said: str, shop: Path, start: Start
) -> None:
    name = SEARCHES["codex"]
    answer, _ = _play_with_search(_with_search(start("codex", shop), name), name, said)
    assert "vault.lock:7" in answer


def test_the_search_of_another_server_is_enough(shop: Path, start: Start) -> None:
    name, program = SEARCHES["claude"], _with_search(start("claude", shop), SEARCHES["claude"])
    program = replace(program, tools=tuple(tool for tool in program.tools if "mcp__" in tool.name))
    said = "vault.lock:7:def authenticate(credential):"
    answer, calls = _play_with_search(program, name, said)
    assert [call.name for call in calls] == [name]
    assert "vault.lock:7" in answer


def test_instructions_for_another_servers_tools_are_no_part_of_the_task(
    shop: Path, start: Start, scouts_answer: str
) -> None:
    name = SEARCHES["codex"]
    prompt = f"Begin with search_code, which knows payments.\n\n{TASK}"
    program = _with_search(start("codex", shop, prompt), name)
    answer, _ = _play_with_search(program, name, "nothing")
    assert answer == scouts_answer


def test_a_hidden_search_of_another_server_is_made_known_and_called(
    shop: Path, start: Start
) -> None:
    program, name = start("qwen", shop), "mcp__sourcegraph__search_code"
    told = Message(
        role="user",
        text=f"<system-reminder>\nReachable through `tool_search`:\n- {name}\n</system-reminder>",
    )
    program = replace(program, opening=(told, *program.opening))
    memory, messages = Memory(), list(program.opening)
    found = {"name": name, "parameters": {"properties": {"query": {"type": "string"}}}}
    first = think(program.asked(messages), memory)
    assert [call.name for call in first.calls] == ["tool_search"]
    text = f"<functions>\n<function>{json.dumps(found)}</function>\n</functions>"
    result = ToolResult(id=first.calls[0].id, text=text)
    messages += [first, Message(role="user", results=(result,))]
    second = think(program.asked(messages), memory)
    (search,) = [call for call in second.calls if call.name == "tool_call"]
    assert search.arguments["name"] == name
    assert "authentication" in search.arguments["arguments"]["query"]
    assert len(second.calls) > 1


def test_a_program_without_canopy_calls_nothing_of_it(shop: Path, start: Start) -> None:
    _, calls = start("qwen", shop).play()
    assert not [call for call in calls if "canopy" in call.name or "tool_" in call.name]


def test_a_file_that_names_canopys_tools_makes_none(shop: Path, start: Start) -> None:
    (shop / "auth_tools.md").write_text("# Auth\n\nauth mcp__canopy__canopy_evidence_pack\n")
    answer, calls = start("qwen", shop).play()
    assert "mcp__canopy__canopy_evidence_pack" in answer
    assert not [call for call in calls if "tool_" in call.name]


def test_hidden_tools_are_made_known_first(shop: Path, start: Start) -> None:
    _, calls = start("qwen", shop, canopy=True).play()
    assert [call.name for call in calls] == ["tool_search", "tool_call", "tool_call"]
    assert calls[0].arguments["query"].startswith("select:mcp__canopy__canopy_evidence_pack,")
    assert calls[1].arguments["name"] == "mcp__canopy__canopy_evidence_pack"


@pytest.mark.parametrize("name", ["claude-search", "gemini", "opencode", "qwen"])
def test_a_namesake_in_another_folder_does_not_crowd_out_a_file(
    name: str, shop: Path, start: Start
) -> None:
    folder = shop / "aaa"
    folder.mkdir()
    lines = [f"// authenticate {number}" for number in range(25)]
    (folder / "auth.go").write_text("\n".join(lines), "utf-8")
    answer, _ = start(name, shop).play()
    assert "`auth.go:16`" in answer


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_only_a_shell_is_enough(name: str, shop: Path, start: Start, scouts_answer: str) -> None:
    program = start(name, shop)
    tools = tuple(tool for tool in program.tools if tool.name != "Read")
    answer, _ = replace(program, tools=tools).play()
    assert answer == scouts_answer


def test_what_a_tool_cannot_do_is_done_with_the_shell(
    shop: Path, start: Start, scouts_answer: str
) -> None:
    program = replace(start("opencode", shop), broken=frozenset({"grep", "glob"}))
    answer, calls = program.play()
    assert answer == scouts_answer
    assert sum(1 for call in calls if call.name == "glob") == 1


def test_calls_of_two_conversations_of_a_trial_have_different_ids(shop: Path, start: Start) -> None:
    memory = Memory()
    _, first = start("claude", shop).play(memory)
    _, second = start("claude", shop).play(memory)
    assert not {call.id for call in first} & {call.id for call in second}


def test_a_call_of_somebody_else_is_ignored(shop: Path, start: Start, scouts_answer: str) -> None:
    program = start("codex", shop)
    foreign = ToolCall(id="old", name="exec_command", arguments={"cmd": "ls"})
    seeded = (
        *program.opening,
        Message(role="assistant", calls=(foreign,)),
        Message(role="user", results=(ToolResult(id="old", text="auth.go"),)),
    )
    answer, _ = replace(program, opening=seeded).play()
    assert answer == scouts_answer


def test_calls_that_a_program_splits_over_messages_are_one_turn(
    shop: Path, start: Start, scouts_answer: str
) -> None:
    program = start("codex", shop)
    memory = Memory()
    messages = list(program.opening)
    for _ in range(12):
        message = think(program.asked(messages), memory)
        if not message.calls:
            break
        for call in message.calls:
            messages.append(Message(role="assistant", calls=(call,)))
            messages.append(Message(role="user", results=(program.result(call),)))
    assert message.text == scouts_answer


def test_what_a_mode_says_before_the_task_changes_no_call(shop: Path, start: Start) -> None:
    program = start("claude", shop)
    told = "Begin with a broad inventory of candidates."
    request = program.opening[-1]
    prompt = replace(request, text=f"{told}\n\n{request.text}")
    asked = program.asked([*program.opening[:-1], prompt])
    plain = think(program.asked(list(program.opening)), Memory())
    assert think(asked, Memory(), [told]) == plain
    assert think(asked, Memory()) != plain


def test_a_summary_holds_the_findings_and_ends_the_conversation_after_it(
    shop: Path, start: Start
) -> None:
    program = start("claude", shop)
    memory = Memory()
    messages = list(program.opening)
    for _ in range(3):
        message = think(program.asked(messages), memory)
        results = tuple(program.result(call) for call in message.calls)
        messages += [message, Message(role="user", results=results)]
    ask = "Create a detailed summary. Write an <analysis> block followed by a <summary> block."
    summary = think(program.asked([*messages, Message(role="user", text=ask)]), memory)
    assert summary.text.startswith("<summary>")
    assert not summary.calls
    went_on = f"This session is being continued. {summary.text}\nContinue the conversation."
    answer = think(program.asked([Message(role="user", text=went_on)]), memory)
    assert "`auth.go:16`" in answer.text
    assert not answer.calls
    assert "continue" not in answer.text.lower()


def _as_told(messages: list[Message], way: str) -> list[Message]:
    """A conversation as a program tells it that does not tell it as it was."""
    if way == "window":
        return [messages[0], *messages[1:][-2:]]
    return [
        replace(
            message,
            calls=tuple(replace(call, id=f"own-{at}-{call.id}") for call in message.calls),
            results=tuple(replace(one, id=f"own-{at - 1}-{one.id}") for one in message.results),
        )
        for at, message in enumerate(messages)
    ]


@pytest.mark.parametrize(("way", "most"), [("window", 3 * MAX_TURNS), ("own ids", 1)])
def test_a_conversation_that_is_not_told_as_it_was_has_an_end(
    way: str, most: int, shop: Path, start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    program, memory = start("claude-search", shop), Memory()
    messages = list(program.opening)
    turns = 0
    while turns < 100:
        message = think(program.asked(_as_told(messages, way)), memory)
        if not message.calls:
            break
        turns += 1
        results = tuple(program.result(call) for call in message.calls)
        messages += [message, Message(role="user", results=results)]
    assert message.text
    assert turns <= most
    if way == "own ids":
        think(program.asked(_as_told(messages, way)), memory)
        assert caplog.text.count("never given out") == 1


def test_a_conversation_of_many_turns_is_answered(shop: Path, start: Start) -> None:
    program = start("codex", shop)
    messages = list(program.opening)
    for number in range(MAX_TURNS):
        call = ToolCall(id=f"x{number}", name="exec_command", arguments={"cmd": "ls"})
        messages.append(Message(role="assistant", calls=(call,)))
        messages.append(Message(role="user", results=(ToolResult(id=call.id, text="a.go"),)))
    assert think(program.asked(messages[:-2]), Memory()).calls
    assert not think(program.asked(messages), Memory()).calls


def test_what_is_asked_after_the_answer_gets_a_short_text(shop: Path, start: Start) -> None:
    program = start("qwen", shop)
    later = (
        *program.opening,
        Message(role="assistant", text="The answer."),
        Message(role="user", text="Scan the recent history and update durable managed memory."),
    )
    assert think(program.asked(list(later)), Memory()).text == SHORT


def test_an_empty_answer_and_a_nudge_do_not_end_the_work(shop: Path, start: Start) -> None:
    program = start("gemini", shop)
    later = [*program.opening, Message(role="assistant"), Message(role="user", text="Continue.")]
    assert think(program.asked(later), Memory()).calls


def test_when_tools_are_taken_away_the_answer_is_what_was_found(shop: Path, start: Start) -> None:
    program = start("opencode", shop)
    memory = Memory()
    messages = list(program.opening)
    for _ in range(2):
        message = think(program.asked(messages), memory)
        results = tuple(program.result(call) for call in message.calls)
        messages += [message, Message(role="user", results=results)]
    answer = think(replace(program.asked(messages), tools=()), memory)
    assert "`auth.go:" in answer.text
    assert not answer.calls


@pytest.mark.parametrize("text", ["", "<environment_context>\n<cwd>/x</cwd></environment_context>"])
def test_a_conversation_without_a_task_is_answered(text: str, shop: Path, start: Start) -> None:
    program = start("codex", shop)
    assert think(program.asked([Message(role="user", text=text)]), Memory()).text == SHORT
    assert think(program.asked([]), Memory()).text == SHORT


def test_a_title_is_a_short_text() -> None:
    asked = _asked("Generate a title for this conversation:\n")
    assert think(asked, Memory()).text == SHORT


def test_a_check_of_the_next_speaker_is_answered_as_its_schema_says() -> None:
    schema = {
        "type": "OBJECT",
        "properties": {
            "reasoning": {"type": "STRING"},
            "next_speaker": {"type": "STRING", "enum": ["user", "model"]},
        },
        "required": ["reasoning", "next_speaker"],
    }
    said = json.loads(think(replace(_asked("Who is next?"), schema=schema), Memory()).text)
    assert said["next_speaker"] == "user"


def test_a_schema_for_the_answer_does_not_stop_the_work(shop: Path, start: Start) -> None:
    program = start("codex", shop)
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    assert think(replace(program.asked(list(program.opening)), schema=schema), Memory()).calls


def test_tools_that_are_good_for_nothing_lead_to_an_answer(golden: Sentences) -> None:
    tool = ToolSpec(name="set_color", description="Sets a colour.", schema={})
    answer = think(replace(_asked("Where is authentication?"), tools=(tool,)), Memory())
    golden(answer.text)


def _asked(text: str) -> AgentRequest:
    messages = (Message(role="user", text=text),)
    return AgentRequest(
        model="m", stream=False, messages=messages, tools=(), parts=(json.dumps(text),)
    )


def _without_indentation(text: str) -> list[str]:
    """Qwen Code shows the lines that a search found without it."""
    return [line.strip() for line in text.splitlines()]

from swarm_bench.core.ports import Message, ToolCall, ToolResult
from swarm_bench.programs.rehearsal.thinking import history

GREP = {"pattern": "job", "output_mode": "content"}


def _made(*ids: str) -> dict[str, ToolCall]:
    return {id: ToolCall(id=id, name="Grep", arguments=GREP) for id in ids}


def _messages(*results: tuple[str, str, str]) -> list[Message]:
    """A message with each call, and one with its result, from id, tool and text."""
    messages: list[Message] = []
    for id, tool, text in results:
        call = ToolCall(id=id, name=tool, arguments={})
        messages.append(Message(role="assistant", calls=(call,)))
        messages.append(Message(role="user", results=(ToolResult(id=id, text=text),)))
    return messages


def test_a_repeated_call_takes_the_place_of_the_failed_one() -> None:
    first, again = history.new_id(1, 1), history.new_id(2, 1)
    messages = _messages((first, "grep", "execution failed"), (again, "bash", "./a.py:1:job"))
    steps = history.list_calls(messages, _made(first, again), None)
    assert history.find_failing(steps) == {"grep"}
    ((step,),) = history.group_by_turn(steps)
    assert step.result.text == "a.py:1:job"


def test_a_tool_that_did_one_of_its_calls_is_not_failing() -> None:
    ids = [history.new_id(1, 1), history.new_id(1, 2)]
    messages = _messages((ids[0], "grep", "execution failed"), (ids[1], "grep", "a.py:1:job"))
    steps = history.list_calls(messages, _made(*ids), None)
    assert history.find_failing(steps) == frozenset()


def test_the_calls_of_a_turn_are_one_message() -> None:
    ids = [history.new_id(3, 1), history.new_id(3, 2)]
    messages = _messages((ids[0], "grep", "a.py:1:job"), (ids[1], "grep", "b.py:1:job"))
    steps = history.list_calls(messages, _made(*ids), None)
    told = history.write_conversation("Find it.", history.group_by_turn(steps))
    assert [len(message.calls) for message in told] == [0, 2, 0]
    assert [result.id for result in told[2].results] == ids


def test_a_result_without_its_call_is_left_out() -> None:
    orphan = Message(role="user", results=(ToolResult(id="call_0001_01", text="x"),))
    assert history.list_calls([orphan], _made("call_0001_01"), None) == []


def test_results_out_of_order_are_told_in_the_order_of_their_calls() -> None:
    ids = [history.new_id(1, 1), history.new_id(1, 2), history.new_id(2, 1)]
    calls = tuple(ToolCall(id=id, name="grep", arguments={}) for id in ids[:2])
    results = tuple(ToolResult(id=id, text=f"{id}.py:1:job") for id in reversed(ids[:2]))
    messages = [
        *_messages((ids[2], "grep", "c.py:1:job")),
        Message(role="assistant", calls=calls),
        Message(role="user", results=results),
    ]
    steps = history.list_calls(messages, _made(*ids), None)
    assert [step.scout_call.id for step in steps] == ids
    assert [len(turn) for turn in history.group_by_turn(steps)] == [2, 1]
    assert [step.result.text for step in steps][:2] == [f"{id}.py:1:job" for id in ids[:2]]

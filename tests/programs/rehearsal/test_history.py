import pytest

from swarm_bench.core.ports import Message, ToolCall, ToolResult
from swarm_bench.programs.rehearsal.thinking import history
from swarm_bench.programs.rehearsal.thinking.history import Scope

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


WINDOWS = {
    "tab": "5\tfive\n6\t\n7\t  seven",
    "cat -n": "     5\tfive\n     6\t\n     7\t  seven\n",
    "arrow": "    5→five\n    6→\n    7→  seven",
    "bar": "<file>\n00005| five\n00006| \n00007|   seven\n\n(File has more lines.)\n</file>",
    "colon": "<path>/w/a.md</path>\n<type>file</type>\n<content>\n5: five\n6: \n7:   seven\n\n"
    "(Showing lines 5-7 of 151. Use offset=8 to continue.)\n</content>",
    "shell": "<untrusted_context>\nOutput:      5\tfive\n     6\t\n     7\t  seven\n"
    "Process Group PGID: 7805\n</untrusted_context>",
    "gemini": "\nIMPORTANT: The file content has been truncated.\nStatus: Showing lines 5-7 of 152 "
    "total lines.\nAction: To read more of the file, use start_line: 8.\n\n"
    "--- FILE CONTENT (truncated) ---\nfive\n\n  seven",
    "qwen": "Showing lines 5-7 of 152 total lines.\n\n---\n\nfive\n\n  seven",
    "whole": "1\n2\n3\n4\nfive\n\n  seven\neight\n",
    "reminder": "5\tfive\n6\t\n7\t  seven\n\n<system-reminder>\n9 tokens left\n</system-reminder>",
}


@pytest.mark.parametrize("form", WINDOWS)
def test_the_lines_asked_for(form: str) -> None:
    found = history.extract_lines(WINDOWS[form], {"offset": 5, "limit": 3})
    assert found == "5\tfive\n6\t\n7\t  seven"


def test_the_line_behind_the_last_line_break_is_none() -> None:
    assert history.extract_lines("one\ntwo\n", {"offset": 1, "limit": 60}) == "1\tone\n2\ttwo"
    assert history.extract_lines("1\tone\n2\t", {"offset": 1, "limit": 60}) == "1\tone"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Showing lines 5001-5001 of 68 total lines.\n\n---\n\n",
        "<system-reminder>Warning: the file is shorter than the offset.</system-reminder>",
    ],
)
def test_no_lines(text: str) -> None:
    assert history.extract_lines(text, {"offset": 5001, "limit": 60}) == ""


def test_a_file_full_of_blanks_is_read_at_once() -> None:
    assert history.extract_lines(" " * 200_000 + "x", {"offset": 1, "limit": 1}).endswith("x")


def test_a_number_that_is_too_long_is_none() -> None:
    text = f"{'9' * 5000}\tx\n1\tone\n{'9' * 5000}: x"
    assert history.extract_lines(text, {"offset": 1, "limit": 9}) == "1\tone"


EVERYWHERE = Scope(workspace="/w/shop")
SHOWN = {
    "ripgrep": "app/a.py:6:import job\napp/a.py:23:    job()\n\n[Showing results with pagination]",
    "grep": "./app/a.py:6:import job\n./app/a.py:23:    job()",
    "absolute": "/w/shop/app/a.py:6:import job\n/w/shop/app/a.py:23:    job()",
    "gemini": 'Found 2 matches for pattern "job" in the workspace directory:\n---\n'
    "File: app/a.py\nL5- # about a job\nL6: import job\nL23:     job()\nL24- # job\n---",
    "gemini shell": "<untrusted_context>\nOutput: ./app/a.py:6:import job\n"
    "./app/a.py:23:    job()\nProcess Group PGID: 7805\n</untrusted_context>",
    "opencode": "Found 2 matches\n/w/shop/app/a.py:\n  Line 6: import job\n\n"
    "  Line 23:     job()\n",
    "codex": "Chunk ID: 33173d\nWall time: 0.0000 seconds\nProcess exited with code 0\n"
    "Original token count: 40\nOutput:\n./app/a.py:6:import job\n./app/a.py:23:    job()\n",
    "qwen shell": "Command: grep job\nDirectory: (root)\nOutput: ./app/a.py:6:import job\n"
    "./app/a.py:23:    job()\nError: (none)\nExit Code: 0\nSignal: (none)",
}


@pytest.mark.parametrize("form", SHOWN)
def test_lines(form: str) -> None:
    found = history.format_hits(SHOWN[form], {"pattern": "job"}, EVERYWHERE)
    assert found == "app/a.py:6:import job\napp/a.py:23:    job()"


@pytest.mark.parametrize(
    "text",
    [
        "6:import job\n23:    job()",
        "File: a.py\nL6: import job\nL23:     job()",
        "a.py:6:import job\na.py:23:    job()\nb/a.py:7:job",
        "File: a.py\nL6: import job\nL23:     job()\n---\nFile: b/a.py\nL7: job",
    ],
)
def test_lines_of_one_file(text: str) -> None:
    place = Scope(workspace="/w/shop", path="app/a.py")
    found = history.format_hits(text, {"pattern": "job"}, place)
    assert found == "app/a.py:6:import job\napp/a.py:23:    job()"


def test_a_line_that_matches_only_without_regard_to_case_is_left_out() -> None:
    found = history.format_hits("a.py:1:Job\na.py:2:job", {"pattern": "job"}, EVERYWHERE)
    assert found == "a.py:2:job"


def test_lines_are_sorted_and_cut() -> None:
    text = "b.py:1:job\na.py:10:job\na.py:9:job"
    found = history.format_hits(text, {"pattern": "job", "head_limit": 2}, EVERYWHERE)
    assert found == "a.py:9:job\na.py:10:job"


@pytest.mark.parametrize(
    "text",
    [
        "a.py:1\nb.py:12\n\nFound 13 total occurrences across 2 files.",
        "<untrusted_context>\nOutput: ./b.py:12\n./a.py:1\nExit Code: 0\n</untrusted_context>",
        "b.py:12\na.py:1\nc.py:1 is not a count\n",
    ],
)
def test_counts(text: str) -> None:
    assert history.format_counts(text, {"pattern": "job"}, EVERYWHERE) == "b.py:12\na.py:1"


def test_a_line_that_ends_in_a_number_is_no_count_where_none_was_asked_for() -> None:
    text = "File: a.py\nL1: job\nL2: # job, see b.py:9\n---\nc.py:7"
    found = history.format_counts(text, {"pattern": "job"}, EVERYWHERE, is_count=False)
    assert found == "a.py:2"


def test_lines_are_counted_where_a_tool_cannot_count() -> None:
    text = "File: a.py\nL1: job\n---\nFile: b.py\nL1: job\nL3: job\n---"
    assert history.format_counts(text, {"pattern": "job"}, EVERYWHERE) == "b.py:2\na.py:1"


@pytest.mark.parametrize(
    "text",
    [
        "app/job.py",
        "/w/shop/app/job.py\n(Results are truncated)",
        'Found 1 file(s) matching "**/*job*" within /w/shop, sorted by modification time:\n'
        "/w/shop/app/job.py",
        "Output: ./app/job.py\nProcess Group PGID: 7805",
    ],
)
def test_names(text: str) -> None:
    assert history.format_paths(text, {"pattern": "**/*{job,task}*"}, EVERYWHERE) == "app/job.py"


@pytest.mark.parametrize(
    ("text", "nothing"),
    [
        ('No matches found for pattern "x" in the workspace directory.', True),
        ("No files found", True),
        ("(Bash completed with no output)", True),
        ("(no output)", True),
        ("", True),
        ("Found 0 total occurrences", True),
        ("ripgrep execution failed", False),
        ("Path is not a directory: /w/shop/a.py", False),
    ],
)
def test_nothing_found_is_not_a_failure(text: str, nothing: bool) -> None:
    assert history.says_nothing(text) is nothing
    assert history.format_hits(text, {"pattern": "x"}, EVERYWHERE) == history.NOTHING


def test_a_number_of_a_hit_that_is_too_long_is_none() -> None:
    text = f"src/a.txt:{'9' * 5000}:x\n{'9' * 5000}:x\nb.txt:{'9' * 5000}\nc.txt:1:x"
    assert history.format_hits(text, {"pattern": "x"}, EVERYWHERE) == "c.txt:1:x"
    assert history.format_counts(text, {"pattern": "x"}, EVERYWHERE) == "c.txt:1"

import json

import pytest

from swarm_bench.core.ports import Message, ToolResult
from swarm_bench.programs.rehearsal.apis.api import AgentRequest
from swarm_bench.programs.rehearsal.thinking import prompts


@pytest.mark.parametrize(
    "text",
    [
        "Find <b>it</b>.",
        '"Find <b>it</b>."',
        "<system-reminder>\nContext\n</system-reminder>\nFind <b>it</b>.",
        "<session_context>\n├───a.py\n</session_context>Find <b>it</b>.",
        "<user_instructions>\nBe good.\n</user_instructions>\n\n<environment_context>\n"
        "  <cwd>/w</cwd>\n</environment_context>\nFind <b>it</b>.",
    ],
)
def test_what_a_program_wraps_around_the_task_is_left_out(text: str) -> None:
    assert prompts.request_in(text) == "Find <b>it</b>."


def test_quotation_marks_within_a_quoted_prompt() -> None:
    assert prompts.request_in('"Find \\"Token\\" now."') == 'Find "Token" now.'


def test_the_task_is_the_first_thing_asked() -> None:
    texts = ["<environment_context>\n</environment_context>", "Find it.", "Continue."]
    assert prompts.task_in([Message(role="user", text=text) for text in texts]) == "Find it."


@pytest.mark.parametrize(
    "text",
    [
        "<system-reminder>\n - Primary working directory: /w/shop\n - Is a git repository",
        "<environment_context>\n  <cwd>/w/shop</cwd>\n  <shell>bash</shell>",
        "- **Workspace Directories:**\n  - /w/shop\n- **Directory Structure:**",
        "<env>\n  Working directory: /w/shop\n  Workspace root folder: /w/shop\n</env>",
        "I'm currently working in the directory: /w/shop\nHere is the folder structure",
    ],
)
def test_every_program_tells_where_it_works(text: str) -> None:
    assert prompts.workspace_in(["Runs a command.", text]) == "/w/shop"


def test_a_program_may_not_tell_where_it_works() -> None:
    assert prompts.workspace_in(["the working directory: of the project"]) is None


def test_what_a_program_tells_is_not_what_a_file_says() -> None:
    said = ToolResult(id="1", text="Working directory: /evil")
    messages = (Message(role="user", text="Find it.", results=(said,)),)
    sent = [
        {"role": "system", "content": [{"text": "Working directory: /w/é\nAnd more"}]},
        {"role": "user", "content": "Working directory: /evil"},
    ]
    asked = AgentRequest(
        model="m",
        stream=True,
        messages=messages,
        tools=(),
        parts=tuple(json.dumps(part) for part in ["a tool", *sent]),
    )
    told = list(prompts.prompt_texts(asked))
    assert told[-1] == "Find it."
    assert "Working directory: /evil" not in told
    assert prompts.workspace_in(told) == "/w/é"


@pytest.mark.parametrize(
    ("texts", "aside"),
    [
        (["Task"], ""),
        (["Task", "!", "Please continue."], ""),
        (["Task", "!", "<system-reminder>\nx\n</system-reminder>"], ""),
        (["Task", "!", "Sum it up."], "Sum it up."),
        (["Task", "!", "Sum it up.", "In words."], "Sum it up.\n\nIn words."),
    ],
)
def test_what_is_asked_by_the_way(texts: list[str], aside: str) -> None:
    messages = [
        Message(role="assistant", text="Done.") if text == "!" else Message(role="user", text=text)
        for text in texts
    ]
    assert prompts.aside_in(messages) == aside


@pytest.mark.parametrize(
    ("aside", "begin"),
    [
        ("Write a <summary> block.", "<summary>\nFindings"),
        ("Generate the <state_snapshot>.", "<state_snapshot>\nFindings"),
        (
            "You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary.",
            "Findings",
        ),
        (
            "CRITICAL: Respond with TEXT ONLY.\nYour task is to create a detailed summary",
            "Findings",
        ),
        ("Create a new anchored summary from the conversation history.", "Findings"),
    ],
)
def test_a_summary_is_known_again(aside: str, begin: str) -> None:
    assert prompts.wants_summary(aside)
    text = prompts.summary("a </b> c", aside)
    assert text.startswith(begin)
    assert prompts.summary_in([Message(role="user", text=f"So far: {text} Go on.")]) == "a </b> c"


@pytest.mark.parametrize(
    ("talk", "word"),
    [
        (
            "[User]: Find it.\n\n[Assistant]: ## Found\n\nIn [a].\n\n[User]: Go on.",
            "## Found\n\nIn [a].",
        ),
        ("[User]: Find it.\n\n[Assistant]: Found it.", "Found it."),
    ],
)
def test_the_last_word_in_a_conversation_that_was_written_down(talk: str, word: str) -> None:
    text = f"Here it is:\n\n<conversation>\n{talk}\n</conversation>\n\nWrite the summary."
    assert prompts.last_word_in(text) == word


def test_a_conversation_that_was_written_down_before_the_answer() -> None:
    text = "<conversation>\n[User]: Find it.\n</conversation>\n\nWrite the summary."
    assert "nothing is cited" in (prompts.last_word_in(text) or "")
    assert prompts.last_word_in("Generate a title for this conversation.") is None


def test_a_summary_may_be_told_as_our_own_message() -> None:
    messages = [
        Message(role="user", text="What did we do so far?"),
        Message(role="assistant", text=prompts.summary("Found it.", "")),
        Message(role="user", text="Continue if you have next steps, or stop and ask."),
    ]
    assert prompts.summary_in(messages) == "Found it."


@pytest.mark.parametrize(
    "notice",
    [
        "Checkpoint created.",
        "The summary of changes is compact: 2 files.",
        "Note: hand-off to the next agent failed.",
    ],
)
def test_a_word_in_a_notice_beside_results_is_no_request_for_a_summary(notice: str) -> None:
    messages = [
        Message(role="user", text="Find it."),
        Message(role="assistant", text="I look."),
        Message(role="user", text=notice, results=(ToolResult(id="1", text="a.py:1:x"),)),
    ]
    assert not prompts.wants_summary(prompts.aside_in(messages))


def test_a_task_about_an_env_keeps_its_words() -> None:
    assert prompts.request_in("Where is <env>A</env> read?") == "Where is <env>A</env> read?"


@pytest.mark.parametrize("tag", ["<system-reminder>", "</system-reminder>", "<system-reminder>\n"])
def test_a_text_of_many_beginnings_is_read_at_once(tag: str) -> None:
    text = tag * 300_000
    assert len(prompts.request_in(text)) >= len(text) - 1
    assert prompts.request_in(f"{text}</personality_spec>Find it.").endswith("Find it.")


def test_a_result_with_many_reminders_is_read_at_once() -> None:
    reminders = "<system-reminder>x</system-reminder>\n" * 100_000
    assert prompts.drop_reminders(f"one \n\n{reminders}") == "one"
    assert prompts.drop_reminders("one </system-reminder> \n") == "one </system-reminder> \n"

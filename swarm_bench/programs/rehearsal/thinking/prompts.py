"""Finds in a program's messages what its user asked, and what the program asks by the way."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence

from swarm_bench.core.ports import Message
from swarm_bench.programs.rehearsal.apis.api import AgentRequest

_BEGIN, _END = "Findings of the work so far:", "(End of the findings.)"
"""Around our summary of a conversation, so that we recognise it when the program continues."""

_WRAPPERS = (
    *("system-reminder", "environment_context", "environment_details", "user_instructions"),
    *("session_context", "permissions instructions", "skills_instructions", "INSTRUCTIONS"),
    *("collaboration_mode", "personality_spec", "qwen:user-prompt-submit-context"),
)
_OPENING_TAG = re.compile("<(" + "|".join(map(re.escape, _WRAPPERS)) + ")>")
_REMINDER, _REMINDED = "<system-reminder>", "</system-reminder>"
_QUOTED = re.compile(r'\A"(.*)"\Z', re.DOTALL)
_WORKSPACE = re.compile(
    r"(?:[Ww]orking directory: |working in the directory: |<cwd>|Workspace Directories:\**\n\s*- )"
    r"(/[^\n<]*)"
)
_TALKING = frozenset({"user", "assistant", "model", "tool"})
_GO_ON = re.compile(
    r"\A.{0,120}\b(?:continue|go[ ]on|proceed)\b.{0,120}\Z", re.DOTALL | re.IGNORECASE
)
_TAG = re.compile(r"<(summary|state_snapshot)>")
_LAST_WORD = re.compile(
    r"^\[Assistant\]: (.*?)(?=\n\n\[|\n</conversation>)", re.DOTALL | re.MULTILINE
)
_CUT_SHORT = (
    "The conversation was summed up before the work was done, and what was found until then was "
    "not handed over in a form that fixed rules can read. So nothing is cited."
)
_SUM_UP = re.compile(
    r"^[ \t]*(?:"
    r"CRITICAL: Respond with TEXT ONLY|Your task is to create a detailed summary|"  # Claude Code
    r"You are performing a CONTEXT CHECKPOINT COMPACTION|"  # Codex
    r"Create a new anchored summary|Update the anchored summary"  # opencode
    r")|<summary>|<state_snapshot>",  # of the last one Gemini CLI and Qwen Code always speak
    re.MULTILINE,
)
"""How programs ask for a summary. A word alone will not do: they also write notices beside the
results of tools."""
_SUMMARY = re.compile(r"summar", re.IGNORECASE)


def request_in(text: str) -> str:
    """Extract what the user wrote from what the program put around it."""
    plain = _unwrap(text).strip()
    # opencode hands on a prompt with blanks in quotation marks.
    if quoted := _QUOTED.match(plain):
        plain = quoted[1].replace('\\"', '"')
    return plain.strip()


def drop_reminders(result: str) -> str:
    """Strip what Claude Code adds at the end of a tool's result."""
    end = _skip_blanks_back(result, len(result))
    while result.endswith(_REMINDED, 0, end):
        start = result.rfind(_REMINDER, 0, end)
        if start < 0:
            break
        end = _skip_blanks_back(result, start)
    is_same = end == _skip_blanks_back(result, len(result))
    return result if is_same else result[:end]


def task_in(messages: Sequence[Message]) -> str:
    """Return the first thing that the user asked; empty when there is none."""
    requests = (request_in(message.text) for message in messages if message.role == "user")
    return next((text for text in requests if text), "")


def aside_in(messages: Sequence[Message]) -> str:
    """Return what the program asks after the assistant's last words or calls; empty when it only
    hands over results, or nudges."""
    texts: list[str] = []
    for message in reversed(messages):
        if message.role == "user":
            texts.append(request_in(message.text))
        elif message.text.strip() or message.calls:
            aside = "\n\n".join(text for text in reversed(texts) if text)
            return "" if _GO_ON.match(aside) else aside
    return ""


def has_answered(messages: Sequence[Message]) -> bool:
    """Tell whether the assistant's last message was an answer and no call."""
    last = next((message for message in reversed(messages) if message.role == "assistant"), None)
    return last is not None and bool(last.text.strip()) and not last.calls


def wants_summary(aside: str) -> bool:
    """Tell whether a program asks to sum up a conversation that has grown too long."""
    return _SUM_UP.search(aside) is not None


def last_word_in(transcript: str) -> str | None:
    """Return our last words in a conversation that opencode writes down as one text to have it
    summed up; `None` when the text is not of that kind."""
    if "<conversation>" not in transcript or not _SUMMARY.search(transcript):
        return None
    last_words = _LAST_WORD.findall(transcript)
    return last_words[-1].strip() if last_words else _CUT_SHORT


def summary(findings: str, aside: str) -> str:
    """Write a summary in the form that the program asks for."""
    text = f"{_BEGIN}\n\n{findings.strip()}\n\n{_END}"
    tag = _TAG.search(aside)
    return f"<{tag[1]}>\n{text}\n</{tag[1]}>" if tag else text


def summary_in(messages: Sequence[Message]) -> str | None:
    """Return the findings in our last summary, when the conversation continues from one."""
    texts = [message.text for message in messages]
    last = next((text for text in reversed(texts) if _BEGIN in text), None)
    return None if last is None else last.partition(_BEGIN)[2].rpartition(_END)[0].strip()


def prompt_texts(agent_request: AgentRequest) -> Iterator[str]:
    """Yield what a program itself says: everything before the conversation, and the texts of the
    user. Results of tools are no part of it: a file may say anything."""
    for part in map(json.loads, agent_request.parts):
        if isinstance(part, dict) and part.get("role") in _TALKING:
            break
        yield from _strings(part)
    yield from (message.text for message in agent_request.messages if message.role == "user")


def workspace_in(texts: Iterable[str]) -> str | None:
    """Find the folder that the program says it works in."""
    match = next(filter(None, map(_WORKSPACE.search, texts)), None)
    return match and match[1].strip().rstrip("/")


def _unwrap(text: str) -> str:
    """Strip the wrappers in one pass: a file that a program quotes may have any number of
    beginnings without an end."""
    texts: list[str] = []
    endless: set[str] = set()
    done = at = 0
    while tag := _OPENING_TAG.search(text, at):
        at, closing = tag.end(), f"</{tag[1]}>"
        end = -1 if closing in endless else text.find(closing, at)
        if end < 0:
            endless.add(closing)
            continue
        texts.append(text[done : tag.start()])
        done = at = end + len(closing)
        done = at = done + text.startswith("\n", done)
    return "".join([*texts, text[done:]])


def _skip_blanks_back(text: str, end: int) -> int:
    while end and text[end - 1].isspace():
        end -= 1
    return end


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)

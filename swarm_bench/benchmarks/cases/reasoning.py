"""What a model thinks aloud in a chat before it answers, and what is not its answer."""

import re
from bisect import bisect
from collections.abc import Collection, Iterator
from dataclasses import replace

from swarm_bench.benchmarks.cases.python_code import parse_python
from swarm_bench.benchmarks.cases.texts import find_blocks
from swarm_bench.config.text_file import MARK
from swarm_bench.core.roles.language_model import Completion, Way

_STEM = "(?:think|thought|reason|reflect|scratchpad|monologue|rationale)"
_NAME = rf"(?:[\w:.-]{{0,40}}{_STEM}[\w:.-]{{0,40}}|analysis|planning|cot)"
_TOKEN_NAME = rf"[\w▁]{{0,40}}{_STEM}[\w▁]{{0,40}}"
_ENDS_ALL = r"/|end[_▁]|\w{1,40}_end[|｜]"
_OPENING = re.compile(
    rf"<{_NAME}(?:\s[^<>]{{0,80}})?>|\[THINK\]|◁think▷|<[|｜](?!{_ENDS_ALL}){_TOKEN_NAME}[|｜]>"
    r"|<unused94>|<\|channel>|Here is my thought process:|\[Start thinking\]",
    re.I,
)
_OPENING_LINE = re.compile(rf"^[ \t]*({_OPENING.pattern})", re.I | re.M)
_CLOSING = re.compile(
    rf"</{_NAME}\s?>|\[/{_NAME}\]|◁/think▷|<[|｜](?={_ENDS_ALL})/?{_TOKEN_NAME}[|｜]>"
    r"|<unused95>|<channel\|>|<\|content\|>|\[BEGIN FINAL RESPONSE\]|Here is my response:"
    r"|\[End thinking\]|\.\.\.done thinking\.",
    re.I,
)
"""Elements that are called after it, and tokens: DeepSeek's, Command A's, OpenThinker's, Solar's;
Mistral; Kimi; MedGemma; Gemma; Apriel; Granite; the programs of llama.cpp and Ollama."""
_PAGE = re.compile(r"\s*<details[^<>]{0,200}\btype=\"reasoning\"[^<>]{0,200}>.*?</details>", re.S)
"""Form in which Open WebUI shows thoughts."""
_ANSWER_OPENING = re.compile(
    r"\s*<(answer|output|solution|response"
    r"|\|START_RESPONSE\||\|begin_of_solution\||\|begin_of_box\|)>[ \t]*\n?",
    re.I,
)
_ANSWER_CLOSINGS = {
    "|start_response|": "<|END_RESPONSE|>",
    "|begin_of_solution|": "<|end_of_solution|>",
    "|begin_of_box|": "<|end_of_box|>",
}
_FINAL = re.compile(
    r"<\|channel\|>\s*final[^<\n]{0,80}(?:<\|constrain\|>[^<\n]{0,80})?<\|message\|>"
)
_CHANNEL = re.compile(
    r"\A\s*(?:<\|start\|>\s*assistant\s*)?<\|(?:channel|message)\|>"
    r"|<\|start\|>\s*assistant\s*<\|channel\|>"
)
_NO_MORE = re.compile(r"<\|(?:return|end|call|start)\|>")
_BARE_CHANNEL, _BARE_FINAL = "analysis", re.compile(r"assistant\s*final")
"""gpt-oss's channels, whose marks a server may have dropped."""
_TOKEN = (
    rf"<[|｜](?![\w▁/]*(?:{_STEM}|response|solution|box|channel|content|message))[\w▁/-]{{1,40}}[|｜]>"
    r"|</?s>|<(?:bos|eos|pad|sep|eot|end_of_turn|start_of_turn)>|\[/?INST\]|\[EOS\]"
    r"|\[END FINAL RESPONSE\]|[\ufeff\u200b]"
)
_LAST = re.compile(rf"(?:{_TOKEN}|\s+)\Z", re.I)
_TEMPLATE_START = re.compile(rf"(?:\s*(?:{_TOKEN})(?:assistant\b|model\b)?)+\s*?\n?", re.I)
_LONGEST_TOKEN = 50
"""Tokens of templates around an answer, that servers leave in it, and marks that show nothing."""
_STRING = re.compile(
    r"(?<![\w\\`])[rbfu]{0,2}(?:\"(?:\\.|[^\"\\\n])*+\"|'(?:\\.|[^'\\\n])*+'|`[^`\n]*+`(?!`))",
    re.I,
)
UNENDED = "thoughts without an end"
"""Value of `elsewhere` for an answer that has nothing but thoughts."""
_MOST_TRIED = 8
"""Ends of thoughts behind which all others may be code."""


def drop_thoughts(completion: Completion, way: Way) -> Completion:
    """Drop what stands before the last end of thoughts in a chat, also where they have no
    beginning: templates put it into the prompt. Of thoughts without an end nothing is an answer.
    Marks within a string, or anywhere in Python, are code. A byte order mark is dropped anyway."""
    text = completion.text.removeprefix(MARK)
    if way != "chat":
        return completion if text == completion.text else replace(completion, text=text)
    page = _PAGE.match(text)
    text = _strip_tokens(_find_final(text[page.end() :].lstrip() if page else text))
    if _OPENING.search(text) or _CLOSING.search(text):
        text = _strip_tokens(_find_answer(text))
        text = text if text.strip() else ""
    return completion if text == completion.text else replace(completion, text=text)


def _find_final(text: str) -> str:
    """Return what gpt-oss says in its last channel, and other texts as they are."""
    if _CHANNEL.search(text):
        final = _FINAL.search(text)
        return _NO_MORE.split(text[final.end() :], maxsplit=1)[0] if final else ""
    if text.startswith(_BARE_CHANNEL) and (final := _BARE_FINAL.search(text)):
        return text[final.end() :]
    return text


def _strip_tokens(text: str) -> str:
    """Return a text without the tokens of a template around it."""
    begin, end = _TEMPLATE_START.match(text), len(text)
    while last := _LAST.search(text, max(end - _LONGEST_TOKEN, 0), end):
        end = last.start()
    text = text[:end] if end < len(text.rstrip()) else text
    return text[begin.end() :] if begin else text


def _find_answer(text: str) -> str:
    thought_ends = [match.end() for match in _CLOSING.finditer(text)]
    for begin in [0, *(thought_ends if len(thought_ends) <= _MOST_TRIED else ())]:
        answer = text[begin:].lstrip("\r\n") if begin else text
        if not answer.strip():
            continue
        if parse_python(answer.strip()):
            return answer
        code = _Code(answer)
        if all(code.has(match.start()) for match in _CLOSING.finditer(answer)):
            return _unwrap(answer[: next(iter(_find_unclosed(answer, code)), None)], begin > 0)
    code = _Code(text)
    thought_ends = [end for end in thought_ends if not code.has(end - 1)]
    thought_begins = {
        match.start() for match in _OPENING.finditer(text) if not code.has(match.start())
    }
    thought_begins = {
        position for position in thought_begins if thought_ends and position < thought_ends[-1]
    } | {*_find_unclosed(text, code)}
    return _unwrap(_find_last_answer(text, thought_begins, thought_ends).lstrip("\r\n"), True)


def _find_unclosed(text: str, code: "_Code") -> Iterator[int]:
    """Yield where thoughts may begin that have no end: at the beginning of a line."""
    return (
        match.start(1) for match in _OPENING_LINE.finditer(text) if not code.has(match.start(1))
    )


def _find_last_answer(
    text: str, thought_begins: Collection[int], thought_ends: Collection[int]
) -> str:
    """Return the last of what is not blank between the end of thoughts and the next beginning. What
    stands before an end without a beginning is thought too."""
    answer, at, thinks = "", 0, False
    for mark, is_end in sorted(
        [
            *((position, False) for position in thought_begins),
            *((position, True) for position in thought_ends),
        ]
    ):
        if is_end:
            at, thinks = mark, False
        elif not thinks:
            answer, thinks = text[at:mark] if text[at:mark].strip() else answer, True
    return text[at:] if not thinks and text[at:].strip() else answer


def _unwrap(answer: str, is_behind: bool) -> str:
    """Return what stands between the marks of an answer that are around it, behind thoughts."""
    opening = _ANSWER_OPENING.match(answer) if is_behind else None
    if opening is None:
        return answer
    closing = _ANSWER_CLOSINGS.get(opening[1].lower(), f"</{opening[1]}>")
    return answer[opening.end() :].partition(closing)[0]


class _Code:
    """Parts of a text that are code: strings in a line, and blocks that are Python."""

    def __init__(self, text: str) -> None:
        spans = [match.span() for match in _STRING.finditer(text)]
        spans += [
            (block.begin, block.end) for block in find_blocks(text) if parse_python(block.text)
        ]
        self._begins, self._ends = list[int](), list[int]()
        for begin, end in sorted(spans):
            if not self._ends or end > self._ends[-1]:
                self._begins.append(begin)
                self._ends.append(end)

    def has(self, at: int) -> bool:
        """Tell whether a character is in code."""
        number = bisect(self._begins, at)
        return number > 0 and at < self._ends[number - 1]

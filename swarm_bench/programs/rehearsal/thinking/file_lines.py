"""Reads what file-reading tools and `cat -n` print, in any of the forms they have for it."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from swarm_bench.programs.rehearsal.thinking.prompts import drop_reminders

_NUMBERED = re.compile(r"^(?:Output: )?\s*(\d{1,9})(?:\t|→|\| |: |:$|\|$)(.*)$")
_SHOWN_RANGE = re.compile(r"\bshowing lines (\d{1,9})-(\d{1,9}) of", re.IGNORECASE)
_BODY = re.compile(r"^--- FILE CONTENT \(truncated\) ---\n|^---\n\n", re.MULTILINE)


def extract_lines(text: str, arguments: Mapping[str, Any]) -> str:
    """Extract the lines asked for, `number<tab>text` each; empty when the text has none of them."""
    first, limit = arguments.get("offset", 1), arguments.get("limit", 200)
    text = drop_reminders(text)
    numbered = _find_numbered(text.split("\n"), first) or _number_lines(text)
    # Behind the last line break of a file some programs see one more line.
    if numbered and not numbered[-1][1] and numbered[-1][0] < first + limit - 1:
        numbered.pop()
    lines = [f"{number}\t{line}" for number, line in numbered if first <= number < first + limit]
    return "\n".join(lines)


def _find_numbered(lines: Sequence[str], first: int) -> list[tuple[int, str]]:
    """Find the run of numbered lines that begins with the first line asked for, or with line 1."""
    matches = [_NUMBERED.match(line) for line in lines]
    for start in (first, 1):
        for index, match in enumerate(matches):
            if match and int(match[1]) == start:
                return _run(matches[index:], start)
    return []


def _run(matches: Sequence[re.Match[str] | None], first: int) -> list[tuple[int, str]]:
    lines: list[tuple[int, str]] = []
    for number, match in enumerate(matches, start=first):
        if match is None or int(match[1]) != number:
            break
        lines.append((number, match[2].rstrip("\r")))
    return lines


def _number_lines(text: str) -> list[tuple[int, str]]:
    """Read text without line numbers: a whole file, or the part that a notice above it names."""
    first = 1
    if shown_range := _SHOWN_RANGE.search(text[:1000]):
        body = _BODY.search(text, shown_range.end())
        if body is None:
            return []
        first, text = int(shown_range[1]), text[body.end() :]
    lines = text.split("\n") if text.strip() else []
    return list(enumerate((line.rstrip("\r") for line in lines), start=first))

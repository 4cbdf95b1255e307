"""JSON with something around it, as programs print it."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from swarm_bench.agents.reading.json_lines import (
    events_in,
    parse_documents,
    parse_objects,
    read_objects,
)
from swarm_bench.text.terminal import plain_text, strip_formatting

FIRST: dict[str, Any] = {"type": "start", "tools": ["grep"], "note": "a [b] {c} é"}
LAST: dict[str, Any] = {"type": "end", "answer": "In `src/[id].py`: {x: 1}"}
MARKS = (
    "",
    "data: ",
    "\ufeff",
    "\0",
    "\x1b[0m",
    "\x1b[38;5;208m",
    "\x1b[?25l\x1b[?2026h",
    "\x1b]0;⠋ working on {it}\x07",
    "\x1b]8;;https://example.com/[a]\x1b\\",
    "\x1b]9;4;3\x1b\\",
    "\x1bP+q544e\x1b\\",
    "\x1b(B",
    "\x1b=",
    "\x1b7\x1b8",
    "\x9b2K",
    "⠙ Thinking {1/3}\r",
    "⠙ Thinking {1/3}\x1b[2K\x1b[1G",
    "[==> ] 30 %\x1b[0G\x1b[K",
    "\a\b",
)
LOG_LINES = (
    "",
    "npm warn deprecated inflight@1.0.6: [leaks] {memory}",
    "(node:71) [DEP0040] DeprecationWarning: The `punycode` module is deprecated.",
    "[dotenv] injected 3 variables from .env",
    "[1/4] Resolving packages...",
    "[2026-11-25T10:00:00Z] INFO ready",
    "{debug: true} loaded",
    "{unfinished",
    '{"unfinished": {[',  # no other lines end it
    "Update available 1.2.3 → 1.3.0 {run `npm i -g it`}",
    "╭──────╮",
    "[12] done",
    '[debug] sent {"type": "end", "answer": "not this"}',
    'trace: {"type": "end", "answer": "nor this"}',
    "]",
    "}",
)
marks, log_lines = st.sampled_from(MARKS), st.sampled_from(LOG_LINES)
ends = st.sampled_from(["\n", "\r\n"])


def read(text: str) -> list[Any]:
    return [item.value for item in parse_objects(text.encode())]


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("line", LOG_LINES)
def test_events_are_read_whatever_stands_around_them(mark: str, line: str) -> None:
    first, last = json.dumps(FIRST), json.dumps(LAST, ensure_ascii=False)
    text = f"{line}\n{mark}{first}\x1b[0m\n{line}\r\n{mark}{last}{mark}\n{line}\n"
    assert read(text) == [FIRST, LAST]
    assert list(events_in(f"{mark}{first}\r".encode())) == [FIRST]


@given(before=st.lists(log_lines), mark=marks, between=st.lists(log_lines), end=ends)
@example(before=[], mark="", between=[], end="\n")
def test_one_document_is_taken_from_between_other_lines(
    before: list[str], mark: str, between: list[str], end: str
) -> None:
    assume(not read("\n".join(before)) and not read("\n".join(between)))
    body = json.dumps(LAST, indent=2).replace("\n", end)
    printed = end.join([*before, f"{mark}{body}\x1b[0m", *between, ""]).encode()
    assert parse_documents(printed) == [LAST]
    assert read(printed.decode())[-1] == LAST


def test_several_documents_are_several() -> None:
    assert parse_documents(b'{"a": 1}\nthen\n{"b": 2}\n') == [{"a": 1}, {"b": 2}]
    assert parse_documents(b'{"a": 1}{"b": 2}') == [{"a": 1}, {"b": 2}]
    assert parse_documents(b'[1]\n["x"]\n{"b": [2]}\n') == [{"b": [2]}]
    assert parse_documents(b'log\n["src/a.py"]\n') == [["src/a.py"]]
    assert parse_documents(b'log {"a": 1}\n{"a": 1} log\nlog\n') == []
    assert parse_documents(b"7") == [7]


def test_objects_in_sequence_in_an_array_and_over_lines() -> None:
    first, last = json.dumps(FIRST), json.dumps(LAST)
    assert (
        read(first + last)
        == read(f"[{first},{last}]")
        == read(f"[{first},\n{last},")
        == [FIRST, LAST]
    )
    spread = json.dumps(LAST, indent=2)
    assert read(f"{first}\n{spread}\n{first}") == [FIRST, LAST, FIRST]
    assert list(events_in((first + last).encode())) == [FIRST, LAST]


def test_an_event_behind_a_cut_one_is_read() -> None:
    first, last = json.dumps(FIRST), json.dumps(LAST)
    for size in range(1, len(first)):
        assert read(f"{first[:size]}\n{last}\n")[-1] == LAST


def test_colours_inside_of_json_are_no_part_of_it() -> None:
    assert read('{\x1b[34m"type"\x1b[0m:\x1b[32m "end"\x1b[0m}') == [{"type": "end"}]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_other_encodings(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "out").write_bytes(f"log [1]\n{json.dumps(LAST)}\n".encode(encoding))
    assert [item.value for item in read_objects(tmp_path / "out")] == [LAST]


@given(st.binary(max_size=200))
def test_plain_text_stays_as_it_is(data: bytes) -> None:
    once = strip_formatting(data)
    assert b"\x1b" not in once
    ascii_only = bytes(byte for byte in data if 32 <= byte < 127 or byte in b"\t\n\r")
    assert strip_formatting(ascii_only) == ascii_only


def test_a_line_that_was_written_again_is_another_one() -> None:
    assert plain_text(b"10 %\r20 %\r\ndone\x1b[0m\n") == "10 %\n20 %\ndone\n"


@pytest.mark.parametrize(
    "hostile",
    [
        "[\n" * 400_000,
        '{"a":\n' * 200_000,
        ("[" + "1," * 500 + "\n") * 2_000,
        "\x1b]0;" * 400_000,
        "\x1b[" * 400_000,
        ("[" * 2000 + "\n") * 400,
    ],
)
def test_hostile_text_takes_seconds(hostile: str) -> None:
    began = time.process_time()
    read(hostile)
    parse_documents(hostile.encode())
    assert time.process_time() - began < 20

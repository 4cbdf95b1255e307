"""What is eight times as long takes about eight times as long to read.

Only what takes long at its full length is compared, in processor time; what takes quadratic time
takes 64 times as long.
"""

import gc
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from swarm_bench.runtime.mcp.client import ServerFailed, open_connection
from tests.fuzz.entries import ENTRIES, run
from tests.fuzz.parts import joined

FACTOR = 8
SHORT = 4_000
YAML = ("task-file", "agent-file")
"""Its library is slow; for brackets in brackets it takes a second, and stops at Python's depth."""
SHORTER = dict.fromkeys(YAML, 500)
"""Characters; fewer where a library is slow."""
AT_ONCE = 0.15
"""Seconds; a long text that takes no longer is not compared."""
READINGS = {"source-file": 5}
"""Grammars that read each text."""
ELSEWHERE = ("mcp-server", "markdown")
"""The first has a test below. Most time of the second is that of the library that reads our text
again: what escapes is tested in `tests/reports/test_text.py`."""
MOST = 3 * FACTOR
"""How many times longer it may take."""
TRIES = 3
PIECES = (
    *("a", " ", "\n", "9", "\\", '"', "'", "`", "{", "[", "(", "<", "a.", "a/", "a:", "a ", "a\n"),
    *("[a](", "](", "&a", "http://a ", "a/b.py:1 ", "$(", "{{", "<<a ", "cd a;", '{"a":', "[]\n"),
    *("- ", "a=b ", "**/", "{a,", "é", "a = 1\n", "a: &a b\n"),
)
FRAMES = {
    "stream-claude": '{"type": "result", "subtype": "success", "result": @}',
    "stream-codex": '{"type": "item.completed", "item": {"type": "agent_message", "text": @}}',
    "stream-opencode": '{"type": "text", "part": {"type": "text", "text": @}}',
    "task-file": "tasks:\n- id: a\n  title: a\n  prompt: @\n",
    "mode-file": '{"mcpServers": {"a": {"command": @}}}',
    "agent-file": "name: a\ncommand: [@]\n",
    "mcp-result": '{"results": [{"path": "a.py", "text": @}]}',
    "expression": "(code @)",
    "command-line": "canopy-mcp -c @",
}
"""Where a text stands as one that was written (`@`), beside the text alone."""


def texts(name: str) -> Iterator[Callable[[int], bytes]]:
    """Yield, for each way to make a long text, a function from its length."""
    frames = [frame for frame in ("@", FRAMES.get(name)) if frame]
    for piece in PIECES:
        for frame in frames[1:] if name in YAML else frames:
            yield partial(_text, frame, piece)


def _text(frame: str, piece: str, size: int) -> bytes:
    text = (piece * (size // len(piece) + 1))[:size]
    return (text if frame == "@" else frame.replace("@", json.dumps(text))).encode()


def seconds(name: str, data: bytes, folder: Path) -> float:
    # Garbage collection takes longer the more objects the other tests have left.
    gc.disable()
    started = time.process_time()
    try:
        run(name, data, folder)
        return time.process_time() - started
    finally:
        gc.enable()


@pytest.mark.timeout(300)  # five grammars read each text of a source file
@pytest.mark.parametrize("name", sorted(ENTRIES.keys() - ELSEWHERE))
def test_a_long_text_is_read_in_linear_time(name: str, tmp_path: Path) -> None:
    length, at_once = SHORTER.get(name, SHORT), AT_ONCE * READINGS.get(name, 1)
    for text in texts(name):
        long, short = list[float](), list[float]()
        # Another text each time: some readers remember what they have read.
        for n in range(TRIES):  # or something else took its time
            long.append(seconds(name, text(FACTOR * length + n), tmp_path))
            if min(long) <= at_once:
                break
            short.append(seconds(name, text(length + n), tmp_path))
            if min(long) < MOST * max(short):
                break
        else:
            pytest.fail(f"{text(60)!r} takes {min(long)} s, and an eighth of it {max(short)} s")


def test_many_variables_are_read_in_linear_time(tmp_path: Path) -> None:
    def spent(variables: int) -> float:
        lines = "".join(f"A{number}=a\n" for number in range(variables))
        return seconds("settings", joined(b"", lines.encode()), tmp_path)

    assert spent(FACTOR * 2_000) < MOST * max(spent(2_000), AT_ONCE / FACTOR)


@pytest.mark.parametrize("value", ['"a"', "1"])
def test_many_keys_are_read_in_linear_time(value: str, tmp_path: Path) -> None:
    """Right ones, and ones each of which is wrong."""

    def spent(keys: int) -> float:
        env = ",".join(f'"{number}":{value}' for number in range(keys))
        text = f'{{"mcpServers":{{"a":{{"command":"sh","env":{{{env}}}}}}}}}'
        return seconds("mode-file", text.encode(), tmp_path)

    assert spent(FACTOR * 1_000) < MOST * max(spent(1_000), AT_ONCE / FACTOR)


def test_a_line_without_an_end_is_read_in_linear_time() -> None:
    """The server says so many MB, and ends."""

    def spent(megabytes: int) -> float:
        says = f"import sys; sys.stdin.readline(); print('a' * {megabytes}_000_000, end='')"
        started = time.process_time()
        with pytest.raises(ServerFailed):
            anyio.run(_greet, {"command": sys.executable, "args": ["-c", says]})
        return time.process_time() - started

    assert spent(2 * FACTOR) < MOST * max(spent(2), AT_ONCE / FACTOR)


async def _greet(config: Mapping[str, Any]) -> None:
    async with open_connection(config, env={}):
        pass

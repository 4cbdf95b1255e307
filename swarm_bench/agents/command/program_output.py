"""Reads what a program printed, or wrote into a file in its folder."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from swarm_bench.agents.command.locators import Locators, Material, Stream, first_text
from swarm_bench.agents.command.output import FILE
from swarm_bench.agents.reading.endings import tail
from swarm_bench.agents.reading.json_lines import broken_off, documents, in_text
from swarm_bench.agents.reading.terminal import plain_text
from swarm_bench.core.outcome import AgentExit
from swarm_bench.runtime.sink import without_secrets
from swarm_bench.runtime.untrusted import opened, read_inside

LARGEST = 32 * 1024 * 1024
"""Bytes of an output; parsed JSON takes many times as much memory."""
TAIL = 1024 * 1024
"""Bytes of a stream that patterns see beside the output."""


@dataclass(frozen=True, kw_only=True)
class ProgramOutput:
    """The output of a program that has ended."""

    material: Material
    empty: bool = False
    """There is nothing in it, or no such file."""
    problem: str | None = None
    """Why it cannot be read, or not to its end, as a sentence without its end."""
    is_cut: bool = False
    """Its JSON breaks off."""
    payload: bytes | None = None


def read_output(
    exit: AgentExit,
    source: str,
    format: Literal["json", "json-lines", "text"],
    answer: Locators = (),
) -> ProgramOutput:
    """Read `stdout`, `stderr`, or `file:` with a path in the agent's folder. Of several documents,
    where one is expected, the one counts that has an `answer`. Never raises on content."""
    streams: dict[Stream, str] = {
        "stdout": tail(exit.stdout, TAIL),
        "stderr": tail(exit.stderr, TAIL),
    }
    name, data = _data(exit, source)
    if data is None or not data.strip():
        what = f"There is {'no' if data is None else 'nothing in'} {name}"
        return _unreadable(streams, what, empty=True)
    if len(data) > LARGEST:
        return _unreadable(streams, f"There are more than {LARGEST // 2**20} MiB in {name}")
    streams["output"] = plain_text(data)
    if format == "text":
        return ProgramOutput(material=Material(texts=streams))
    values = documents(data) if format == "json" else [item.value for item in in_text(data)]
    cut = broken_off(data)
    problem = f"The JSON in {name} is cut after {len(cut.encode())} bytes" if cut else None
    if not values:
        return ProgramOutput(
            material=Material(texts=streams, readable=False),
            problem=problem or _without_json(name, data),
            is_cut=bool(cut),
        )
    if format == "json-lines":
        lines = Material(texts=streams, json=values, is_json=True)
        return ProgramOutput(material=lines, problem=problem, is_cut=bool(cut))
    having = _having(answer, [Material(texts=streams, json=it, is_json=True) for it in values])
    if len(having) != 1:
        what = f"There are {len(values)} JSON documents in {name}, where one is expected"
        return _unreadable(streams, what)
    return ProgramOutput(material=having[0], payload=data)


def _having(answer: Locators, documents: list[Material]) -> list[Material]:
    """Choose of several documents those that have an answer; one that two processes printed from
    one buffer counts once."""
    if len(documents) == 1:
        return documents
    having = [document for document in documents if first_text(answer, document) is not None]
    are_same = all(document.json == having[0].json for document in having)
    return having[:1] if are_same else having


def _without_json(name: str, data: bytes) -> str:
    if b'{"' in data:
        return f"There is no JSON in {name} that begins a line"
    return f"There is no JSON in {name}"


def _unreadable(streams: dict[Stream, str], problem: str, *, empty: bool = False) -> ProgramOutput:
    return ProgramOutput(
        material=Material(texts=streams, readable=False), problem=problem, empty=empty
    )


def _data(exit: AgentExit, source: str) -> tuple[str, bytes | None]:
    match source:
        case "stdout":
            return "standard output", _read(exit.stdout)
        case "stderr":
            return "standard error", _read(exit.stderr)
    inner = source.removeprefix(FILE)
    name = f"file {inner!r} in the agent's folder"
    if exit.home is None:
        return name, None
    data = read_inside(exit.home, inner, LARGEST + 1)
    return name, data and without_secrets(data, exit.secrets)


def _read(path: Path) -> bytes:
    with opened(path) as file:
        return file.read(LARGEST + 1)

"""Reads what a program printed, or wrote into a file in its folder."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from swarm_bench.agents.command.locators import Material, Stream
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
    exit: AgentExit, source: str, format: Literal["json", "json-lines", "text"]
) -> ProgramOutput:
    """Read `stdout`, `stderr`, or `file:` with a path in the agent's folder. Never raises on
    content."""
    streams: dict[Stream, str] = {
        "stdout": tail(exit.stdout, TAIL),
        "stderr": tail(exit.stderr, TAIL),
    }
    name, data = _data(exit, source)
    if data is None:
        return _unreadable(streams, f"There is no {name}", empty=True)
    if not data.strip():
        return _unreadable(streams, f"There is nothing in {name}", empty=True)
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
            problem=problem or f"There is no JSON in {name}",
            is_cut=bool(cut),
        )
    if format == "json-lines":
        material = Material(texts=streams, json=values, is_json=True)
        return ProgramOutput(material=material, problem=problem, is_cut=bool(cut))
    if len(values) > 1:
        several = f"There are {len(values)} JSON documents in {name}, where one is expected"
        return _unreadable(streams, several)
    material = Material(texts=streams, json=values[0], is_json=True)
    return ProgramOutput(material=material, payload=data)


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

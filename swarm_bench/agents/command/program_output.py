"""Reads what a program printed, or wrote into a file in its folder."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from swarm_bench.agents.command.locators import Locators, Material, Stream, first_text
from swarm_bench.agents.command.output import FILE
from swarm_bench.agents.reading.endings import tail
from swarm_bench.agents.reading.json_lines import broken_off, parse_documents, parse_objects
from swarm_bench.core.outcome import AgentExit
from swarm_bench.runtime.sink import replace_secrets
from swarm_bench.runtime.untrusted import open_untrusted, read_inside
from swarm_bench.text.terminal import plain_text

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
    name, data = _read_data(exit, source)
    if data is None or not data.strip():
        sentence = f"There is {'no' if data is None else 'nothing in'} {name}"
        return _build_unreadable(streams, sentence, empty=True)
    if len(data) > LARGEST:
        return _build_unreadable(streams, f"There are more than {LARGEST // 2**20} MiB in {name}")
    streams["output"] = plain_text(data)
    if format == "text":
        return ProgramOutput(material=Material(texts=streams))
    parse = parse_documents if format == "json" else _parse_lines
    values = parse(data)
    cut = broken_off(data)
    problem = f"The JSON in {name} is cut after {len(cut.encode())} bytes" if cut else None
    if not values:
        return ProgramOutput(
            material=Material(texts=streams, readable=False),
            problem=problem or _describe_missing_json(name, data),
            is_cut=bool(cut),
        )
    if format == "json-lines":
        lines = Material(texts=streams, json=values, is_json=True)
        return ProgramOutput(material=lines, problem=problem, is_cut=bool(cut))
    documents = [Material(texts=streams, json=value, is_json=True) for value in values]
    having = _select_with_answer(answer, documents)
    if len(having) != 1:
        sentence = f"There are {len(values)} JSON documents in {name}, where one is expected"
        return _build_unreadable(streams, sentence)
    return ProgramOutput(material=having[0], payload=data)


def _parse_lines(data: bytes) -> list[Any]:
    return [item.value for item in parse_objects(data)]


def _select_with_answer(answer: Locators, documents: list[Material]) -> list[Material]:
    """Choose of several documents those that have an answer; one that two processes printed from
    one buffer counts once."""
    if len(documents) == 1:
        return documents
    having = [document for document in documents if first_text(answer, document) is not None]
    are_same = all(document.json == having[0].json for document in having)
    return having[:1] if are_same else having


def _describe_missing_json(name: str, data: bytes) -> str:
    if b'{"' in data:
        return f"There is no JSON in {name} that begins a line"
    return f"There is no JSON in {name}"


def _build_unreadable(
    streams: dict[Stream, str], problem: str, *, empty: bool = False
) -> ProgramOutput:
    return ProgramOutput(
        material=Material(texts=streams, readable=False), problem=problem, empty=empty
    )


def _read_data(exit: AgentExit, source: str) -> tuple[str, bytes | None]:
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
    return name, data and replace_secrets(data, exit.secrets)


def _read(path: Path) -> bytes:
    with open_untrusted(path) as file:
        return file.read(LARGEST + 1)

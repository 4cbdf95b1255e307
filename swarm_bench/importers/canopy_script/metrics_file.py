"""Reads `metrics.jsonl` as canopy's script writes it, defects included."""

import json
import re
from collections.abc import Callable

from pydantic import ValidationError

from swarm_bench.core.session.records import TrialRecord

Lines = dict[tuple[str, int], TrialRecord]
Warn = Callable[[str], None]

# `bc` prints `.48`; the script puts that into the line as it is.
_NAKED_DECIMAL = re.compile(r'("[A-Za-z_]+":\s*-?)\.(?=\d)')
_FOLDER = re.compile(r"(?!\.)[^/\x00]{1,60}")
_MAX_LISTED = 5


def read_lines(content: bytes, warn: Warn) -> Lines:
    """Read the last line of each agent, by mode and agent, in the order of the file."""
    lines: Lines = {}
    repaired, broken, repeated = [], [], dict[tuple[str, int], int]()
    for number, raw in enumerate(content.split(b"\n"), start=1):
        if not raw.strip():
            continue
        text = raw.decode("utf-8-sig", errors="replace")
        record, was_repaired = _read_record(text)
        if record is None:
            broken.append(number)
            continue
        if was_repaired:
            repaired.append(number)
        key = (record.mode, record.agent)
        repeated[key] = repeated.get(key, 0) + 1
        lines[key] = record
    _report(warn, repaired, broken, repeated)
    return lines


def _read_record(text: str) -> tuple[TrialRecord | None, bool]:
    try:
        return _parse_line(text), False
    except ValueError:
        pass
    try:
        return _parse_line(_NAKED_DECIMAL.sub(r"\g<1>0.", text)), True
    except ValueError:
        return None, False


def _parse_line(text: str) -> TrialRecord:
    """Parse a line. Raises `ValueError`, which pydantic's error is too."""
    try:
        record = TrialRecord.model_validate(json.loads(text), extra="ignore")
    except (ValidationError, RecursionError) as error:
        raise ValueError(str(error)) from error
    if not _FOLDER.fullmatch(record.mode):
        raise ValueError(f"{record.mode!r} cannot be the name of a mode's folder")
    return record


def _report(
    warn: Warn, repaired: list[int], broken: list[int], repeated: dict[tuple[str, int], int]
) -> None:
    if repaired:
        warn(
            f"metrics.jsonl: {_describe_lines(repaired)} not valid JSON (a number such as .48 "
            f"without its zero, which the script writes for times below one second); read with "
            f"the zero."
        )
    if broken:
        warn(f"metrics.jsonl: {_describe_lines(broken)} unreadable and omitted.")
    twice = [f"{mode} agent {agent}" for (mode, agent), times in repeated.items() if times > 1]
    if twice:
        warn(
            "metrics.jsonl has several lines for "
            f"{_join_first(twice)}: the folder was used twice, and the script counts them all; "
            f"here only the last line of each agent counts, which is the one its files belong to."
        )


def _describe_lines(numbers: list[int]) -> str:
    single = len(numbers) == 1
    return f"line{'' if single else 's'} {_join_first(numbers)} {'is' if single else 'are'}"


def _join_first(things: list[int] | list[str]) -> str:
    listing = ", ".join(map(str, things[:_MAX_LISTED]))
    return listing + (f" and {len(things) - _MAX_LISTED} more" if len(things) > _MAX_LISTED else "")

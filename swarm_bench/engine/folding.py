"""Several lines of one trial. A record is appended when its trial ends, and may be once more when
its group has ended and its labels are final. Nothing else replaces what was measured."""

import json
from collections.abc import Collection, Iterable, Iterator
from typing import Any, TypeVar

from swarm_bench.core.session.audit import Key
from swarm_bench.engine.lines import Keyed
from swarm_bench.engine.seal import KEY as SEAL
from swarm_bench.engine.seal import is_intact

Record = TypeVar("Record", bound=Keyed)
Entry = tuple[int, bytes, Record | None]
"""The number of a line, its bytes, and what it says; `None` where it is torn."""


def fold_amendments(lines: Iterable[Entry[Record]], labels: Collection[str]) -> list[Entry[Record]]:
    """Replace each line by its last amendment, which changes nothing but its labels. Other lines
    stay, also a second line of a trial that is no amendment."""
    result = list[Entry[Record]]()
    positions = dict[Key, int]()
    for entry in lines:
        key = _find_key(entry[2])
        position = positions.setdefault(key, len(result)) if key else len(result)
        if position < len(result) and _amends(entry[1], result[position][1], labels):
            result[position] = entry
        else:
            result.append(entry)
    return result


def find_duplicates(lines: Iterable[tuple[int, object, Record | None]]) -> Iterator[int]:
    """Yield the numbers of lines whose trial and attempt have an earlier line."""
    earlier = set[Key]()
    for number, _, record in lines:
        if (key := _find_key(record)) is not None:
            if key in earlier:
                yield number
            earlier.add(key)


def _amends(later: bytes, earlier: bytes, labels: Collection[str]) -> bool:
    """Tell whether a line amends an earlier one: it is as it was appended, and either differs only
    in its labels, or the earlier line has been changed since."""
    if not is_intact(later):
        return False
    return is_intact(earlier) is False or _drop_labels(later, labels) == _drop_labels(
        earlier, labels
    )


def _find_key(record: Keyed | None) -> Key | None:
    """Return what a line is of; `None` for one without a trial's id, which a script wrote."""
    key = record.key if record is not None else None
    return key if key and key[0] else None


def _drop_labels(line: bytes, labels: Collection[str]) -> dict[str, Any] | bytes:
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):  # whoever reads lines may allow more than this parser
        return line
    return {key: value for key, value in content.items() if key not in {*labels, SEAL}}

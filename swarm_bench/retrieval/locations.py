"""Files of the repository that the answer of a search names: as its mode file says, or by anything
that looks like a path."""

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice

from swarm_bench.core.session.experiment import SearchTool
from swarm_bench.runtime.mcp.results import json_values
from swarm_bench.source.references.extraction import references
from swarm_bench.source.references.snapshot import Snapshot, snapshot_of
from swarm_bench.text import tool_results

PATTERN_SECONDS = 2.0
"""Seconds for all matches of a pattern in an answer."""
MAX_LOCATIONS = tool_results.MAX_LOCATIONS
"""Locations of one answer that are looked at."""


class Unreadable(Exception):
    """Why an answer could not be read as its mode file says: a clause."""


@dataclass(frozen=True, kw_only=True)
class Location:
    """A file that an answer names, perhaps with lines of it."""

    path: str
    """Below the workspace, or as the answer has it where it is outside."""
    line: int | None = None
    last: int | None = None
    exists: bool
    """Whether the repository has the file."""


def read_locations(
    answer: str, search: SearchTool | None, workspace: str, files: Collection[str]
) -> list[Location]:
    """Read the locations that an answer names, in its order, each once. `files` are those of the
    repository. Raises `Unreadable`."""
    snapshot = snapshot_of(frozenset(files), workspace)
    if search is not None and search.pattern is not None:
        mentions = _read_by_pattern(answer, search.pattern)
    elif search is not None and search.json_path is not None:
        mentions = _read_by_json_path(answer, search.json_path, snapshot)
    else:
        mentions = _read_mentions(answer, workspace, frozenset(files))
    locations: dict[Location, None] = {}
    for path, line, last in mentions:
        inner_path = snapshot.find_repository_path(
            tool_results.make_relative(path, workspace) or path
        )
        locations[Location(path=inner_path, line=line, last=last, exists=inner_path in files)] = (
            None
        )
        if len(locations) == MAX_LOCATIONS:
            break
    return list(locations)


def list_files(locations: Collection[Location]) -> list[str]:
    """List the files of the repository that are named, each once, in their order."""
    return list(dict.fromkeys(location.path for location in locations if location.exists))


_Mention = tuple[str, int | None, int | None]
"""Path, first and last line."""


def _read_by_pattern(answer: str, pattern: str) -> Iterator[_Mention]:
    import regex  # only for a mode that has one

    compiled = regex.compile(pattern, regex.MULTILINE)
    try:
        for match in compiled.finditer(answer, timeout=PATTERN_SECONDS):
            groups = match.groupdict()
            if groups["path"]:
                yield (
                    groups["path"],
                    _parse_number(groups.get("line")),
                    _parse_number(groups.get("last")),
                )
    except TimeoutError as error:
        raise Unreadable(
            f"its pattern took longer than {PATTERN_SECONDS:g} s for {len(answer)} characters"
        ) from error


def _read_by_json_path(answer: str, json_path: str, snapshot: Snapshot) -> Iterator[_Mention]:
    import jsonpath  # only for a mode that has one

    documents = [value for _, _, value in islice(json_values(answer), MAX_LOCATIONS)]
    if not documents:
        raise Unreadable("it is not JSON, and its mode file has a json_path for it")
    path = jsonpath.compile(json_path)
    for document in documents:
        try:
            values = path.findall(document)
        except (jsonpath.JSONPathError, RecursionError) as error:
            raise Unreadable(f"its json_path cannot be followed: {error}") from error
        for value in values:
            if isinstance(value, str):
                yield value, None, None
            else:
                yield from _read_result(json.dumps(value, ensure_ascii=False), snapshot)


def _read_mentions(answer: str, workspace: str, files: frozenset[str]) -> Iterator[_Mention]:
    """Read what a careful reader would, as in the answer of an agent."""
    for reference in references(answer, files, workspace):
        yield reference.path or reference.mention, reference.first_line, reference.last_line


def _read_result(answer: str, snapshot: Snapshot) -> Iterator[_Mention]:
    for location in tool_results.locations(snapshot.mark(answer), snapshot.root):
        yield snapshot.marks.unmark(location.path), location.line, location.last


def _parse_number(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() else None


def check_pattern(pattern: str) -> None:
    """Raise `ValueError` for a pattern that finds no locations."""
    import regex  # only for a mode that has one

    try:
        names = regex.compile(pattern, regex.MULTILINE).groupindex
    except regex.error as error:
        raise ValueError(f"has a pattern that is no regular expression: {error}") from error
    if "path" not in names:
        raise ValueError("has a pattern without the named group 'path': (?P<path>...)")


def check_json_path(json_path: str) -> None:
    """Raise `ValueError` for what is no JSONPath."""
    from jsonpath import JSONPathEnvironment, JSONPathError  # only for a mode that has one

    try:
        JSONPathEnvironment().compile(json_path)
    except JSONPathError as error:
        raise ValueError(f"has a json_path that is none: {error}") from error

"""The fourth witness: what an agent reached beside the servers of its mode.

A baseline can copy its clone and start the tool there, ask a service by HTTP, read an index that
somebody else has built, or call a tool under its bare name. Seen are programs in the process tree,
as far as they live long enough to be sampled, and the commands, paths and tools of the transcript.
A name in a command proves less than a server that is connected: it makes a sentence and no label.

Answers lie where an agent may reach them with its user's rights: the original repository, the
results, the task file. Whoever names one of them in a command, or has a tool read it, may have the
answer from there.
"""

import posixpath
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import islice, takewhile
from typing import Literal

from swarm_bench.core.outcome import Outcome
from swarm_bench.core.treatment.evidence import LONGEST_OUTSIDE, MOST_OUTSIDE
from swarm_bench.retrieval.canopy.backends import QUERIES, ROUTES
from swarm_bench.retrieval.reach.command_lines import Command, expand_process, find_commands
from swarm_bench.retrieval.reach.program_names import (
    find_copied_names,
    find_loaded_names,
    find_names,
    find_packages,
    find_started,
    normalise,
)
from swarm_bench.retrieval.reach.targets import (
    LOOPBACK,
    PATTERNED,
    Address,
    find_addresses,
    find_paths,
    find_read_folders,
    is_below,
)

_LONGEST_CLAUSE = LONGEST_OUTSIDE - 50
PATIENCE = 5.0
"""Seconds for the commands of one agent, which may have written whatever it liked."""
_WHICH = re.compile(
    r"(?:\$\(|`)\s*(?:which|command\s+-v|type\s+-[pP])\s+([\w.@-]+)\s*(?:2>\s*/dev/null\s*)?[)`]"
)
"""The path of a program: it stands for the program."""
_VARIABLE = re.compile(
    r"""(?<![\w$/=-])([A-Za-z_]\w*)=(?:'([^'\n]*)'|"([^"\n]*)"|\(([^()\n]*)\)|([\w./@:~+-]+))"""
    r"""|"\$\{(\w+)\[@\]\}"|\$(\w+)|\$\{(\w+)\}"""
)
"""Variable that is set, or used."""
_PLAIN_VALUE = re.compile(r"[\w./@:~+ -]{1,500}")
_QUOTING = str.maketrans("", "", "'\"\\")
_Source = Literal["process tree", "transcript"]
_Findings = dict[str, dict[_Source, None]]
"""Findings as clauses, and the sources of each."""


@dataclass(frozen=True, kw_only=True)
class ForeignTools:
    """What the other modes of a session give and one mode does not: each with the mode that gives
    it."""

    programs: Mapping[str, str] = field(default_factory=dict)
    """Programs of the servers of other modes, by name; scripts by their whole path."""
    addresses: Mapping[Address, str] = field(default_factory=dict)
    """Addresses of the servers and services of other modes."""
    folders: Mapping[str, str] = field(default_factory=dict)
    """Folders in which the tools of other modes keep an index, by name."""
    tools: Mapping[str, str] = field(default_factory=dict)
    """Tools that the servers of other modes offer, by bare name."""
    canopy: str | None = None
    """The mode with a service of canopy, of which any address would do."""
    workspace: str | None = None
    """Folder in which relative paths begin."""

    def find_uses(
        self, outcome: Outcome, processes: Iterable[Sequence[str]] = ()
    ) -> tuple[str, ...]:
        """Write a sentence for each thing that was reached. `processes` are the arguments of those
        that were seen in the agent's process tree."""
        findings: _Findings = {}
        for source, command in self._find_started(outcome, processes):
            for clause in self._write_clauses(command):
                findings.setdefault(clause, {})[source] = None
        for clause in (*self._find_read(outcome), *self._find_called(outcome)):
            findings.setdefault(clause, {})["transcript"] = None
        sentences = (
            f"It {clause[:_LONGEST_CLAUSE]} ({' and '.join(sources)})."
            for clause, sources in findings.items()
        )
        return tuple(islice(sentences, MOST_OUTSIDE))

    def _find_started(
        self, outcome: Outcome, processes: Iterable[Sequence[str]]
    ) -> Iterator[tuple[_Source, Command]]:
        """Yield every command that may be worth a look, and where it was seen."""
        end = time.monotonic() + PATIENCE
        for argv in processes:
            if time.monotonic() < end and self._may_name("\0".join(argv)):
                yield from (
                    ("process tree", command) for command in _expand_all(expand_process(argv))
                )
        for line in outcome.commands or ():
            if time.monotonic() < end and self._may_name(line):
                yield from (
                    ("transcript", command)
                    for command in _expand_all(find_commands(fill_variables(line)))
                )

    def _write_clauses(self, command: Command) -> Iterator[str]:
        started = find_names(command, self.workspace) | find_loaded_names(command.code)
        for name in sorted(started | find_packages(started)):
            if name in self.programs:
                yield f"started {name}, a program of {self.programs[name]}"
        for name in sorted(set(find_copied_names(command, self.workspace))):
            if name in self.programs:
                yield f"copied {name}, a program of {self.programs[name]}"
        for address in find_addresses(command):
            for target, mode in self.addresses.items():
                if target.covers(address):
                    yield f"asked at an address of {mode}"
            if self.canopy is not None and _is_canopys(address, command):
                yield f"asked {address.name} as one asks the service of {self.canopy}"
        for folder in find_read_folders(command, self.folders):
            yield f"read {folder}, where the tool of {self.folders[folder]} keeps its index"

    def _find_read(self, outcome: Outcome) -> Iterator[str]:
        for path in outcome.paths or ():
            for folder, mode in self.folders.items():
                if is_below(path, folder):
                    yield f"read {folder}, where the tool of {mode} keeps its index"

    def _find_called(self, outcome: Outcome) -> Iterator[str]:
        """Yield tools under the name that their server gives them, as programs print them that do
        not show whose a tool is. A tool of which every call failed is not there."""
        failures = outcome.tool_failures or {}
        for tool, calls in (outcome.tool_calls or {}).items():
            if tool in self.tools and failures.get(tool, 0) < calls:
                yield f"called {tool}, a tool of {self.tools[tool]}"

    def _may_name(self, text: str) -> bool:
        return (
            self._signs is not None
            and self._signs.search(normalise(text.translate(_QUOTING))) is not None
        )

    @cached_property
    def _signs(self) -> "re.Pattern[str] | None":
        """Texts one of which a command has that reaches anything: a look at each is dear."""
        signs = {normalise(name).rpartition("/")[2] for name in self.programs}
        signs |= {str(address.port) for address in self.addresses}
        signs |= {address.host for address in self.addresses if address.host != LOOPBACK}
        signs |= {normalise(name) for name in self.folders}
        signs |= {normalise(route) for route in (*ROUTES, *QUERIES) if self.canopy is not None}
        return re.compile("|".join(map(re.escape, sorted(signs)))) if signs else None


def _expand_all(commands: Iterable[Command]) -> Iterator[Command]:
    """Yield the commands, and those that texts in other languages start among them."""
    for command in commands:
        yield command
        if command.code:
            yield from find_started(command.code)


def fill_variables(line: str) -> str:
    """Fill in a line those of its variables that it sets itself, and the paths of programs."""
    values: dict[str, str] = {}

    def fill(match: "re.Match[str]") -> str:
        if name := match[6] or match[7] or match[8]:
            return values.get(name, match[0])
        value = next((text for text in match.group(2, 3, 4, 5) if text is not None), "")
        value = value.translate(_QUOTING)
        if _PLAIN_VALUE.fullmatch(value):
            values[match[1]] = value
        return match[0]

    return _VARIABLE.sub(fill, _WHICH.sub(r"/usr/bin/\1", line))


def _is_canopys(address: Address, command: Command) -> bool:
    """Tell whether a request to this machine is to a service of canopy, wherever it listens."""
    if address.host != LOOPBACK:
        return False
    path = address.path.rstrip("/")
    text = " ".join((*command.argv, command.code))
    return path in ROUTES or (path in QUERIES and re.search(r"\brepo\b", text) is not None)


_PRINTING = frozenset({"echo", "printf"})
"""Programs that do nothing with the paths among their arguments, but write them."""
_DESCENDING = frozenset({"find", "rg", "ag", "fd", "fdfind", "tree"})
"""Programs that look into all that lies below a path."""
_IF_ASKED = re.compile(
    r"(?:ls -\w*R|(?:cp|[ef]?grep) -\w*[rR])\w*|\w+ --(?:dereference-)?recursive"
)
_SHALLOW = re.compile(r"-maxdepth|--max-?depth(=.*)?|-d")
_WILD = re.compile(r"[*?\[]")
_OTHERS_FOLDER = re.compile(r"/proc/[^/]+/cwd(?=/|$)")
_IN_CODE = re.compile(r"[^\s'\"`()\[\]{},;=<>|&$]+")


@dataclass(frozen=True, kw_only=True)
class AnswerLocations:
    """Locations of the answers to the tasks with keys of a session."""

    places: Mapping[str, str | None] = field(default_factory=dict)
    """Descriptions of what lies at an absolute path and below it; `None` for what is the agent's
    own. The longest path that fits counts."""
    workspace: str = "/"
    """Folder in which relative paths begin."""
    home: str | None = None
    """Folder that `~` stands for, where that is the user's home."""

    def find_reached(self, outcome: Outcome) -> tuple[str, ...]:
        """Write a sentence for each place that was named."""
        places = dict.fromkeys(
            description
            for path in self._find_paths(outcome)
            if (description := self._describe_path(path))
        )
        return tuple(
            f"It reached {description} (transcript)."
            for description in islice(places, MOST_OUTSIDE)
        )

    def _find_paths(self, outcome: Outcome) -> Iterator[str]:
        """Yield the paths of all commands and tools, absolute and without `..`."""
        if not self.places:
            return
        yield from (self._make_absolute(path, "") for path in outcome.paths or ())
        end = time.monotonic() + PATIENCE
        for line in outcome.commands or ():
            for command in find_commands(fill_variables(line)):
                if time.monotonic() > end:
                    return
                for word in _find_arguments(command):
                    yield self._make_absolute(word, command.folder)
                for word in _find_searched(command):
                    yield from self._find_below(self._make_absolute(word, command.folder))

    def _make_absolute(self, path: str, folder: str) -> str:
        home = self.home or self.workspace
        path = re.sub(r"^(~|\$HOME|\$\{HOME\})(?=/|$)", lambda _: home, path)
        path = posixpath.join(self.workspace, folder, path)
        path = re.sub(r"^/proc/(?:thread-)?self/cwd(?=/|$)", lambda _: self.workspace, path)
        path = re.sub(r"^/proc/[^/]+/root(?=/|$)", "/", path)
        return "/" + posixpath.normpath(path).lstrip("/")

    def _find_below(self, top: str) -> Iterator[str]:
        """Yield the places that a search in a folder comes to."""
        yield from (root for root in self.places if f"{root}/".startswith(f"{top.rstrip('/')}/"))

    def _describe_path(self, path: str) -> str | None:
        """Return what lies at a path, or at one that a pattern matches, that the agent has no
        business with."""
        if _OTHERS_FOLDER.match(path):
            return "the working folder of another process"
        return self._describe_place(self._match_pattern(path) if _WILD.search(path) else path)

    def _match_pattern(self, pattern: str) -> str:
        """Return the place that a pattern leads to, the longest one; the pattern where there is
        none."""
        parts = pattern.split("/")
        fitting = [
            root
            for root in self.places
            if len(names := root.split("/")) <= len(parts) and all(map(fnmatchcase, names, parts))
        ]
        return max(fitting, key=len, default=pattern)

    def _describe_place(self, path: str) -> str | None:
        """Return what lies there that the agent has no business with."""
        enclosing = [root for root in self.places if f"{path}/".startswith(f"{root.rstrip('/')}/")]
        return self.places[max(enclosing, key=len)] if enclosing else None


def _find_arguments(command: Command) -> Iterator[str]:
    """Yield what may be a path in a command; the pattern of a search is none."""
    paths = [*command.inputs, *command.outputs, *command.argv[:1]]
    if command.program in PATTERNED:
        paths += find_paths(command)
    elif command.outputs or command.program not in _PRINTING:
        paths += command.argv[1:]
    for path in (*paths, *command.assignments, *_IN_CODE.findall(command.code)):
        path = re.sub(r"\{[^{}]*,[^{}]*\}", "*", path)
        yield from (re.sub(r"^-[A-Za-z](?=/)", "", part) for part in re.split(r"[=:,]", path))


def _find_searched(command: Command) -> Iterator[str]:
    """Yield the folders through which a command searches to the bottom."""
    options = [word for word in command.argv[1:] if word.startswith("-")]
    recursive = (_IF_ASKED.fullmatch(f"{command.program} {option}") for option in options)
    descends = command.program in _DESCENDING or any(recursive)
    if not descends or any(map(_SHALLOW.fullmatch, options)):
        return
    if command.program in PATTERNED:
        yield from find_paths(command)
    elif command.program == "find":  # behind its first option stands what it looks for
        yield from takewhile(lambda word: not word.startswith("-"), command.argv[1:])
    else:
        yield from (word for word in command.argv[1:] if not word.startswith("-"))

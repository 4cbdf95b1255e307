"""Where answers lie that an agent may reach with its user's rights: the original repository, the
results, the task file. Whoever names one of them in a command, or has a tool read it, may have the
answer from there."""

import posixpath
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import islice, takewhile

from swarm_bench.core.outcome import Outcome
from swarm_bench.core.treatment.evidence import MOST_OUTSIDE
from swarm_bench.retrieval.reach.command_lines import Command, find_commands
from swarm_bench.retrieval.reach.outside import PATIENCE, fill_variables
from swarm_bench.retrieval.reach.targets import PATTERNED, find_paths

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
    """Of the tasks of a session with keys."""

    places: Mapping[str, str | None] = field(default_factory=dict)
    """What lies at an absolute path and below it; `None` for what is the agent's own. The longest
    path that fits counts."""
    workspace: str = "/"
    """Where relative paths begin."""
    home: str | None = None
    """What `~` stands for, where that is the user's home."""

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

"""Where answers lie that an agent may reach with its user's rights: the original repository, the
results, the task file. Whoever names one of them in a command, or has a tool read it, may have the
answer from there."""

import posixpath
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from swarm_bench.core.outcome import Outcome
from swarm_bench.core.treatment.evidence import MOST_OUTSIDE
from swarm_bench.retrieval.reach.command_lines import Command, commands_in
from swarm_bench.retrieval.reach.outside import PATIENCE, filled
from swarm_bench.retrieval.reach.targets import PATTERNED, paths_of

_PRINTING = frozenset({"echo", "printf"})
"""Programs that do nothing with the paths among their arguments."""
_IN_CODE = re.compile(r"[^\s'\"`()\[\]{},;=<>|&$]+")


@dataclass(frozen=True, kw_only=True)
class Answers:
    """Of the tasks of a session with keys."""

    places: Mapping[str, str | None] = field(default_factory=dict)
    """What lies at an absolute path and below it; `None` for what is the agent's own. The longest
    path that fits counts."""
    workspace: str = "/"
    """Where relative paths begin."""
    home: str | None = None
    """What `~` stands for, where that is the user's home."""

    def reached(self, outcome: Outcome) -> tuple[str, ...]:
        """Write a sentence for each place that was named."""
        reached = dict.fromkeys(what for path in self._named(outcome) if (what := self._at(path)))
        return tuple(f"It reached {what} (transcript)." for what in islice(reached, MOST_OUTSIDE))

    def _named(self, outcome: Outcome) -> Iterator[str]:
        """Yield the paths of all commands and tools, absolute and without `..`."""
        if not self.places:
            return
        yield from (self._absolute(path, "") for path in outcome.paths or ())
        end = time.monotonic() + PATIENCE
        for line in outcome.commands or ():
            for command in commands_in(filled(line)):
                if time.monotonic() > end:
                    return
                for word in _arguments(command):
                    yield self._absolute(word, command.folder)

    def _absolute(self, path: str, folder: str) -> str:
        home = self.home or self.workspace
        path = re.sub(r"^(~|\$HOME|\$\{HOME\})(?=/|$)", lambda _: home, path)
        return "/" + posixpath.normpath(posixpath.join(self.workspace, folder, path)).lstrip("/")

    def _at(self, path: str) -> str | None:
        """Return what lies there that the agent has no business with."""
        around = [root for root in self.places if f"{path}/".startswith(f"{root.rstrip('/')}/")]
        return self.places[max(around, key=len)] if around else None


def _arguments(command: Command) -> Iterator[str]:
    """Yield what may be a path in a command; the pattern of a search is none."""
    paths = [*command.inputs, *command.outputs, *command.argv[:1]]
    if command.program in PATTERNED:
        paths += paths_of(command)
    elif command.program not in _PRINTING:
        paths += command.argv[1:]
    for path in (*paths, *command.assignments, *_IN_CODE.findall(command.code)):
        yield from (re.sub(r"^-[A-Za-z](?=/)", "", part) for part in re.split(r"[=:,]", path))

"""The word `agent:NAME`: an agent program that is asked in the place of a model."""

import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from swarm_bench.benchmarks.agents.asking import AgentModel, AgentSetup
from swarm_bench.benchmarks.agents.finding import find_agent, identify, needs_argument
from swarm_bench.config.parsing import YAML
from swarm_bench.core import entry_points
from swarm_bench.core.ports import Agent
from swarm_bench.core.roles.language_model import Around, Way
from swarm_bench.core.session.experiment import REHEARSAL, Program
from swarm_bench.environments.local import Hiding, find_shipped
from swarm_bench.models.rehearsal.launch import start_rehearsal
from swarm_bench.retrieval.modes.secrets import collect_secrets
from swarm_bench.runtime.environment import small_environment
from swarm_bench.runtime.homes import Home
from swarm_bench.runtime.ownership import temporary

_FILE = re.compile(r"(?P<spec>.*\.ya?ml)(?::(?P<model>.*))?", re.DOTALL)
_NO_NAME, _LONGEST = re.compile(r"[^A-Za-z0-9]+"), 60
"""Characters of a word that are not in the name of its folder, and the longest such name."""
_HIDDEN_NOTE = (
    "could not see the rows that it was asked, nor the data sets of swarm-bench where that is "
    "installed and was installed from; other copies on this machine it could read"
)
_REHEARSED = "was answered by fixed rules and no model"
_NOT_HIDDEN = (
    "could read the data sets of swarm-bench with their answers, since bubblewrap, which hides "
    "them, does not run here"
)


@dataclass(frozen=True)
class AgentSource:
    """What `agent:NAME` stands for. Nothing is imported before it is needed: the word may come from
    a file that nobody has approved."""

    argument: str
    about: ClassVar = (
        "agent:NAME, or agent:NAME:MODEL: an agent program, as after compare --agent, in a folder "
        "of the case's files."
    )
    ways: ClassVar[frozenset[Way]] = frozenset({"chat"})
    keys: ClassVar[tuple[str, ...]] = ()
    """Its adapter says which; that it is asked at all is a matter of trust."""
    address: ClassVar[None] = None
    free: ClassVar = False
    sampled: ClassVar = True
    repeats: ClassVar = False

    @property
    def spec(self) -> str:
        """The agent, as after `--agent`."""
        return self._parts[0]

    @property
    def model(self) -> str | None:
        """Its model; `None` for the program's own."""
        return self._parts[1] or None

    @cached_property
    def agent(self) -> Agent:
        """The agent. Raises as `find_agent` does."""
        return find_agent(self.spec)

    def program(self, around: Around) -> Program:
        """Find the program, and whether the answers can be hidden from it. Raises `UsageError`."""
        notes = [self._program.note] if self._program.note else []
        notes += [_REHEARSED] if self.model == REHEARSAL else []
        notes.append(_HIDDEN_NOTE if self._hides else _NOT_HIDDEN)
        return self._program.model_copy(update={"note": ", and ".join(notes)})

    @asynccontextmanager
    async def opened(self, around: Around) -> AsyncIterator[AgentModel]:
        """Make a folder for the block, in which it is asked, outside of any repository."""
        answers = (*find_shipped(), *around.answers)
        with temporary() as folder:
            setup = AgentSetup(
                folder=folder,
                model_context=around,
                program=self._program.path,
                model=self.model,
                hiding=Hiding((*answers, folder)) if self._hides else None,
                answers=answers,
                secrets=collect_secrets((), {}, [around.variables]),
                transcript_folder=around.kept
                and around.kept / _NO_NAME.sub("-", self.argument)[:_LONGEST],
            )
            if self.model != REHEARSAL:
                yield AgentModel(self.agent, setup)
                return
            home = Home(path=folder / "home-rehearsal")
            home.make()
            started = start_rehearsal(
                {**small_environment(os.environ), **home.variables},
                (),
                folder / "rehearsal.log",
                secrets=setup.secrets,
            )
            async with started as rehearsal:
                yield AgentModel(self.agent, replace(setup, rehearsal=rehearsal))

    @cached_property
    def _parts(self) -> tuple[str, str | None]:
        """Split the word into the agent and its model."""
        name, _, remainder = self.argument.partition(":")
        attribute, _, model = remainder.partition(":")
        if name.endswith(YAML):
            return name, remainder
        is_ours = entry_points.is_registered("agents", name)
        if not is_ours and entry_points.names_code(class_spec := f"{name}:{attribute}"):
            return class_spec, model
        if match := _FILE.fullmatch(self.argument):
            return match["spec"], match["model"]
        if not is_ours:
            return self.argument, None
        return (self.argument, None) if needs_argument(name) else (name, remainder)

    @cached_property
    def _program(self) -> Program:
        return identify(self.agent, self.spec, self.model)

    @cached_property
    def _hides(self) -> bool:
        """Whether answers can be hidden here. It is decided once: what is noted of the session
        holds for all of it."""
        return Hiding(find_shipped()).works

"""The kit of swarms as JSON: without open files, callables or paths of the session."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from swarm_bench.benchmarks.agents.finding import find_agent, find_agent_file
from swarm_bench.benchmarks.swarm.artefacts import Artefacts
from swarm_bench.benchmarks.swarm.run_plan import list_commits
from swarm_bench.benchmarks.swarm.running.kit import Kit
from swarm_bench.config.text_file import placeholders
from swarm_bench.core.errors import UsageError
from swarm_bench.core.events import Emit
from swarm_bench.core.outcome import BYTES_AS_BASE64
from swarm_bench.core.ports import Agent
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.retrieval.probes.registered import load_probes
from swarm_bench.retrieval.tools import Tools
from swarm_bench.runtime.files import make_folder, write_whole
from swarm_bench.runtime.ownership import temporary
from swarm_bench.runtime.untrusted import read
from swarm_bench.runtime.workspaces.snapshots import PackedSnapshot, open_snapshot, pack_snapshot

OUT = "out"
"""Folder for the files of agents, below that of the process that runs them."""


@dataclass(frozen=True, kw_only=True)
class _PackedAgent:
    spec: str
    """What `--agent` was given."""
    file_name: str | None
    """Name of a YAML file, or of the module of a class."""
    content: bytes


@dataclass(frozen=True, kw_only=True)
class _PackedKit:
    __pydantic_config__ = BYTES_AS_BASE64

    experiment: Experiment
    agent: _PackedAgent
    snapshot: PackedSnapshot
    commits: Mapping[str, PackedSnapshot]
    tools: Tools
    keep_workspaces: bool
    record: bool
    answers: Mapping[str, str]


_PACKED: TypeAdapter[_PackedKit] = TypeAdapter(_PackedKit)
_COPIED_FIELDS = ("experiment", "keep_workspaces", "record", "answers")


async def pack_kit(kit: Kit) -> bytes:
    """Return the kit as JSON, with the content of all copies of the repository, and with its
    secrets. Raises `UsageError` for an agent whose files cannot be sent, `HarnessError` for a
    commit that cannot be copied."""
    values: dict[str, Any] = {name: getattr(kit, name) for name in _COPIED_FIELDS}
    return _PACKED.dump_json(
        _PackedKit(
            agent=_pack_agent(kit.agent_spec),
            snapshot=pack_snapshot(kit.snapshot),
            commits={commit: await _pack_commit(kit, commit) for commit in _list_others(kit)},
            tools=replace(kit.tools, work=Path()),
            **values,
        )
    )


def unpack_kit(content: bytes, folder: Path, emit: Emit) -> Kit:
    """Make a kit that works below the folder. Raises `UnknownName` for an agent that is not
    installed here."""
    values = _PACKED.validate_json(content)
    return Kit(
        agent=_unpack_agent(values.agent, folder / "agent"),
        agent_spec=values.agent.spec,
        snapshot=values.snapshot.unpack(folder / "snapshot.git"),
        commits=values.commits,
        artefacts=Artefacts(folder / OUT, runs=values.experiment.runs),
        tools=replace(values.tools, work=folder),
        emit=emit,
        probes=load_probes(values.experiment.modes),
        **{name: getattr(values, name) for name in _COPIED_FIELDS},
    )


def _list_others(kit: Kit) -> list[str]:
    """List the commits that tasks are asked on and that the copy of the session is not."""
    own = kit.snapshot.repository.clean_commit
    return [commit for commit in list_commits(kit.experiment) if commit != own]


async def _pack_commit(kit: Kit, commit: str) -> PackedSnapshot:
    with temporary(kit.work) as folder:
        async with open_snapshot(kit.snapshot, commit, folder, kit.commits) as snapshot:
            return pack_snapshot(snapshot)


def _pack_agent(spec: str) -> _PackedAgent:
    file = find_agent_file(spec)
    content = b"" if file is None else read(file)
    if "folder" in placeholders(content.decode(errors="replace")):
        raise UsageError(
            f"The agent file {spec} uses {{{{ folder }}}}, and what is in its folder is not sent; "
            "name its programs by paths that are the same on every machine"
        )
    return _PackedAgent(spec=spec, file_name=file.name if file else None, content=content)


def _unpack_agent(packed: _PackedAgent, folder: Path) -> Agent:
    """Find the agent, with its file in the folder."""
    if packed.file_name is None:
        return find_agent(packed.spec)
    make_folder(folder)
    file = folder / Path(packed.file_name).name
    write_whole(file, packed.content)
    if file.suffix == ".py":
        sys.path.append(str(folder))
        return find_agent(packed.spec)
    return find_agent(str(file))

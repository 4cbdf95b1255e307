"""The kit of swarms as JSON: without open files, callables or paths of the session."""

import io
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from swarm_bench.benchmarks.swarm.artefacts import Artefacts
from swarm_bench.benchmarks.swarm.plan.swarms import list_commits
from swarm_bench.benchmarks.swarm.running.kit import Kit
from swarm_bench.core import registry
from swarm_bench.core.errors import UsageError
from swarm_bench.core.events import Emit
from swarm_bench.core.outcome import BYTES_AS_BASE64
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.retrieval.probes.registered import load_probes
from swarm_bench.retrieval.tools import Tools
from swarm_bench.runtime.workspaces.workspace import Snapshot

OUT = "out"
"""Where the files of agents go, below the folder of whoever runs them."""


@dataclass(frozen=True, kw_only=True)
class _Packed:
    __pydantic_config__ = BYTES_AS_BASE64

    experiment: Experiment
    agent: str
    snapshot: Snapshot
    archive: bytes
    """The repository of the snapshot, as a tar file."""
    tools: Tools
    keep_workspaces: bool
    record: bool
    answers: Mapping[str, str]


_PACKED: TypeAdapter[_Packed] = TypeAdapter(_Packed)


def pack_kit(kit: Kit) -> bytes:
    """Return the kit as JSON, with the content of its snapshot, and with its secrets. Raises
    `UsageError` for one that holds a process of the session, or needs the user's repository."""
    if kit.rehearsal is not None:
        raise UsageError("The rehearsal server is a process of the session; choose another --model")
    if list_commits(kit.experiment):
        raise UsageError(
            "Tasks are asked on commits of their own, which are copied from the repository of this "
            "machine when their agents start; run the session here, or omit these tasks"
        )
    values: dict[str, Any] = {name: getattr(kit, name) for name in _COPIED_FIELDS}
    snapshot = replace(kit.snapshot, path=Path())
    tools = replace(kit.tools, work=Path())
    content = _archive_folder(kit.snapshot.path)
    return _PACKED.dump_json(
        _Packed(agent=kit.agent.name, snapshot=snapshot, tools=tools, archive=content, **values)
    )


_COPIED_FIELDS = ("experiment", "keep_workspaces", "record", "answers")


def unpack_kit(content: bytes, folder: Path, emit: Emit) -> Kit:
    """Make a kit that works below the folder. Raises `UnknownName` for an agent that is not
    installed here."""
    values = _PACKED.validate_json(content)
    snapshot = folder / "snapshot.git"
    with tarfile.open(fileobj=io.BytesIO(values.archive)) as archive:
        archive.extractall(snapshot, filter="data")
    return Kit(
        agent=registry.load("agents", values.agent)(),
        snapshot=replace(values.snapshot, path=snapshot),
        artefacts=Artefacts(folder / OUT, runs=values.experiment.runs),
        tools=replace(values.tools, work=folder),
        emit=emit,
        probes=load_probes(values.experiment.modes),
        **{name: getattr(values, name) for name in _COPIED_FIELDS},
    )


def _archive_folder(folder: Path) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.add(folder, arcname=".")
    return buffer.getvalue()

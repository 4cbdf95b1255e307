"""The kit of swarms as JSON, without open files, callables and keys: experiment, agent, copies of
the repository. Variables that modes and agents are started with are those of the other machine."""

import os
import shutil
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from swarm_bench.benchmarks.agents.finding import find_agent, find_agent_file, find_node_agents
from swarm_bench.benchmarks.swarm.artefacts import Artefacts
from swarm_bench.benchmarks.swarm.run_plan import list_commits
from swarm_bench.benchmarks.swarm.running.kit import Kit, find_session_secrets
from swarm_bench.config.located import read_located
from swarm_bench.config.parsing import YAML
from swarm_bench.config.text_file import placeholders, read_text
from swarm_bench.core.errors import UsageError
from swarm_bench.core.events import Emit
from swarm_bench.core.outcome import BYTES_AS_BASE64
from swarm_bench.core.ports import Agent, Described
from swarm_bench.core.roles.executor import OUT, Needs
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.retrieval.canopy.backends import find_named_program, name_program
from swarm_bench.retrieval.modes.secret_parts import redact_secret_parts
from swarm_bench.retrieval.modes.secrets import build_mode_needs, check_text, refuse_keys
from swarm_bench.retrieval.modes.variables import find_texts
from swarm_bench.retrieval.placebo.arm import PLACEBO
from swarm_bench.retrieval.probes.registered import load_probes
from swarm_bench.retrieval.tools import Tools
from swarm_bench.runtime.files import make_folder, write_whole
from swarm_bench.runtime.ownership import temporary
from swarm_bench.runtime.sink import clean_text
from swarm_bench.runtime.untrusted import read
from swarm_bench.runtime.workspaces.snapshots import (
    PackedSnapshot,
    estimate_disk_mb,
    pack_commits,
    pack_snapshot,
)
from swarm_bench.runtime.workspaces.workspace import Snapshot

_KIND = "agent file"


@dataclass(frozen=True, kw_only=True)
class _PackedAgent:
    spec: str
    """What `--agent` was given."""
    file_name: str | None
    """Name of a YAML file, or of the module of a class."""
    content: str


@dataclass(frozen=True, kw_only=True)
class _PackedKit:
    __pydantic_config__ = BYTES_AS_BASE64

    experiment: Experiment
    agent: _PackedAgent
    snapshot: PackedSnapshot
    commits: Mapping[str, PackedSnapshot]
    placebo: Mapping[str, bytes]
    """What placebos answer with, by relative path."""
    programs: Mapping[str, str]
    """What names the canopy programs on every machine; empty for those on the PATH."""
    keep_workspaces: bool
    record: bool
    answers: Mapping[str, str]


_PACKED: TypeAdapter[_PackedKit] = TypeAdapter(_PackedKit)
_COPIED_FIELDS = ("experiment", "keep_workspaces", "record", "answers")


async def pack_kit(kit: Kit) -> bytes:
    """Return the kit as JSON, with the content of all copies of the repository that its swarms
    need. Raises `UsageError` and `ConfigError` for an agent whose files cannot
    be sent, and for keys, which are not; `HarnessError` for a commit that cannot be copied."""
    check_text(kit.experiment.model_dump_json(), kit.secrets)
    with temporary(kit.work) as folder:
        commits = list_commits(kit.experiment)
        packed = await pack_commits(kit.snapshot, commits, folder, kit.commits)
    values: dict[str, Any] = {name: getattr(kit, name) for name in _COPIED_FIELDS}
    return _PACKED.dump_json(
        _PackedKit(
            agent=_pack_agent(kit.agent_spec, kit.secrets),
            snapshot=pack_snapshot(kit.snapshot),
            commits=packed,
            placebo=_read_placebo(kit.work / PLACEBO),
            programs={name: name_program(name, path) for name, path in kit.tools.programs.items()},
            **values,
        )
    )


def unpack_kit(content: bytes, folder: Path, emit: Emit) -> Kit:
    """Make a kit that works below the folder. Raises `UnknownName` for an agent that is not
    installed here."""
    values = _PACKED.validate_json(content)
    for name, material in values.placebo.items():
        make_folder((folder / PLACEBO / name).parent)
        write_whole(folder / PLACEBO / name, material)
    return Kit(
        agent=_unpack_agent(values.agent, folder / "agent"),
        agent_spec=values.agent.spec,
        snapshot=values.snapshot.unpack(folder / "snapshot.git"),
        commits=values.commits,
        artefacts=Artefacts(folder / OUT, runs=values.experiment.runs),
        tools=_build_tools(values, folder),
        emit=emit,
        probes=load_probes(values.experiment.modes),
        **{name: getattr(values, name) for name in _COPIED_FIELDS},
    )


def _read_placebo(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {file.relative_to(folder).as_posix(): read(file) for file in files}


def find_needs(
    experiment: Experiment, agent: Agent, spec: str, tools: Tools, snapshot: Snapshot
) -> Needs:
    """Return what a machine needs to run a swarm; `spec` is what `--agent` was given. Raises
    `UsageError` and `ConfigError` for keys, and for an agent whose files cannot be sent."""
    refuse_keys(experiment.modes)
    _pack_agent(spec, find_session_secrets(experiment, tools))
    of_modes = build_mode_needs(experiment.modes, experiment.agent_env, tools.variables)
    at_once, commits = experiment.at_once, list_commits(experiment)
    disk_mb = estimate_disk_mb(snapshot, commits, at_once)
    needs = replace(of_modes, agents_at_once=at_once, disk_mb=disk_mb)
    needs_no_key = experiment.rehearsal or experiment.inherit_settings
    return add_agent_needs(needs, agent, spec, experiment.agent.path, needs_no_key=needs_no_key)


def add_agent_needs(
    needs: Needs, agent: Agent | None, spec: str, path: str | None, *, needs_no_key: bool
) -> Needs:
    """Add what agents need, whose program has that path; `needs_no_key` is for all agents."""
    abilities = agent.abilities if isinstance(agent, Described) else None
    memory_mb = abilities.memory_mb if abilities else None
    keys = abilities.keys if abilities and not (abilities.keyless or needs_no_key) else ()
    # The program of an agent whose file is sent is found on each node's PATH, unless it is named
    # by a path.
    is_found = path and find_agent_file(spec) and shutil.which(Path(path).name) == path
    programs = (Path(path).name,) if path and is_found else ()
    return replace(
        needs,
        programs=("git", *needs.programs, *programs),
        keys=(*needs.keys, *((keys,) if keys else ())),
        memory_mb=None if memory_mb is None else memory_mb * needs.agents_at_once,
        agents=find_node_agents(spec),
    )


def _build_tools(packed: _PackedKit, folder: Path) -> Tools:
    """Return what modes and agents are started with here. Raises `UsageError` for a variable that
    is not set, `ConfigError` for a program that cannot be run."""
    experiment = packed.experiment
    if missing := [name for name in experiment.agent_env if name not in os.environ]:
        raise UsageError(f"--agent-env {missing[0]}: it is not set here; set it, or omit it")
    return Tools(
        work=folder,
        programs={name: find_named_program(name, word) for name, word in packed.programs.items()},
        user_environment=dict(os.environ),
        agent_env={name: os.environ[name] for name in experiment.agent_env},
        service_url=experiment.service_url,
        inherit_settings=experiment.inherit_settings,
        index_timeout=experiment.limits.index_timeout,
    )


def _pack_agent(spec: str, secrets: Collection[str]) -> _PackedAgent:
    file = find_agent_file(spec)
    if file is None:
        return _PackedAgent(spec=spec, file_name=None, content="")
    if file.suffix in YAML:
        texts = list(find_texts(read_located(file, _KIND).content))
        if any("folder" in placeholders(text) for text in texts):
            raise UsageError(
                f"The agent file {spec} uses {{{{ folder }}}}, and what is in its folder is not "
                "sent; name its programs by paths that are the same on every machine"
            )
        if redact_secret_parts(texts) != texts:
            raise _make_key_error(spec)
    content = read_text(file, _KIND)
    if clean_text(content, secrets) != content:
        raise _make_key_error(spec)
    return _PackedAgent(spec=spec, file_name=file.name, content=content)


def _make_key_error(spec: str) -> UsageError:
    return UsageError(
        f"The agent file {spec} has what could be a key, which is not sent to other machines; set "
        "a variable there, and let it through with --agent-env"
    )


def _unpack_agent(packed: _PackedAgent, folder: Path) -> Agent:
    """Find the agent, with its file in the folder: a module of the same name that is installed here
    is another one."""
    if packed.file_name is None:
        return find_agent(packed.spec)
    make_folder(folder)
    file = folder / Path(packed.file_name).name
    write_whole(file, packed.content)
    if file.suffix != ".py":
        return find_agent(str(file))
    spec = spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    sys.modules[file.stem] = module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return find_agent(packed.spec)

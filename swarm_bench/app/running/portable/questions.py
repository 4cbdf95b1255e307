"""Runs the questions of `retrieve` in another interpreter, with a copy of the repository, and with
the variables of its own machine."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from pydantic import TypeAdapter

from swarm_bench.app.running.portable.groups import (
    NamedFiles,
    PortableGroups,
    make_executor,
    move_to,
    read_files,
)
from swarm_bench.app.running.retrieve import PORTABLE
from swarm_bench.app.setup.agents import list_variable_names, read_agent_environment
from swarm_bench.app.setup.choosing import find_programs
from swarm_bench.app.setup.movable import refuse_values
from swarm_bench.app.setup.retrieve import open_folder
from swarm_bench.benchmarks.retrieve.running import QuestionContext, run_questions
from swarm_bench.config.dotenv_file import read_dotenv
from swarm_bench.config.layers import PREFIX, Settings
from swarm_bench.core.errors import UsageError
from swarm_bench.core.events import Emit
from swarm_bench.core.outcome import BYTES_AS_BASE64
from swarm_bench.core.roles.executor import Deliver, Executor, Needs, PackedSession
from swarm_bench.core.session.cases import CaseDelivery, CaseJob
from swarm_bench.core.session.experiment import Mode
from swarm_bench.core.session.retrieving import RetrieveExperiment
from swarm_bench.engine.group_store import CaseStore
from swarm_bench.retrieval.modes.mode import find_templates
from swarm_bench.retrieval.modes.secrets import build_mode_needs, check_text, refuse_keys
from swarm_bench.retrieval.modes.variables import MODE_FOLDER, find_texts
from swarm_bench.retrieval.tools import Tools
from swarm_bench.runtime.ownership import temporary
from swarm_bench.runtime.workspaces.snapshots import (
    PackedSnapshot,
    estimate_disk_mb,
    pack_commits,
    pack_snapshot,
)


@dataclass(frozen=True, kw_only=True)
class _Context:
    __pydantic_config__ = BYTES_AS_BASE64

    experiment: str
    """Experiment as it is stored; modes of the working folder have relative paths."""
    agent_env: tuple[str, ...]
    """Names of variables that servers get."""
    variables: tuple[str, ...]
    """Names of variables that each machine has to set."""
    canopy_mcp: str | None
    canopy_service: str | None
    files: NamedFiles
    snapshot: PackedSnapshot
    commits: Mapping[str, PackedSnapshot]


_CONTEXT = TypeAdapter(_Context)


class PortableQuestions(PortableGroups):
    """Sessions of `retrieve`."""

    def find_needs(self, kit: QuestionContext, settings: Settings) -> Needs:
        """Return what a machine has to have. Raises `UsageError` for what cannot be run
        elsewhere."""
        refuse_values(settings)
        refuse_keys(kit.experiment.modes)
        read_files(_list_texts(_make_modes(kit)), kit.secrets)
        names = list_variable_names(settings)
        needs = build_mode_needs(kit.experiment.modes, names, kit.tools.variables)
        commits = (task.commit for task in kit.experiment.tasks)
        disk_mb = estimate_disk_mb(kit.snapshot, commits)
        return replace(needs, programs=("git", *needs.programs), disk_mb=disk_mb)

    async def pack(self, kit: QuestionContext, settings: Settings, folder: Path) -> PackedSession:
        """Return the session as plain data, without keys. Raises `UsageError` for what cannot be
        run elsewhere."""
        names, modes = list_variable_names(settings), _make_modes(kit)
        experiment = kit.experiment.model_copy(update={"modes": modes})
        commits = [task.commit for task in experiment.tasks]
        needs = build_mode_needs(modes, names, kit.tools.variables)
        context = _Context(
            experiment=check_text(experiment.model_dump_json(), kit.secrets),
            agent_env=names,
            variables=tuple(name for (name,) in needs.keys),
            canopy_mcp=settings.canopy_mcp,
            canopy_service=settings.canopy_service,
            files=read_files(_list_texts(modes), kit.secrets),
            snapshot=pack_snapshot(kit.snapshot),
            commits=await pack_commits(kit.snapshot, commits, kit.tools.work),
        )
        return PackedSession(
            benchmark=PORTABLE,
            portable=self,
            context=_CONTEXT.dump_json(context),
            out=folder,
            emit=kit.emit,
        )

    async def start(
        self, context: bytes, folder: Path, emit: Emit
    ) -> Executor[CaseJob, CaseDelivery]:
        """Prepare what puts questions below the folder. Raises `UsageError` for files and variables
        that are not on this machine."""
        values = _CONTEXT.validate_json(context)
        move_to(folder / "files", values.files)
        packed = RetrieveExperiment.from_json(values.experiment)
        modes = tuple(_make_absolute(mode) for mode in packed.modes)
        experiment = packed.model_copy(update={"modes": modes})
        tools = _build_tools(values, experiment, folder)
        if missing := [name for name in values.variables if name not in tools.variables]:
            raise UsageError(
                f"The variable {missing[0]}, which a mode names, is not set on this machine, and "
                "keys are not sent; set it"
            )
        kit = QuestionContext(
            experiment=experiment,
            tools=tools,
            snapshot=values.snapshot.unpack(folder / "snapshot.git"),
            emit=emit,
            secrets=tools.collect_secrets(*modes),
            commits=values.commits,
        )
        store = CaseStore(
            experiment=experiment,
            properties={},
            folder=open_folder(folder / "session"),
            to_continue="",
            emit=emit,
            secrets=kit.secrets,
        )
        return make_executor(partial(_run_apart, kit), {}, store, has_limit=False)


async def _run_apart(kit: QuestionContext, job: CaseJob, deliver: Deliver[CaseDelivery]) -> None:
    """Put the questions of a group, in a folder that no other group of this process works in."""
    with temporary(kit.tools.work) as work:
        await run_questions(replace(kit, tools=replace(kit.tools, work=work)), job, deliver)


def _build_tools(values: _Context, experiment: RetrieveExperiment, folder: Path) -> Tools:
    settings = Settings(
        agent_env=list(values.agent_env),
        canopy_mcp=values.canopy_mcp,
        canopy_service=values.canopy_service,
    )
    return Tools(
        work=folder,
        programs=find_programs(settings),
        user_environment=dict(os.environ),
        agent_env=read_agent_environment(settings),
        dotenv=read_dotenv().exclude(PREFIX),
        service_url=experiment.service_url,
        index_timeout=experiment.index_timeout,
    )


def _make_modes(kit: QuestionContext) -> tuple[Mode, ...]:
    return tuple(map(_make_relative, kit.experiment.modes))


def _make_relative(mode: Mode) -> Mode:
    """Name the file of a mode as it is below the working folder, if it is there."""
    source = Path(mode.source)
    if source.is_absolute() and source.is_relative_to(Path.cwd()):
        source = source.relative_to(Path.cwd())
    return mode.model_copy(update={"source": str(source)})


def _make_absolute(mode: Mode) -> Mode:
    return mode.model_copy(update={"source": str(Path(mode.source).absolute())})


def _list_texts(modes: tuple[Mode, ...]) -> Iterator[str]:
    """Yield what may name files: texts of the modes, with their folders filled in."""
    for mode in modes:
        for text in find_texts([mode.servers, *find_templates(mode)]):
            for name in (MODE_FOLDER, f" {MODE_FOLDER} "):
                text = text.replace(f"{{{{{name}}}}}", str(Path(mode.source).parent))
            yield text

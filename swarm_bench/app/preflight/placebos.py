"""Makes the placebos of a session: each server gets a file with the tools that the mode's own
server has just listed, and is greeted like any other. It repeats that server's name to its agents;
the session's record calls it by ours."""

from collections.abc import Sequence
from dataclasses import replace

from swarm_bench.app.setup.prepared import PreparedSession
from swarm_bench.core.errors import HarnessError
from swarm_bench.core.session.experiment import Experiment, Mode, Program
from swarm_bench.retrieval.handshake import Handshake, Handshakes, greet
from swarm_bench.retrieval.modes.mode import render_servers
from swarm_bench.retrieval.placebo.arm import PLACEBO, name_material_file
from swarm_bench.retrieval.placebo.drawing import draw_passages
from swarm_bench.retrieval.placebo.forms import make_placebo_tool
from swarm_bench.retrieval.placebo.material import NAME, VERSION, Identity, Material, Passage
from swarm_bench.runtime.files import store_errors


def list_modes_to_greet(modes: Sequence[Mode], experiment: Experiment) -> list[Mode]:
    """List the modes whose own servers are to be asked: a placebo needs the tools of its mode,
    which may have no trial to run itself."""
    needed = [experiment.mode(mode.control_of[0]) if mode.is_placebo else mode for mode in modes]
    return list({mode.name: mode for mode in needed}.values())


async def make_placebos(
    placebos: Sequence[Mode], ready: PreparedSession, handshakes: Handshakes
) -> Handshakes:
    """Make and greet the placebos; `handshakes` are those of their tools. Raises `UsageError` when
    too few files have nothing to do with the tasks."""
    if not placebos:
        return {}
    experiment, tools = ready.experiment, ready.tools
    folder = tools.work / PLACEBO
    places = await draw_placebo_passages(ready)
    for mode in placebos:
        original = experiment.mode(mode.control_of[0])
        for number, server in enumerate(original.servers):
            path = name_material_file(folder, mode.name, number)
            with store_errors(path):
                _build_material(
                    handshakes[original.name][server], original, experiment, places
                ).write(path)
    values = {"workspace": str(tools.work), PLACEBO: str(folder)}
    async with tools.homes.open_home("home-placebo") as home:
        servers = {mode.name: render_servers(mode, values, {}, home) for mode in placebos}
        answers = await greet(servers, templates=servers, cwd=tools.work, env=tools.env)
    for name, by_server in answers.items():
        for handshake in by_server.values():
            if handshake.problem is not None:
                raise HarnessError(f"{name} could not be started: {handshake.problem}; try again")
    return {
        name: {server: _rename_program(handshake) for server, handshake in by_server.items()}
        for name, by_server in answers.items()
    }


def _rename_program(handshake: Handshake) -> Handshake:
    program = Program(name=NAME, version=VERSION, path=handshake.program.path)
    return replace(handshake, program=program)


async def draw_placebo_passages(ready: PreparedSession) -> tuple[Passage, ...]:
    """Draw what the placebos of the session answer with; none without any. Raises `UsageError`."""
    experiment = ready.experiment
    if not any(mode.is_placebo for mode in experiment.modes):
        return ()
    return await draw_passages(ready.snapshot, experiment.tasks, experiment.seed)


def _build_material(
    handshake: Handshake, mode: Mode, experiment: Experiment, places: tuple[Passage, ...]
) -> Material:
    return Material(
        identity=Identity(name=handshake.name, title=handshake.title, version=handshake.version),
        instructions=handshake.instructions,
        tools=tuple(make_placebo_tool(tool, mode.search) for tool in handshake.tools),
        places=places,
        files=experiment.repository.files,
        seed=experiment.seed,
    )

"""`swarm-bench retrieve`: the tools themselves, without an agent."""

from typing import Any

import typer

from swarm_bench.cli.compare import ask, show_result
from swarm_bench.cli.options import NAMED_MODES, add_named_modes, add_options
from swarm_bench.cli.output.terminal import show, terminal_width
from swarm_bench.cli.output.waiting import show_step
from swarm_bench.cli.variadic import VariadicCommand
from swarm_bench.config.command_line import command_line
from swarm_bench.core.session.designs import RETRIEVE

HELP = """Put questions with known answers to retrieval tools themselves, without any agent: how
much of what is right do they find, how high does it stand, and in how many tokens?

\b
Examples:
  swarm-bench retrieve
  swarm-bench retrieve ./my-server.json
  swarm-bench retrieve --tasks mine --modes bm25 grep canopy ./my-server.json
  swarm-bench retrieve --continue --runs 3

A MODE is asked beside bm25 and grep, or beside those of --modes. Without --tasks, tasks are made
from the repository. It needs no model and costs nothing. bm25 and grep are plain searches: a tool
that does not beat them is not worth its price. Settings, trust and exit codes are those of
`swarm-bench compare`.
"""


def register(app: typer.Typer) -> None:
    app.command(name=RETRIEVE.name, cls=VariadicCommand, help=HELP)(
        add_options(command_line(RETRIEVE), _run, also=[NAMED_MODES])
    )


def _run(typed_options: dict[str, Any]) -> None:
    config, trust = typed_options.pop("config", None), typed_options.pop("trust", False)
    with show_step("starting"):
        # Imported here, so that help and completion answer at once.
        from swarm_bench.app import session
        from swarm_bench.app.running.retrieve import RetrieveCall, resolve
        from swarm_bench.app.trust.approval import approve
        from swarm_bench.cli.output.progress import watch_progress

        resolved = resolve(add_named_modes(typed_options, RETRIEVE.beside), config)
    resolved = approve(resolved, trust=trust, ask=ask, refuse=not resolved.settings.plan)
    call = RetrieveCall(resolved=resolved)
    if resolved.settings.plan:
        show(session.show_plan(call, terminal_width()))
        return
    with watch_progress(quiet=resolved.settings.quiet, spending=False, counted_from=0) as emit:
        result = session.run(call, emit)
    show_result(result)
    result.check()

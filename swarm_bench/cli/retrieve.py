"""`swarm-bench retrieve`: the tools themselves, without an agent."""

from collections.abc import Iterator
from typing import Any

import typer

from swarm_bench.cli.consent import ask
from swarm_bench.cli.designs.running import show_result
from swarm_bench.cli.options import NAMED_MODES, taking, with_named_modes
from swarm_bench.cli.output.terminal import show, terminal_width
from swarm_bench.cli.output.waiting import waiting
from swarm_bench.cli.variadic import VariadicCommand
from swarm_bench.config.command_line import Setting, command_line
from swarm_bench.config.options import REPOSITORY
from swarm_bench.core.session.designs import RETRIEVE, RETRIEVE_OPTIONS

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
_HELP = {
    "modes": "Names of modes, or paths to mode files: each needs a tool that searches.",
    "tasks": "Name of a task suite with answer keys, path to a YAML file, or 'repository': tasks "
    "made from it.",
    "agent_env": "A variable for the servers; NAME alone takes it from here. Never stored.",
    "quality": "Metric that modes are compared by, named before the first question.",
    "quality_margin": "Difference in it that is of no importance.",
    "timeout": "Time that an answer may take: seconds, or 90s, 5m, 1h.",
}
_DEFAULTS = {"runs": "1", "tasks": REPOSITORY, "quality": RETRIEVE.defaults["quality"]}
"""As the help shows them, where that differs from `compare`."""


def register(app: typer.Typer) -> None:
    app.command(name=RETRIEVE.name, cls=VariadicCommand, help=HELP)(
        taking(_settings(), _run, also=[NAMED_MODES])
    )


def _settings() -> Iterator[Setting]:
    for setting in command_line(RETRIEVE):
        if setting.name in RETRIEVE_OPTIONS:
            about = _HELP.get(setting.name) or setting.help
            default = _DEFAULTS.get(setting.name, setting.default)
            yield setting._replace(help=about, default=default)


def _run(typed: dict[str, Any]) -> None:
    config, trust = typed.pop("config", None), typed.pop("trust", False)
    with waiting("starting"):
        # Imported here, so that help and completion answer at once.
        from swarm_bench.app.retrieve import session
        from swarm_bench.app.retrieve.resolving import resolve
        from swarm_bench.app.trust.approval import approve
        from swarm_bench.cli.output.progress import watching

        resolved = resolve(with_named_modes(typed, RETRIEVE.beside), config)
    resolved = approve(resolved, trust=trust, ask=ask, refuse=not resolved.settings.plan)
    if resolved.settings.plan:
        show(session.show_plan(resolved, terminal_width()))
        return
    with watching(quiet=resolved.settings.quiet, spending=False, counted_from=0) as emit:
        result = session.run(resolved, emit)
    show_result(result)
    result.check()

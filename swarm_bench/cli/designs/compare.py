"""`swarm-bench compare`: N agents per mode, at the same time."""

from functools import partial

import typer

from swarm_bench.cli.designs.running import run_command
from swarm_bench.cli.options import NAMED_MODES, add_options
from swarm_bench.cli.variadic import VariadicCommand
from swarm_bench.config.command_line import command_line
from swarm_bench.core.session.designs import COMPARE

HELP = """Compare modes: in each, agents work on the tasks of a suite, in copies of the repository.

\b
Examples:
  swarm-bench compare
  swarm-bench compare ./my-server.json
  swarm-bench compare --modes baseline canopy --agents 2 --runs 5
  swarm-bench compare --modes baseline ./my-server.json --tasks my-tasks.yaml
  swarm-bench compare --modes baseline canopy --controls instructions placebo
  swarm-bench compare --plan
  swarm-bench compare --continue --runs 10
  swarm-bench compare --trust

A MODE is compared with baseline, or stands behind those of --modes.

Every option can also be set as SWARM_BENCH_<NAME> in the environment or in .env, or in
swarm-bench.toml. What those two files, or a session from elsewhere, would run beyond what comes
with swarm-bench runs once you allow it: with --trust, which is remembered for this folder until
it changes, with SWARM_BENCH_TRUST=1 in the environment, or by naming the file with --config.

Progress goes to standard error, the summary to standard output.

Exit codes: 0 the session is complete, 2 wrong usage, 3 the harness or the provider failed or no
agent gave an answer, 4 a gate failed or --max-cost was reached, 130 interrupted.
"""


def register(app: typer.Typer) -> None:
    command = add_options(command_line(COMPARE), partial(run_command, COMPARE), also=[NAMED_MODES])
    app.command(name=COMPARE.name, cls=VariadicCommand, help=HELP)(command)

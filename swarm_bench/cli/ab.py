"""`swarm-bench ab`: one agent at a time."""

import typer

from swarm_bench.cli import options as o
from swarm_bench.cli.running import run_command
from swarm_bench.cli.words import WordsCommand

HELP = """Compares modes with one agent at a time: every task of a suite, a fresh index for each.

\b
Examples:
  swarm-bench ab
  swarm-bench ab --modes baseline canopy --tasks my-tasks.yaml --runs 5

Settings, output and exit codes are those of `swarm-bench compare`.
"""


def register(app: typer.Typer) -> None:
    app.command(name="ab", cls=WordsCommand, help=HELP)(ab)


def ab(
    repo: o.Repo = None,
    modes: o.Modes = None,
    runs: o.Runs = None,
    max_turns: o.MaxTurns = None,
    tasks: o.Tasks = None,
    agent: o.Agent = None,
    model: o.Model = None,
    agent_arg: o.AgentArg = None,
    agent_env: o.AgentEnv = None,
    inherit_settings: o.InheritSettings = None,
    fault: o.Fault = None,
    record: o.Record = None,
    controls: o.Controls = None,
    index: o.Index = None,
    min_connected: o.MinConnected = None,
    timeout: o.Timeout = None,
    index_timeout: o.IndexTimeout = None,
    service_url: o.ServiceUrl = None,
    seed: o.Seed = None,
    output: o.Output = None,
    resume: o.Continue = None,
    plan: o.Plan = None,
    quiet: o.Quiet = None,
    dirty: o.Dirty = None,
    include: o.Include = None,
    keep_workspaces: o.KeepWorkspaces = None,
    require_retrieval: o.RequireRetrieval = None,
    require_verdict: o.RequireVerdict = None,
    trust: o.Trust = None,
    config: o.Config = None,
) -> None:
    given = dict(locals())
    run_command("ab", given)

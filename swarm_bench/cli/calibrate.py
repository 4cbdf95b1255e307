"""`swarm-bench calibrate`: a mode against itself."""

import typer

from swarm_bench.cli import options as o
from swarm_bench.cli.running import run_command
from swarm_bench.cli.words import WordsCommand

HELP = """Compares a mode with itself: by how much do two identical arms differ here, and what
difference could a planned experiment find?

\b
Examples:
  swarm-bench calibrate --mode canopy
  swarm-bench calibrate --mode baseline --tasks my-tasks.yaml --runs 10 --agent claude
  swarm-bench calibrate --continue --runs 20

Runs exactly what `swarm-bench compare` runs, with the second arm called <mode>-again. Settings,
output and exit codes are those of compare; 5 runs unless said otherwise.
"""


def register(app: typer.Typer) -> None:
    app.command(name="calibrate", cls=WordsCommand, help=HELP)(calibrate)


def calibrate(
    repo: o.Repo = None,
    mode: o.OneMode = None,
    agents: o.OneSize = None,
    runs: o.CalibrationRuns = None,
    max_turns: o.MaxTurns = None,
    tasks: o.Tasks = None,
    all_tasks: o.AllTasks = None,
    agent: o.Agent = None,
    model: o.Model = None,
    agent_arg: o.AgentArg = None,
    agent_env: o.AgentEnv = None,
    inherit_settings: o.InheritSettings = None,
    fault: o.Fault = None,
    record: o.Record = None,
    index: o.Index = None,
    min_connected: o.MinConnected = None,
    timeout: o.Timeout = None,
    index_timeout: o.IndexTimeout = None,
    service_url: o.ServiceUrl = None,
    seed: o.Seed = None,
    concurrency: o.Concurrency = None,
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
    name = given.pop("mode")
    run_command("calibrate", {**given, "modes": None if name is None else [name]})

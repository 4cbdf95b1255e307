"""`swarm-bench compare`: N agents per mode, at the same time."""

import typer

from swarm_bench.cli import options as o
from swarm_bench.cli.running import run_command
from swarm_bench.cli.words import WordsCommand

HELP = """Compares modes: in each, agents work on the tasks of a suite, in copies of the repository.

\b
Examples:
  swarm-bench compare
  swarm-bench compare --modes baseline canopy --agents 2 --runs 5
  swarm-bench compare --modes baseline ./my-server.json --tasks my-tasks.yaml
  swarm-bench compare --modes baseline canopy --controls instructions placebo
  swarm-bench compare --plan
  swarm-bench compare --continue --runs 10
  swarm-bench compare --trust

Every option can also be set as SWARM_BENCH_<NAME> in the environment or in .env, or in
swarm-bench.toml. What those two files, or a session from elsewhere, would run beyond what comes
with swarm-bench is run after you said so: with --trust, which is remembered for this folder until
it changes, with SWARM_BENCH_TRUST=1 in the environment, or by naming the file with --config.

Progress goes to standard error, the summary to standard output.

Exit codes: 0 the session is complete, 2 wrong usage, 3 the harness or the provider failed or no
agent gave an answer, 4 a gate failed, 130 interrupted.
"""


def register(app: typer.Typer) -> None:
    app.command(name="compare", cls=WordsCommand, help=HELP)(compare)


def compare(
    repo: o.Repo = None,
    modes: o.Modes = None,
    agents: o.Agents = None,
    runs: o.Runs = None,
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
    controls: o.Controls = None,
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
    run_command("swarm", given)

"""OpenAI's Codex CLI: how its program is started, and how its output is read."""

from swarm_bench.agents.codex.log import FILTER
from swarm_bench.agents.codex.settings import (
    REHEARSAL_KEY,
    as_options,
    as_toml,
    common_settings,
    hidden_settings,
    isolated_settings,
    provider_settings,
    server_settings,
)
from swarm_bench.agents.codex.stream import read_activity, read_outcome
from swarm_bench.agents.reading.installed import PROXIES, installed
from swarm_bench.core.outcome import Activity, AgentExit, AgentRequest, Launch, Outcome
from swarm_bench.core.ports import Abilities, Capabilities
from swarm_bench.core.session.experiment import Program

PROGRAM = "codex"
REHEARSAL_MODEL = "rehearsal"
"""Codex does not know it, and offers it every tool at once. For the models that it knows it hides
MCP tools behind a search of its own, which needs a model that has learned to use it."""
CREDENTIALS = ("CODEX_API_KEY", "CODEX_CA_CERTIFICATE")

ABILITIES = Abilities(
    tested_version="0.169.0",
    supported="~=0.169.0",
    keys=("CODEX_API_KEY",),
    login=(".codex/auth.json",),
    memory_mb=187,
    turn_limit="kept by swarm-bench, which counts requests in its log and stops the program",
    cost=None,
    cache_tokens="read and written; written is 0 when the provider does not say it",
    tool_calls="by name, with failures and refused calls; times and sizes of results from its log",
    compactions=None,
    isolation="own home; no memory files, skills, hooks, plugins or servers of user or workspace",
    limits=(
        "It has no turn limit: it is stopped when it has made one request more than the budget "
        "has; requests of sub-agents count too.",
        "A rate limit ends it at once: it does not ask again.",
        "It gives no cost and no count of compactions.",
        "Turns, tokens per turn, retries, model, servers, times of tools and sizes of their "
        "results are read from its log; without the log they are missing.",
        "When it shortens a result for its model, the size of that tool's results is missing.",
        "A run that was stopped has the tokens of the requests that were answered until then.",
        "It waits up to 60 seconds, or the mode's `start_seconds` if that is more, for the servers "
        "of a mode and does not start without them; such "
        "a trial could not be started.",
        "Models that know its tool search are offered MCP tools only through it, in every mode "
        "alike; a rehearsal offers them at once.",
        "With an MCP server it offers three more tools of its own, for MCP resources.",
        "Without a log-in of its own it takes its key from CODEX_API_KEY only, and no base URL "
        "from the environment.",
        "A refusal that the provider words as part of a message is an empty answer.",
        "With --inherit-settings, servers in the user's config.toml are started as well; and a "
        "mode's server gets its variables from a script that starts it, so their names must be "
        "ones that a shell can set.",
        "Settings of the machine below /etc/codex are read.",
    ),
)


class Codex:
    """Codex without a terminal: `codex exec --json`."""

    name = "codex"
    capabilities = Capabilities()
    abilities = ABILITIES

    def launch(self, request: AgentRequest) -> Launch:
        """Make the command. Raises `UsageError` for a server whose variables cannot be kept off the
        command line."""
        rehearsed = request.rehearsal is not None
        model = REHEARSAL_MODEL if rehearsed else request.model
        options = ["--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
        options += ["--ephemeral"] if not request.inherit_settings else []
        options += ["--model", model] if model is not None else []
        options += as_options(common_settings() | provider_settings(request.rehearsal))
        env = {"RUST_LOG": FILTER}
        if request.inherit_settings:
            servers, headers = hidden_settings(
                request.mcp_config, request.home, request.start_seconds
            )
            options += as_options(servers)
            env |= headers
        else:
            options += [*as_options(isolated_settings()), "--ignore-rules"]
            home, temporary = request.home / ".codex", request.home / "tmp"
            for folder in (home, temporary):
                folder.mkdir(mode=0o700, exist_ok=True)
            # In a file, since all of the machine can read the command line of a process.
            settings = as_toml(server_settings(request.mcp_config, request.start_seconds))
            (home / "config.toml").write_text(settings, encoding="utf-8")
            env |= {"HOME": str(request.home), "CODEX_HOME": str(home)}
            # Below the machine's temporary folder Codex makes no commands of its own, such as
            # apply_patch, for the model's shell; so that folder is another one.
            env |= {"TMPDIR": str(temporary)}
        if rehearsed:
            env |= {REHEARSAL_KEY: "rehearsal"}
        return Launch(
            argv=(
                *(request.program or PROGRAM, "exec", *options, *request.arguments),
                *("--", request.prompt),
            ),
            env=env,
            inherit=() if rehearsed else (*CREDENTIALS, *PROXIES),
            # The request after the last one of the budget shows that it is used up.
            turn_limit=request.max_turns + 1,
        )

    def activity(self, line: bytes) -> Activity | None:
        return read_activity(line)

    def outcome(self, exit: AgentExit) -> Outcome:
        return read_outcome(exit)

    def program(self, model: str | None) -> Program:
        """Identify the installed program. Raises `UsageError` when there is none."""
        return installed(
            self.name,
            program=PROGRAM,
            tested=ABILITIES.tested_version,
            install=f"npm install -g @openai/codex@{ABILITIES.tested_version}",
        )

"""Claude Code: how it is started so that modes differ by their MCP servers alone."""

import json
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

from swarm_bench.agents.reading.installed import PROXIES, installed
from swarm_bench.agents.reading.program_input import escape, map_texts, not_a_command, start_timeout
from swarm_bench.agents.stream_json.stream import read_activity, read_outcome
from swarm_bench.core.outcome import Activity, AgentExit, AgentRequest, Launch, Outcome
from swarm_bench.core.ports import Abilities, Capabilities
from swarm_bench.core.session.experiment import Program
from swarm_bench.runtime.untrusted import read

PROGRAM = "claude"
TESTED = "2.1.329"
INSTALL = f"npm install -g @anthropic-ai/claude-code@{TESTED}"

REHEARSAL_MODEL = "opus"
"""Model that the program takes by default with a key: so a rehearsal's requests look like real
ones."""

TOOLS = ("Agent", "Bash", "Edit", "Glob", "Grep", "NotebookEdit", "Read", "Write")
"""Built-in tools, the same in every mode and for every model: without the list, a mode with an MCP
server has three more of them. Schedules, worktrees, messages and the web are no tools for a
repository."""

CREDENTIALS = (
    "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_BASE_URL",
    "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_SKIP_BEDROCK_AUTH", "ANTHROPIC_BEDROCK_BASE_URL",
    "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK", "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE", "AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE",
    "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_SKIP_VERTEX_AUTH", "ANTHROPIC_VERTEX_BASE_URL",
    "ANTHROPIC_VERTEX_PROJECT_ID", "CLOUD_ML_REGION", "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT",
    "CLAUDE_CODE_USE_FOUNDRY", "ANTHROPIC_FOUNDRY_RESOURCE", "ANTHROPIC_FOUNDRY_BASE_URL",
    "ANTHROPIC_FOUNDRY_API_KEY", "ANTHROPIC_FOUNDRY_AUTH_TOKEN",
)  # fmt: skip
"""Variables that lead to a provider and let the program in there."""

_SETTINGS = {
    # The first request waits for the MCP servers. Without this it leaves after a second, with a
    # server that is still starting silently missing.
    "MCP_CONNECTION_NONBLOCKING": "0",
    "MCP_CONNECT_TIMEOUT_MS": "30000",
    # An index can be built on the first call; and a call that takes long stays in the foreground.
    "MCP_TOOL_TIMEOUT": "600000",
    "CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT": "600000",
    "CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS": "0",
    # All tools are in the first request, whatever the provider: otherwise MCP tools cost a turn
    # of looking them up with one provider and none with another.
    "ENABLE_TOOL_SEARCH": "false",
    "ENABLE_CLAUDEAI_MCP_SERVERS": "false",
    # A sub-agent in the background has no budget of turns, and continues when the main
    # conversation has used up its own.
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    "CLAUDE_CODE_MAX_RETRIES": "3",
    "API_TIMEOUT_MS": "300000",
    # What is measured is the model that was asked for.
    "CLAUDE_CODE_NO_MODEL_FALLBACK": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    # Root may skip the questions for permission only where the program believes to be contained.
    "IS_SANDBOX": "1",
}


class Claude:
    """Claude Code in its headless mode."""

    name = "claude"
    capabilities = Capabilities()
    abilities = Abilities(
        tested_version=TESTED,
        supported="~=2.1",
        keys=(
            *("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN"),
            *("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"),
        ),
        login=(".claude/.credentials.json",),
        memory_mb=268,
        turn_limit="kept by the program (`--max-turns`), for the main conversation",
        cost="as the program reports it, at list prices; with sub-agents and compactions",
        cache_tokens="read and written, per trial and per request",
        tool_calls="from the event stream, with times and sizes of results, those of sub-agents "
        "among them",
        compactions="from the event stream",
        isolation="an empty home; no settings, hooks, plugins, memory or MCP servers of others",
        limits=(
            "Turns are what Claude Code reports: 1, and one for each tool result and compaction. "
            "Its budget counts requests of the main conversation, which stand in `requests`.",
            "Requests of sub-agents are not in the tokens, but in the all-in tokens and the cost; "
            "no budget of turns holds for them.",
            "Of a run with a broken answer, or that an interrupt or the limit of cost ended, the "
            "result does not count all that it charges: the tokens are then the all-in ones, or "
            "missing if there was a sub-agent or a compaction.",
            "Output tokens per request are not known: the event stream has a placeholder.",
            "The time of a call goes from its event to that of its result, so one that waits for "
            "calls of other tools made with it includes the waiting: it makes calls to MCP servers "
            "one by one.",
            "Nothing runs in the background, neither shell commands nor sub-agents.",
            "The tools for the web, schedules, worktrees and skills are not offered; "
            "`--agent-arg=--tools --agent-arg=default` offers the program's own choice.",
            "A subscription is used only through CLAUDE_CODE_OAUTH_TOKEN (`claude setup-token`) or "
            "`--inherit-settings`; its cost is what the API would have asked for.",
            "Credentials of a cloud in files of the home folder are found only when their variable "
            "names them, such as AWS_SHARED_CREDENTIALS_FILE, or with `--inherit-settings`.",
            "The price of a model that the program does not know is marked as unreliable.",
            "Settings that an administrator manages for the whole machine stay in force.",
        ),
    )

    def launch(self, request: AgentRequest) -> Launch:
        temporary = request.home / "tmp"
        temporary.mkdir(exist_ok=True)
        env = {**_SETTINGS, **start_timeout(request.start_seconds), "TMPDIR": str(temporary)}
        if not request.inherit_settings:
            env |= {"HOME": str(request.home), "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}
        inherit: tuple[str, ...] = ()
        if request.rehearsal is not None:
            env |= _build_rehearsal(request.rehearsal)
        else:
            inherit = (*CREDENTIALS, *PROXIES)
        if request.inherit_settings:
            inherit = (*inherit, "CLAUDE_CONFIG_DIR")
        program = request.program or PROGRAM
        return Launch(
            argv=(program, "-p", *_build_options(request), "--", not_a_command(request.prompt)),
            env=env,
            inherit=inherit,
            # With it the program prints its result so far and ends its shells; SIGTERM does not.
            stop_signal=signal.SIGINT,
        )

    def activity(self, line: bytes) -> Activity | None:
        return read_activity(line)

    def outcome(self, exit: AgentExit) -> Outcome:
        outcome = read_outcome(exit)
        requests = outcome.turn_usage
        return replace(outcome, turns_are_requests=False, requests=len(requests or ()) or None)

    def program(self, model: str | None) -> Program:
        """Identify the installed program; any model may exist, since the provider is asked. Raises
        `UsageError` when Claude Code is not installed."""
        return installed(self.name, program=PROGRAM, tested=TESTED, install=INSTALL)


def _build_options(request: AgentRequest) -> list[str]:
    options = ["--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"]
    options += ["--max-turns", str(request.max_turns), "--no-session-persistence"]
    options += ["--strict-mcp-config", "--mcp-config", str(_read_servers(request))]
    if not request.inherit_settings:
        options += ["--setting-sources", "", "--disable-slash-commands"]
    elif request.rehearsal is not None:
        # The user's settings can name a provider, and would come before the environment.
        options += ["--settings", json.dumps({"env": _build_rehearsal(request.rehearsal)})]
    if not any(word.split("=")[0] == "--tools" for word in request.arguments):
        options += ["--tools", ",".join(TOOLS)]
    model = REHEARSAL_MODEL if request.rehearsal is not None else request.model
    if model is not None:
        options += ["--model", model]
    return [*options, *request.arguments]


def _read_servers(request: AgentRequest) -> Path:
    """Write the servers of the mode as the program reads them: it fills in variables once more."""
    text = read(request.mcp_config).decode()
    if "${" not in text:
        return request.mcp_config
    path = request.home / "servers.json"
    servers = json.loads(text)["mcpServers"]
    literals = {name: _escape_server(server) for name, server in servers.items()}
    path.write_text(json.dumps({"mcpServers": literals}), encoding="utf-8")
    return path


def _escape_server(server: dict[str, Any]) -> dict[str, Any]:
    """Protect the values of a server: with a URL the program fills in variables twice, with a
    command once."""
    escaped: dict[str, Any] = map_texts(server, escape)
    return map_texts(escaped, escape) if "url" in server else escaped


def _build_rehearsal(address: str) -> dict[str, str]:
    """Lead to the rehearsal server, and nowhere else: a switch to a cloud would come first."""
    clouds = ("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY")
    return {
        **dict.fromkeys(clouds, "0"),
        "ANTHROPIC_BASE_URL": address,
        "ANTHROPIC_API_KEY": "rehearsal",
    }

"""Alibaba's Qwen Code: how its program is started, and how its output is read."""

import json
from typing import Any

from swarm_bench.agents.qwen.stream import CHATS, read_outcome
from swarm_bench.agents.reading.installed import PROXIES, installed
from swarm_bench.agents.reading.program_input import not_a_command, trust_server
from swarm_bench.agents.stream_json.stream import read_activity
from swarm_bench.core.outcome import Activity, AgentExit, AgentRequest, Launch, Outcome
from swarm_bench.core.ports import Abilities, Capabilities
from swarm_bench.core.session.experiment import Program
from swarm_bench.runtime.untrusted import read

PROGRAM = "qwen"
TESTED_VERSION = "0.24.4"
INSTALL = f"npm install -g @qwen-code/qwen-code@{TESTED_VERSION}"

REHEARSAL_MODEL = "qwen3-coder-plus"
"""Model that the program knows: it asks for nothing to find out about it."""

RETRIES = {"maxRetries": 0}
"""Setting of the program's two outer loops. The inner one has no setting: 7 requests within about
80 seconds, for a rate limit or a provider that fails. With the others around it, it continued for
many minutes."""

CREDENTIALS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL")

DEFAULT_BASE_URL = "https://api.openai.com/v1"
"""The program's own."""

NOT_FROM_WORKSPACE = {
    "QWEN_SYSTEM_MD": "0",
    "QWEN_WRITE_SYSTEM_MD": "0",
    "QWEN_CODE_UNATTENDED_RETRY": "0",
    "QWEN_TLS_INSECURE": "0",
    "QWEN_SANDBOX": "false",
}
"""A `.env` file of the workspace sets what is not set; no setting keeps it from that."""


class Qwen:
    """Qwen Code with an OpenAI-compatible provider, run without a terminal."""

    name = "qwen"
    capabilities = Capabilities()
    abilities = Abilities(
        tested_version=TESTED_VERSION,
        supported="~=0.24.4",
        keys=("OPENAI_API_KEY",),
        login=(".qwen/oauth_creds.json",),
        memory_mb=398,
        turn_limit="kept by the program",
        cost=None,
        cache_tokens="read; written is recorded as 0, because what a provider bills for it is "
        "among the input tokens",
        tool_calls="by name, with failures; times and sizes of results from the conversation in "
        "its home",
        compactions=None,
        isolation="own home and safe mode; settings, memory files, hooks, extensions, skills and "
        "sub-agents of the workspace are not read, its `.env` files are",
        limits=(
            "Variables that are not set otherwise are taken from `.qwen/.env` or `.env` of the "
            "workspace; those for provider, system prompt, sandbox and retries are set always.",
            "The tool for skills is not offered, since it would list the workspace's commands.",
            "Tokens are those of all requests, with sub-agents'; a used-up turn budget has no "
            "result, and its tokens are added up from the requests of the main conversation.",
            "Requests made again after an error are not counted.",
            "With --inherit-settings times of tools and sizes of their results are missing: its "
            "home is then the user's.",
            "An answer that was cut at the model's output limit looks like a whole one, and a "
            "refusal like an empty answer.",
            "When the stream of an answer breaks it asks the model to continue, and joins the "
            "parts; a rehearsal does not continue, so the answer ends in the middle.",
            "An `@name` in the prompt that is a file of the workspace is replaced by its content.",
        ),
    )

    def launch(self, request: AgentRequest) -> Launch:
        servers = json.loads(read(request.mcp_config))["mcpServers"]
        _write_files(request, servers)
        options = ["--output-format", "stream-json", "--yolo"]
        options += ["--max-session-turns", str(request.max_turns)]
        options += ["--mcp-config", str(request.home / "servers.json")]
        # Without a name here it would start every server that any settings file has.
        for name in servers or ("none-of-them",):
            options += ["--allowed-mcp-server-names", name]
        if not request.inherit_settings:
            options += ["--safe-mode", "--exclude-tools", "skill"]
        if request.rehearsal or not request.inherit_settings:
            options += ["--auth-type", "openai"]
        model = REHEARSAL_MODEL if request.rehearsal else request.model
        options += ["--model", model] if model else []
        options += [*request.arguments, f"--prompt={not_a_command(request.prompt)}"]
        inherit = () if request.rehearsal else (*CREDENTIALS, *PROXIES)
        return Launch(
            argv=(request.program or PROGRAM, *options),
            env={**_build_environment(request), **_provider(request)},
            inherit=(*inherit, "QWEN_HOME") if request.inherit_settings else inherit,
            leaves=(CHATS,),
        )

    def activity(self, line: bytes) -> Activity | None:
        return read_activity(line)

    def outcome(self, exit: AgentExit) -> Outcome:
        return read_outcome(exit)

    def program(self, model: str | None) -> Program:
        """Identify the installed program. Raises `UsageError` when it is not on the PATH."""
        return installed(self.name, program=PROGRAM, tested=TESTED_VERSION, install=INSTALL)


def _build_environment(request: AgentRequest) -> dict[str, str]:
    common = {
        "QWEN_CODE_SYSTEM_SETTINGS_PATH": str(request.home / "settings.json"),
        # It would start itself a second time, and a signal would end the first one only.
        "QWEN_CODE_NO_RELAUNCH": "true",
        "QWEN_TELEMETRY_ENABLED": "false",
        "QWEN_USAGE_STATISTICS_ENABLED": "false",
        "QWEN_CODE_SUPPRESS_YOLO_WARNING": "1",
        "NO_COLOR": "1",
        "TMPDIR": str(request.home / "tmp"),
    }
    if request.inherit_settings:
        return common
    return {
        **common,
        **NOT_FROM_WORKSPACE,
        "HOME": str(request.home),
        "QWEN_CODE_SYSTEM_DEFAULTS_PATH": str(request.home / "no-system-defaults.json"),
    }


def _provider(request: AgentRequest) -> dict[str, str]:
    if request.rehearsal is not None:
        return _build_rehearsal(request.rehearsal)
    # Left unset, it would be what a `.env` file of the workspace says.
    is_set = request.environment.get("OPENAI_BASE_URL")
    return {} if is_set else {"OPENAI_BASE_URL": DEFAULT_BASE_URL}


def _build_rehearsal(address: str) -> dict[str, str]:
    return {"OPENAI_BASE_URL": f"{address}/v1", "OPENAI_API_KEY": "rehearsal"}


def _write_files(request: AgentRequest, servers: dict[str, Any]) -> None:
    """Write the servers, and settings that come before the user's and the workspace's."""
    (request.home / "tmp").mkdir(exist_ok=True)
    configured = {"mcpServers": {name: trust_server(server) for name, server in servers.items()}}
    settings = (
        _build_pinned() if request.inherit_settings else {**_bare_settings(), **_build_pinned()}
    )
    if request.rehearsal is not None:
        settings |= _rehearsal_settings(request.rehearsal)
    for name, content in (("servers.json", configured), ("settings.json", settings)):
        (request.home / name).write_text(json.dumps(content, indent=2), encoding="utf-8")


def _rehearsal_settings(address: str) -> dict[str, Any]:
    """Lead to the rehearsal server, and nowhere else: a provider, a log-in or variables in the
    user's own settings would come before the environment and the command line."""
    environment = _build_rehearsal(address)
    url, key = environment["OPENAI_BASE_URL"], environment["OPENAI_API_KEY"]
    model = {"id": REHEARSAL_MODEL, "baseUrl": url, "envKey": "OPENAI_API_KEY"}
    openai = "openai"
    log_in = {"selectedType": openai, "enforcedType": openai, "apiKey": key, "baseUrl": url}
    return {
        "modelProviders": {openai: [model]},
        "env": environment,
        "security": {"auth": log_in},
        "fastModel": REHEARSAL_MODEL,
        "proxy": "",
    }


def _build_pinned() -> dict[str, Any]:
    """Return what is the same for everyone, also with the user's own settings."""
    return {
        "general": {"enableAutoUpdate": False, "preventSystemSleep": False},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "model": {"generationConfig": RETRIES},
        # With it a model has names of MCP tools only, and spends a turn to have one described.
        "tools": {"toolSearch": {"enabled": False}},
        # A job that the model made would keep the program from ending.
        "experimental": {"cron": False},
        "agents": {"crossSessionMessaging": False},
    }


def _bare_settings() -> dict[str, Any]:
    """Turn off what the workspace brings; safe mode does most of it again."""
    return {
        "disableAllHooks": True,
        "skills": {"disabledLevels": ["project", "user", "extension"]},
        "memory": {
            "enableManagedAutoMemory": False,
            "enableManagedAutoDream": False,
            "enableAutoSkill": False,
            "enableTeamMemory": False,
        },
        "ide": {"enabled": False},
    }

"""Google's Gemini CLI: how its program is started, and how its output is read."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from swarm_bench.agents.gemini.home import CHATS, DEBUG_LOG
from swarm_bench.agents.gemini.names import server_alias, treatment_name
from swarm_bench.agents.gemini.stream import read_outcome
from swarm_bench.agents.reading.installed import PROXIES, installed
from swarm_bench.agents.reading.json_lines import (
    Json,
    as_clause,
    as_object,
    as_text,
    events_in,
    may_end_document,
)
from swarm_bench.agents.reading.program_input import escape, map_texts, not_a_command, trust_server
from swarm_bench.core.errors import UsageError
from swarm_bench.core.outcome import Activity, AgentExit, AgentRequest, Launch, Outcome
from swarm_bench.core.ports import Abilities, Capabilities
from swarm_bench.core.session.experiment import Program
from swarm_bench.runtime.untrusted import read

PROGRAM = "gemini"
TESTED_VERSION = "0.61.0"
INSTALL = f"npm install -g @google/gemini-cli@{TESTED_VERSION}"

REHEARSAL_MODEL = "gemini-2.5-pro"
"""Model that the program knows: it asks for nothing to find out about it."""

ATTEMPTS = 4
"""Attempts for one request, with pauses of about 5, 10 and 20 seconds. The program would try 10
times, for minutes, and a trial that failed so is run again anyway."""

NO_FILE = ".swarm-bench-no-context-file"
"""Name of the memory files to look for: none has it."""

CREDENTIALS = (
    "GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA", "GOOGLE_GENAI_API_VERSION",
    "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_PROJECT_ID", "GOOGLE_CLOUD_LOCATION",
    "GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL",
)  # fmt: skip
_SHOWN_ARGUMENTS = (
    "file_path", "absolute_path", "pattern", "query", "command", "dir_path", "path", "symbol",
)  # fmt: skip


class Gemini:
    """Gemini CLI, run without a terminal."""

    name = "gemini"
    capabilities = Capabilities()
    abilities = Abilities(
        tested_version=TESTED_VERSION,
        supported="~=0.61.0",
        keys=(
            *("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI"),
            "GOOGLE_GENAI_USE_GCA",
        ),
        login=(".gemini/oauth_creds.json",),
        memory_mb=345,
        turn_limit="kept by the program",
        cost=None,
        cache_tokens="read; nothing is billed for writing the implicit cache, which is 0 therefore",
        tool_calls="by name, with failures, times and sizes of results; MCP servers, with "
        "failures, from its log",
        compactions=None,
        isolation="own home; settings, `.env` files, hooks, extensions, skills and sub-agents of "
        "the workspace are not read, its `GEMINI.md` is",
        limits=(
            "It does not say which tools it was offered.",
            "The results of calls that were made together are printed together: calls of "
            "several tools have no time then, and neither has a tool that has one of them.",
            "Sizes of tools' results are those in the conversation that it leaves in its home.",
            "Turns are requests that brought text or calls; tokens are those of all requests, with "
            "the ones it makes to choose between models when none is given.",
            "An answer that was cut at the model's output limit looks like a whole one.",
            "`GEMINI.md` files of the workspace are read: no setting keeps them out.",
            "An `@name` in the prompt that is a file of the workspace is replaced by its content.",
            "An MCP server's name is written with `--` for `_`, and must not have `--` itself.",
        ),
    )

    def launch(self, request: AgentRequest) -> Launch:
        """Make the command. Raises `UsageError` for an MCP server whose name the program cannot
        have."""
        servers = json.loads(read(request.mcp_config))["mcpServers"]
        aliases = {server_alias(name): server for name, server in servers.items()}
        user = _home(request.environment) / ".gemini" if request.inherit_settings else None
        _write_settings(request, aliases, user)
        options = ["--output-format", "stream-json", "--skip-trust", "--yolo"]
        # Without a name here it would start every server that any settings file has.
        for alias in aliases or ("none-of-them",):
            options += ["--allowed-mcp-server-names", alias]
        if user is None:
            options += ["--extensions", "none"]
        model = REHEARSAL_MODEL if request.rehearsal else request.model
        options += ["--model", model] if model else []
        options += [*request.arguments, f"--prompt={not_a_command(request.prompt)}"]
        return Launch(
            argv=(request.program or PROGRAM, *options),
            env={**_build_environment(request), **_provider(request.rehearsal)},
            inherit=() if request.rehearsal else (*CREDENTIALS, *PROXIES),
            leaves=(DEBUG_LOG, CHATS),
        )

    def activity(self, line: bytes) -> Activity | None:
        return _read_activity(line)

    def outcome(self, exit: AgentExit) -> Outcome:
        return read_outcome(exit)

    def program(self, model: str | None) -> Program:
        """Identify the installed program. Raises `UsageError` when it is not on the PATH."""
        return installed(self.name, program=PROGRAM, tested=TESTED_VERSION, install=INSTALL)


def _build_environment(request: AgentRequest) -> dict[str, str]:
    common = {
        "GEMINI_CLI_HOME": str(request.home),
        # It leaves reports of errors there, with whole conversations.
        "TMPDIR": str(request.home / "tmp"),
        "GEMINI_DEBUG_LOG_FILE": str(request.home / DEBUG_LOG),
        # It would start itself a second time, to give the second one more memory.
        "GEMINI_CLI_NO_RELAUNCH": "true",
        "GEMINI_TELEMETRY_ENABLED": "false",
        "NO_BROWSER": "true",
        "NO_COLOR": "1",
    }
    if request.inherit_settings:
        return common
    nowhere = str(request.home / "no-system-settings.json")
    return {
        **common,
        "HOME": str(request.home),
        "GEMINI_CLI_SYSTEM_SETTINGS_PATH": nowhere,
        "GEMINI_CLI_SYSTEM_DEFAULTS_PATH": nowhere,
    }


def _provider(rehearsal: str | None) -> dict[str, str]:
    if rehearsal is None:
        return {}
    # Left unset, a proxy would be what a `.env` file of the user says.
    proxies = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy")
    return {
        **dict.fromkeys(proxies, ""),
        "GOOGLE_GEMINI_BASE_URL": rehearsal,
        "GEMINI_API_KEY": "rehearsal",
    }


def _write_settings(request: AgentRequest, servers: dict[str, Any], user: Path | None) -> None:
    """Make its folder below `request.home`. With `user`, links lead to that folder's files, and its
    settings are ours with the user's beside them: the user's own file stays as it is."""
    folder = request.home / ".gemini"
    folder.mkdir()
    (request.home / "tmp").mkdir(exist_ok=True)
    literals = {name: _escape_server(trust_server(server)) for name, server in servers.items()}
    settings: dict[str, Any] = {"mcpServers": literals}
    if user is None:
        settings |= _bare_settings()
    else:
        for entry in user.iterdir() if user.is_dir() else ():
            if entry.name not in ("settings.json", "tmp", "history"):
                (folder / entry.name).symlink_to(entry)
        settings = _read_user_settings(user / "settings.json") | settings
    for group, values in _build_pinned(request.max_turns).items():
        settings[group] = {**settings.get(group, {}), **values}
    if _has_key(request):
        security = settings.setdefault("security", {})
        security["auth"] = {**as_object(security.get("auth")), **_log_in(request.rehearsal)}
    text = json.dumps(settings, indent=2)
    (folder / "settings.json").write_text(text, encoding="utf-8")


def _escape_server(server: dict[str, Any]) -> dict[str, Any]:
    """Protect the values of a server: variables are filled in, and then once more in `env` and
    `headers`, where a backslash before the `$` keeps it."""
    twice = {
        key: map_texts(server[key], lambda value: value.replace("$", "\\$"))
        for key in ("env", "headers")
        if key in server
    }
    escaped: dict[str, Any] = map_texts({**server, **twice}, escape)
    return escaped


def _home(environment: Mapping[str, str]) -> Path:
    """Return the user's home as the program determines it."""
    home = environment.get("HOME")
    return Path(home) if home else Path.home()


def _log_in(rehearsal: str | None) -> dict[str, str]:
    key = "gemini-api-key"
    # What the user's settings enforce would end a rehearsal.
    return {"selectedType": key} | ({"enforcedType": key} if rehearsal is not None else {})


def _has_key(request: AgentRequest) -> bool:
    """Tell whether it is to use an API key. With an address other than Google's it would look of
    its own accord for a kind of log-in that does not exist yet."""
    other_logins = ("GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA")
    uses_other = any(request.environment.get(name) == "true" for name in other_logins)
    return request.rehearsal is not None or (
        "GEMINI_API_KEY" in request.environment and not uses_other
    )


def _read_user_settings(file: Path) -> dict[str, Any]:
    """Read the user's settings. Raises `UsageError` when they are not plain JSON: the program
    allows comments in them."""
    if not file.is_file():
        return {}
    try:
        settings = json.loads(read(file.resolve()))
    except ValueError as error:
        raise UsageError(
            f"The settings of Gemini CLI in {file} are not plain JSON: {error}; remove what JSON "
            "does not allow, such as comments, to use --inherit-settings"
        ) from error
    return settings if isinstance(settings, dict) else {}


def _build_pinned(max_turns: int) -> dict[str, dict[str, Any]]:
    """Return what is the same for everyone, also with the user's own settings."""
    return {
        "model": {"maxSessionTurns": max_turns},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False,
                    "maxAttempts": ATTEMPTS},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
    }  # fmt: skip


def _bare_settings() -> dict[str, dict[str, Any]]:
    """Turn off what workspace and machine bring; the program's own tools remain."""
    return {
        "general": {"checkpointing": {"enabled": False}, "sessionRetention": {"enabled": False}},
        "context": {"fileName": [NO_FILE]},
        "skills": {"enabled": False},
        "hooksConfig": {"enabled": False},
        "experimental": {"enableAgents": False},
        "ide": {"enabled": False},
        # The settings and `.env` of a folder that is not trusted are not read. `--skip-trust`
        # trusts it for the tools, after its settings would have been read; and an external log-in
        # is one that needs no check, for which `.gemini/.env` would be read after all.
        "security": {"folderTrust": {"enabled": True}, "auth": {"useExternal": True}},
        "advanced": {"ignoreLocalEnv": True},
    }


def _read_activity(line: bytes) -> Activity | None:
    """Read events for the live view, and the result, after which the program ends."""
    if may_end_document(line):
        return Activity(doing="working", over=True)
    return Activity.joined(map(_read_event, events_in(line)))


def _read_event(event: Json) -> Activity | None:
    match event.get("type"):
        case "message" if event.get("role") == "assistant":
            return Activity(doing="writing", over=False)
        case "tool_use":
            return Activity(doing=_describe_call(event), over=False)
        case "result":
            return Activity(doing="done", over=True)
    return None


def _describe_call(event: Json) -> str:
    name = treatment_name(as_text(event.get("tool_name")) or "a tool")
    arguments = as_object(event.get("parameters"))
    argument = next((arguments[key] for key in _SHOWN_ARGUMENTS if arguments.get(key)), "")
    return as_clause(f"{name} {as_text(argument) or ''}", 120) or "working"

"""The settings that Codex is started with, as TOML."""

import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from swarm_bench.agents.reading.json_lines import Json, list_of, object_of, text_of
from swarm_bench.core.errors import UsageError
from swarm_bench.runtime.untrusted import read

CONNECT_SECONDS = 60
"""A server that needs longer is broken: Codex ends without asking its model."""
CALL_SECONDS = 600
IDLE_MILLISECONDS = 60_000
"""Silence of the model's stream after which the request is made again."""
RETRIES = 2

OURS = "SWARM_BENCH_"
REHEARSAL_KEY = f"{OURS}REHEARSAL_KEY"
"""Variable with the key that the rehearsal server is given."""

Settings = dict[str, object]


def common_settings() -> Settings:
    """The same for every mode: what would reach out, read the workspace's own instructions, or
    differ from run to run is off."""
    features = dict.fromkeys(
        # Curated plugins and connectors are fetched from the network at the start. Unbounded
        # retries wait for a refused connection for ever.
        ("plugins", "apps", "hooks", "unbounded_connection_retries"),
        False,
    )
    return {
        "analytics.enabled": False,
        "feedback.enabled": False,
        "check_for_update_on_startup": False,
        "web_search": "disabled",
        # What is for Codex alone must change nothing in the commands that its model runs.
        "shell_environment_policy.exclude": ["RUST_LOG", "CODEX_API_KEY", f"{OURS}*"],
        **{f"features.{name}": value for name, value in features.items()},
    }


def isolated_settings() -> Settings:
    """No memory files and no skills, neither of the workspace nor bundled: the bundled ones are
    named in the prompt by the path of the home, which differs from agent to agent."""
    return {
        "project_doc_max_bytes": 0,
        "skills.include_instructions": False,
        "skills.bundled.enabled": False,
    }


def provider_settings(rehearsal: str | None) -> Settings:
    """A provider of our own, since the built-in one takes no limit of retries. Without a rehearsal
    it is the vendor's, with the log-in that Codex has."""
    provider: Settings = {
        "wire_api": "responses",
        "request_max_retries": RETRIES,
        "stream_max_retries": RETRIES,
        "stream_idle_timeout_ms": IDLE_MILLISECONDS,
        # Over a WebSocket, failures are retried five times, whatever is set here.
        "supports_websockets": False,
    }
    if rehearsal is None:
        provider |= {"name": "OpenAI", "requires_openai_auth": True}
    else:
        provider |= {"name": "rehearsal", "base_url": f"{rehearsal}/v1", "env_key": REHEARSAL_KEY}
    return {"model_provider": "swarm_bench", "model_providers.swarm_bench": provider}


def server_settings(mcp_config: Path, seconds: float) -> Settings:
    """Exactly the servers of the mode. Each is required: only then does Codex wait
    for it, and for `seconds` if that is long."""
    given = object_of(json.loads(read(mcp_config)).get("mcpServers"))
    servers = {_name(name): _server(object_of(server), seconds) for name, server in given.items()}
    return {"mcp_servers": servers} if servers else {}


def hidden_settings(
    mcp_config: Path, home: Path, seconds: float
) -> tuple[Settings, dict[str, str]]:
    """Like `server_settings`, for the command line, which all of the machine can read: the
    variables of a server are in a script below `home` that starts it, and its headers in variables
    of Codex, which are given with the settings. Raises `UsageError` for a name that no shell can
    set."""
    servers = object_of(server_settings(mcp_config, seconds).get("mcp_servers"))
    variables: dict[str, str] = {}
    for number, (name, server) in enumerate(servers.items(), start=1):
        if environment := server.pop("env", None):
            script = home / f"server-{number}.sh"
            script.write_text(_script(name, server, environment), encoding="utf-8")
            server |= {"command": "/bin/sh", "args": [str(script)]}
        headers = object_of(server.pop("http_headers", None))
        known = {f"{OURS}HEADER_{number}_{place}": key for place, key in enumerate(headers)}
        variables |= {variable: headers[key] for variable, key in known.items()}
        if known:
            server["env_http_headers"] = {key: variable for variable, key in known.items()}
    return ({"mcp_servers": servers} if servers else {}), variables


def _script(name: str, server: Json, environment: Json) -> str:
    if bad := [key for key in environment if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", key)]:
        raise UsageError(
            f"With --inherit-settings, Codex cannot be given the MCP server {name!r}, since its "
            f"variable {bad[0]!r} has a name that a shell cannot set; rename it, or omit "
            "the option"
        )
    lines = [f"export {key}={shlex.quote(value)}" for key, value in environment.items()]
    start = shlex.join([server["command"], *server["args"]])
    return "\n".join([*lines, f"exec {start}", ""])


def words(settings: Settings) -> list[str]:
    """Settings as words of the command line."""
    return [word for key, value in settings.items() for word in ("-c", f"{key}={_toml(value)}")]


def file(settings: Settings) -> str:
    """Settings as a file."""
    return "".join(f"{key} = {_toml(value)}\n" for key, value in settings.items())


def _server(server: Json, seconds: float) -> Settings:
    settings: Settings = {
        "required": True,
        "startup_timeout_sec": max(CONNECT_SECONDS, round(seconds)),
        "tool_timeout_sec": CALL_SECONDS,
        "default_tools_approval_mode": "approve",
    }
    if (url := text_of(server.get("url"))) is not None:
        settings["url"] = url
        if headers := object_of(server.get("headers")):
            settings["http_headers"] = _texts(headers)
        return settings
    settings["command"] = text_of(server.get("command")) or ""
    settings["args"] = [str(word) for word in list_of(server.get("args"))]
    if variables := object_of(server.get("env")):
        settings["env"] = _texts(variables)
    return settings


def _name(name: str) -> str:
    """Codex refuses a name with a space in it, and the model sees `_` in its place anyway."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)


def _texts(values: Json) -> dict[str, str]:
    return {name: str(value) for name, value in values.items()}


def _toml(value: object) -> str:
    if isinstance(value, Mapping):
        pairs = (f"{_string(str(key))} = {_toml(item)}" for key, item in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, str):
        return _string(value)
    return json.dumps(value)


def _string(text: str) -> str:
    """A JSON string is a TOML string, but for the one control character that JSON leaves bare."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

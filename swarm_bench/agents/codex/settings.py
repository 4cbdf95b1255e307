"""The settings that Codex is started with, as TOML."""

import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from swarm_bench.agents.reading.json_lines import Json, as_list, as_object, as_text
from swarm_bench.core.errors import UsageError
from swarm_bench.runtime.untrusted import read

CONNECT_SECONDS = 60
"""A server that needs longer is broken: Codex ends without asking its model."""
CALL_SECONDS = 600
IDLE_MILLISECONDS = 60_000
"""Silence of the model's stream after which the request is made again."""
RETRIES = 2

VARIABLE_PREFIX = "SWARM_BENCH_"
REHEARSAL_KEY = f"{VARIABLE_PREFIX}REHEARSAL_KEY"
"""Variable with the key for the rehearsal server."""

Settings = dict[str, object]


def common_settings() -> Settings:
    """Return what is the same for every mode: what would reach out, read the workspace's own
    instructions, or differ from run to run is off."""
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
        "shell_environment_policy.exclude": ["RUST_LOG", "CODEX_API_KEY", f"{VARIABLE_PREFIX}*"],
        **{f"features.{name}": value for name, value in features.items()},
    }


def isolated_settings() -> Settings:
    """Turn off memory files and skills, those of the workspace and the bundled ones: the latter are
    named in the prompt by the path of the home, which differs from agent to agent."""
    return {
        "project_doc_max_bytes": 0,
        "skills.include_instructions": False,
        "skills.bundled.enabled": False,
    }


def provider_settings(rehearsal: str | None) -> Settings:
    """Define a provider of our own, since the built-in one takes no limit of retries. Without a
    rehearsal it is the vendor's, with the log-in that Codex has."""
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
    """List exactly the servers of the mode. Each is required: only then does Codex wait for it, and
    for `seconds` if that is long."""
    configured = as_object(json.loads(read(mcp_config)).get("mcpServers"))
    servers = {
        _name(name): _server(as_object(config), seconds) for name, config in configured.items()
    }
    return {"mcp_servers": servers} if servers else {}


def hidden_settings(
    mcp_config: Path, home: Path, seconds: float
) -> tuple[Settings, dict[str, str]]:
    """Do the same for the command line, which all of the machine can read: the variables of a
    server are in a script below `home` that starts it, and its headers in variables of Codex, which
    are returned with the settings. Raises `UsageError` for a name that no shell can set."""
    servers = as_object(server_settings(mcp_config, seconds).get("mcp_servers"))
    variables: dict[str, str] = {}
    for number, (name, server) in enumerate(servers.items(), start=1):
        if environment := server.pop("env", None):
            script = home / f"server-{number}.sh"
            script.write_text(_build_script(name, server, environment), encoding="utf-8")
            server |= {"command": "/bin/sh", "args": [str(script)]}
        headers = as_object(server.pop("http_headers", None))
        header_variables = {
            key: f"{VARIABLE_PREFIX}HEADER_{number}_{index}" for index, key in enumerate(headers)
        }
        variables |= {variable: headers[key] for key, variable in header_variables.items()}
        if header_variables:
            server["env_http_headers"] = header_variables
    return ({"mcp_servers": servers} if servers else {}), variables


def _build_script(name: str, server: Json, environment: Json) -> str:
    if bad := [key for key in environment if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", key)]:
        raise UsageError(
            f"With --inherit-settings, Codex cannot be given the MCP server {name!r}, since its "
            f"variable {bad[0]!r} has a name that a shell cannot set; rename it, or omit "
            "the option"
        )
    lines = [f"export {key}={shlex.quote(value)}" for key, value in environment.items()]
    start = shlex.join([server["command"], *server["args"]])
    return "\n".join([*lines, f"exec {start}", ""])


def as_options(settings: Settings) -> list[str]:
    """Return settings as options of the command line."""
    return [word for key, value in settings.items() for word in ("-c", f"{key}={_toml(value)}")]


def as_toml(settings: Settings) -> str:
    """Return settings as the text of a file."""
    return "".join(f"{key} = {_toml(value)}\n" for key, value in settings.items())


def _server(server: Json, seconds: float) -> Settings:
    settings: Settings = {
        "required": True,
        "startup_timeout_sec": max(CONNECT_SECONDS, round(seconds)),
        "tool_timeout_sec": CALL_SECONDS,
        "default_tools_approval_mode": "approve",
    }
    if (url := as_text(server.get("url"))) is not None:
        settings["url"] = url
        if headers := as_object(server.get("headers")):
            settings["http_headers"] = _texts(headers)
        return settings
    settings["command"] = as_text(server.get("command")) or ""
    settings["args"] = [str(word) for word in as_list(server.get("args"))]
    if variables := as_object(server.get("env")):
        settings["env"] = _texts(variables)
    return settings


def _name(name: str) -> str:
    """Replace what Codex refuses in a name, such as a space: the model sees `_` in its place
    anyway."""
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
    """Write a string: JSON's form is TOML's, but for the one control character that JSON does not
    escape."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

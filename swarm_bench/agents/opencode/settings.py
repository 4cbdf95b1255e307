"""The settings and the home that OpenCode is started with."""

import json
import re
from pathlib import Path

from swarm_bench.agents.reading.json_lines import Json, as_list, as_object, as_text
from swarm_bench.runtime.untrusted import read

CONNECT_MILLISECONDS = 60_000
"""Time for a server to connect and to list its tools."""
REHEARSAL_MODEL = "rehearsal/rehearsal"

_PLUGIN = "@opencode-ai/plugin"
_ALWAYS = ("OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_LSP_DOWNLOAD")
_ISOLATED = (
    "OPENCODE_DISABLE_PROJECT_CONFIG",
    "OPENCODE_DISABLE_CLAUDE_CODE",
    "OPENCODE_DISABLE_EXTERNAL_SKILLS",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS",
    # Its list of models would be fetched for every agent, and can change between two.
    "OPENCODE_DISABLE_MODELS_FETCH",
)


def build_switches(*, isolated: bool) -> dict[str, str]:
    """Return variables that turn off what reaches out, and what user and workspace bring."""
    return dict.fromkeys((*_ALWAYS, *(_ISOLATED if isolated else ())), "1")


def build_configuration(mcp_config: Path, rehearsal: str | None, seconds: float) -> str:
    """Return the settings as JSON, with exactly the servers of the mode."""
    servers = {
        find_key(name): _build_server(server, seconds)
        for name, server in _build_servers(mcp_config).items()
    }
    settings: Json = {
        "$schema": "https://opencode.ai/config.json",
        "autoupdate": False,
        "share": "disabled",
        "snapshot": False,  # git states of the workspace, to undo: nobody undoes anything here
        "mcp": servers,
    }
    if rehearsal is not None:
        settings |= {"provider": {"rehearsal": _build_provider(rehearsal)}}
        settings |= {"model": REHEARSAL_MODEL, "small_model": REHEARSAL_MODEL}
        # An agent of the user's own can name another model, with a provider that is billed.
        settings |= {"enabled_providers": ["rehearsal"]}
    # It puts variables and files in for `{env:…}` and `{file:…}` wherever they stand in the text.
    return re.sub(r"\{(?=env:|file:)", r"\\u007b", json.dumps(settings, indent=2))


def find_key(name: str) -> str:
    """Return a server's key. OpenCode puts the key, `_` and the tool's name together: so the model
    sees `mcp__<server>__<tool>`, and the output shows which server was called."""
    return f"mcp__{plain(name)}_"


def prepare_home(home: Path, config: str) -> dict[str, str]:
    """Make the home, and return the variables that lead there."""
    folders = {
        "XDG_CONFIG_HOME": home / ".config",
        "XDG_DATA_HOME": home / ".local" / "share",
        "XDG_STATE_HOME": home / ".local" / "state",
        "XDG_CACHE_HOME": home / ".cache",
    }
    folder = folders["XDG_CONFIG_HOME"] / "opencode"
    (folder / "node_modules").mkdir(parents=True, exist_ok=True)
    # It would fetch its plugin package from the network for every new home, although plugins are
    # off. This says that the package is there.
    lock = {"lockfileVersion": 3, "packages": {"": {"dependencies": {_PLUGIN: "*"}}}}
    (folder / "package-lock.json").write_text(json.dumps(lock), encoding="utf-8")
    settings = home / "opencode.json"
    settings.write_text(config, encoding="utf-8")
    paths = {"HOME": home, **folders, "OPENCODE_CONFIG": settings}
    return {name: str(path) for name, path in paths.items()}


def _build_servers(mcp_config: Path) -> Json:
    return as_object(json.loads(read(mcp_config)).get("mcpServers"))


def _build_server(value: object, seconds: float) -> Json:
    server = as_object(value)
    common: Json = {"enabled": True, "timeout": max(CONNECT_MILLISECONDS, round(seconds * 1000))}
    if (url := as_text(server.get("url"))) is not None:
        headers = as_object(server.get("headers"))
        return {"type": "remote", "url": url, "headers": headers, "oauth": False, **common}
    command = [server.get("command"), *as_list(server.get("args"))]
    return {
        "type": "local",
        "command": [str(word) for word in command],
        "environment": as_object(server.get("env")),
        **common,
    }


def _build_provider(rehearsal: str) -> Json:
    limit = {"context": 200_000, "output": 32_000}
    return {
        "npm": "@ai-sdk/openai-compatible",
        "name": "rehearsal",
        "options": {"baseURL": f"{rehearsal}/v1", "apiKey": "rehearsal"},
        "models": {"rehearsal": {"name": "rehearsal", "limit": limit}},
    }


def plain(name: str) -> str:
    """Replace in a server's name what the name of a tool cannot have."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)

"""OpenAI's Codex CLI: how its program is started, and how its output is read."""

import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from swarm_bench.agents.codex.log import FILTER
from swarm_bench.agents.codex.stream import read_activity, read_outcome
from swarm_bench.agents.reading.installed import PROXIES, installed
from swarm_bench.agents.reading.json_lines import Json, as_list, as_object, as_text
from swarm_bench.core.errors import UsageError
from swarm_bench.core.outcome import Activity, AgentExit, AgentRequest, Launch, Outcome
from swarm_bench.core.ports import Abilities, Capabilities
from swarm_bench.core.session.experiment import Program
from swarm_bench.runtime.untrusted import read

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
_CONNECT_SECONDS = 60
"""A server that needs longer is broken: Codex ends without asking its model."""
_CALL_SECONDS = 600
_IDLE_MILLISECONDS = 60_000
"""Silence of the model's stream after which the request is made again."""
_RETRIES = 2
_VARIABLE_PREFIX = "SWARM_BENCH_"
_REHEARSAL_KEY = f"{_VARIABLE_PREFIX}REHEARSAL_KEY"
"""Variable with the key for the rehearsal server."""
Settings = dict[str, object]


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
        options += _as_options(_common_settings() | _provider_settings(request.rehearsal))
        env = {"RUST_LOG": FILTER}
        if request.inherit_settings:
            servers, headers = _hidden_settings(
                request.mcp_config, request.home, request.start_seconds
            )
            options += _as_options(servers)
            env |= headers
        else:
            options += [*_as_options(_isolated_settings()), "--ignore-rules"]
            home, temporary = request.home / ".codex", request.home / "tmp"
            for folder in (home, temporary):
                folder.mkdir(mode=0o700, exist_ok=True)
            # In a file, since all of the machine can read the command line of a process.
            settings = _as_toml(_server_settings(request.mcp_config, request.start_seconds))
            (home / "config.toml").write_text(settings, encoding="utf-8")
            env |= {"HOME": str(request.home), "CODEX_HOME": str(home)}
            # Below the machine's temporary folder Codex makes no commands of its own, such as
            # apply_patch, for the model's shell; so that folder is another one.
            env |= {"TMPDIR": str(temporary)}
        if rehearsed:
            env |= {_REHEARSAL_KEY: "rehearsal"}
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


def _common_settings() -> Settings:
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
        "shell_environment_policy.exclude": ["RUST_LOG", "CODEX_API_KEY", f"{_VARIABLE_PREFIX}*"],
        **{f"features.{name}": value for name, value in features.items()},
    }


def _isolated_settings() -> Settings:
    """Turn off memory files and skills, those of the workspace and the bundled ones: the latter are
    named in the prompt by the path of the home, which differs from agent to agent."""
    return {
        "project_doc_max_bytes": 0,
        "skills.include_instructions": False,
        "skills.bundled.enabled": False,
    }


def _provider_settings(rehearsal: str | None) -> Settings:
    """Define a provider of our own, since the built-in one takes no limit of retries. Without a
    rehearsal it is the vendor's, with the log-in that Codex has."""
    provider: Settings = {
        "wire_api": "responses",
        "request_max_retries": _RETRIES,
        "stream_max_retries": _RETRIES,
        "stream_idle_timeout_ms": _IDLE_MILLISECONDS,
        # Over a WebSocket, failures are retried five times, whatever is set here.
        "supports_websockets": False,
    }
    if rehearsal is None:
        provider |= {"name": "OpenAI", "requires_openai_auth": True}
    else:
        provider |= {"name": "rehearsal", "base_url": f"{rehearsal}/v1", "env_key": _REHEARSAL_KEY}
    return {"model_provider": "swarm_bench", "model_providers.swarm_bench": provider}


def _server_settings(mcp_config: Path, seconds: float) -> Settings:
    """List exactly the servers of the mode. Each is required: only then does Codex wait for it, and
    for `seconds` if that is long."""
    configured = as_object(json.loads(read(mcp_config)).get("mcpServers"))
    servers = {
        _name(name): _server(as_object(config), seconds) for name, config in configured.items()
    }
    return {"mcp_servers": servers} if servers else {}


def _hidden_settings(
    mcp_config: Path, home: Path, seconds: float
) -> tuple[Settings, dict[str, str]]:
    """Do the same for the command line, which all of the machine can read: the variables of a
    server are in a script below `home` that starts it, and its headers in variables of Codex, which
    are returned with the settings. Raises `UsageError` for a name that no shell can set."""
    servers = as_object(_server_settings(mcp_config, seconds).get("mcp_servers"))
    variables: dict[str, str] = {}
    for number, (name, server) in enumerate(servers.items(), start=1):
        if environment := server.pop("env", None):
            script = home / f"server-{number}.sh"
            script.write_text(_build_script(name, server, environment), encoding="utf-8")
            server |= {"command": "/bin/sh", "args": [str(script)]}
        headers = as_object(server.pop("http_headers", None))
        header_variables = {
            key: f"{_VARIABLE_PREFIX}HEADER_{number}_{index}" for index, key in enumerate(headers)
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


def _as_options(settings: Settings) -> list[str]:
    """Return settings as options of the command line."""
    return [word for key, value in settings.items() for word in ("-c", f"{key}={_toml(value)}")]


def _as_toml(settings: Settings) -> str:
    """Return settings as the text of a file."""
    return "".join(f"{key} = {_toml(value)}\n" for key, value in settings.items())


def _server(server: Json, seconds: float) -> Settings:
    settings: Settings = {
        "required": True,
        "startup_timeout_sec": max(_CONNECT_SECONDS, round(seconds)),
        "tool_timeout_sec": _CALL_SECONDS,
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

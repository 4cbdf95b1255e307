"""OpenCode: how its program is started, and how its output is read."""

import json
import re
from pathlib import Path

from swarm_bench.agents.opencode.stream import find_key, read_activity, read_outcome
from swarm_bench.agents.reading.installed import PROXIES, installed
from swarm_bench.agents.reading.json_lines import Json, as_list, as_object, as_text
from swarm_bench.core.outcome import Activity, AgentExit, AgentRequest, Launch, Outcome
from swarm_bench.core.ports import Abilities, Capabilities
from swarm_bench.core.session.experiment import Program
from swarm_bench.runtime.untrusted import read

PROGRAM = "opencode"
CREDENTIALS = (
    "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL",
    "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "OPENROUTER_API_KEY", "OPENCODE_API_KEY",
    "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION",
    "AWS_BEARER_TOKEN_BEDROCK", "AZURE_API_KEY", "AZURE_RESOURCE_NAME", "CEREBRAS_API_KEY",
    "DEEPSEEK_API_KEY", "FIREWORKS_API_KEY", "GROQ_API_KEY", "HF_TOKEN", "MISTRAL_API_KEY",
    "MOONSHOT_API_KEY", "TOGETHER_API_KEY", "XAI_API_KEY", "ZHIPU_API_KEY",
)  # fmt: skip

ABILITIES = Abilities(
    tested_version="1.18.33",
    supported="~=1.18",
    keys=tuple(name for name in CREDENTIALS if name.endswith(("_API_KEY", "_TOKEN"))),
    keyless=True,
    login=(".local/share/opencode/auth.json",),
    memory_mb=710,
    searches_with="rg",
    turn_limit="kept by swarm-bench, which counts requests that called tools and stops the program",
    cost="from the program's own price list, as installed",
    cache_tokens="read and written; written is 0 when the provider does not say it",
    tool_calls="by name, with failures, refused calls, times and sizes of results",
    compactions="counted in its log",
    isolation="own home; no memory files, skills, plugins, settings or servers of user or "
    "workspace",
    limits=(
        "It has no turn limit that it keeps.",
        "The model sees an MCP tool as `mcp__SERVER__TOOL`: its own spelling, in which server and "
        "tool cannot be told apart, is replaced by the name under which the server is configured.",
        "A server that does not connect within 60 seconds, or the mode's `start_seconds` if that "
        "is more, is omitted, and the run continues.",
        "Tokens of sub-agents are not in its output; output tokens include those of reasoning.",
        "It tries a failed request again five times, for about 75 seconds, and there is no setting "
        "for it; a shorter time limit ends the trial before.",
        "Of a request whose stream broke, or whose provider gives no tokens, it prints zeros: the "
        "tokens of the trial are missing then.",
        "Its grep and glob need ripgrep: without `rg` on the PATH it downloads one into the home "
        "of every agent, and without a network they fail. Install ripgrep.",
        "It knows the models and prices of its own release; of a model without a price the cost is "
        "missing.",
        "With --inherit-settings the user's MCP servers are started as well.",
        "The request for a title, which it makes otherwise, is not made.",
    ),
)
_CONNECT_MILLISECONDS = 60_000
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


class OpenCode:
    """OpenCode without a terminal: `opencode run --format json`."""

    name = "opencode"
    capabilities = Capabilities()
    abilities = ABILITIES

    def launch(self, request: AgentRequest) -> Launch:
        rehearsed = request.rehearsal is not None
        # A title given is a request less.
        options = ["--format", "json", "--auto", "--title", "task"]
        options += ["--print-logs", "--log-level", "INFO"]
        # Only here it comes before the model that an agent of the user's own settings has.
        model = REHEARSAL_MODEL if rehearsed else request.model
        options += ["--model", model] if model is not None else []
        config = _build_configuration(request.mcp_config, request.rehearsal, request.start_seconds)
        env = _build_switches(isolated=not request.inherit_settings)
        if request.inherit_settings:
            # It comes after what user and workspace have, so that it wins.
            env["OPENCODE_CONFIG_CONTENT"] = config
        else:
            options += ["--pure"]
            env |= _prepare_home(request.home, config)
        return Launch(
            argv=(
                *(request.program or PROGRAM, "run", *options, *request.arguments),
                *("--", request.prompt),
            ),
            env=env,
            inherit=() if rehearsed else (*CREDENTIALS, *PROXIES),
            turn_limit=request.max_turns,
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
            install=f"npm install -g opencode-ai@{ABILITIES.tested_version}",
        )


def _build_switches(*, isolated: bool) -> dict[str, str]:
    """Return variables that turn off what reaches out, and what user and workspace bring."""
    return dict.fromkeys((*_ALWAYS, *(_ISOLATED if isolated else ())), "1")


def _build_configuration(mcp_config: Path, rehearsal: str | None, seconds: float) -> str:
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


def _prepare_home(home: Path, config: str) -> dict[str, str]:
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
    common: Json = {"enabled": True, "timeout": max(_CONNECT_MILLISECONDS, round(seconds * 1000))}
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

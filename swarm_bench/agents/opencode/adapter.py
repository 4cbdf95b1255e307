"""OpenCode: how its program is started, and how its output is read."""

from swarm_bench.agents.opencode.settings import (
    REHEARSAL_MODEL,
    build_configuration,
    build_switches,
    prepare_home,
)
from swarm_bench.agents.opencode.stream import read_activity, read_outcome
from swarm_bench.agents.reading.installed import PROXIES, installed
from swarm_bench.core.outcome import Activity, AgentExit, AgentRequest, Launch, Outcome
from swarm_bench.core.ports import Abilities, Capabilities
from swarm_bench.core.session.experiment import Program

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
        config = build_configuration(request.mcp_config, request.rehearsal, request.start_seconds)
        env = build_switches(isolated=not request.inherit_settings)
        if request.inherit_settings:
            # It comes after what user and workspace have, so that it wins.
            env["OPENCODE_CONFIG_CONTENT"] = config
        else:
            options += ["--pure"]
            env |= prepare_home(request.home, config)
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

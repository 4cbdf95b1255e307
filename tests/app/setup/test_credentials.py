"""Who would be turned away by a provider is refused before the first trial, where it shows."""

from pathlib import Path

import pytest

from swarm_bench.app.setup.agents import check_credentials, describe_credential_warning, is_paid
from swarm_bench.benchmarks.agents.finding import find_agent
from swarm_bench.config.layers import load
from swarm_bench.core import entry_points
from swarm_bench.core.errors import UsageError
from tests.builders.golden import Sentences

UNTOLD = "is not known"
CASES: list[tuple[str, dict[str, object], dict[str, str], str | None]] = [
    ("scout", {}, {}, None),
    ("claude", {}, {}, "refused"),
    ("claude", {}, {"ANTHROPIC_API_KEY": ""}, "refused"),
    ("claude", {}, {"ANTHROPIC_API_KEY": "sk"}, None),
    ("claude", {}, {"CLAUDE_CODE_USE_BEDROCK": "1"}, None),
    ("claude", {}, {"CLAUDE_CODE_USE_VERTEX": "1"}, None),
    ("claude", {"agent_env": ["ANTHROPIC_API_KEY=sk"]}, {}, None),
    ("claude", {"agent_env": ["MY_GATEWAY=x"]}, {}, UNTOLD),
    ("claude", {"agent_arg": ["--settings={}"]}, {}, UNTOLD),
    ("claude", {"inherit_settings": True}, {}, UNTOLD),
    ("claude", {"model": "rehearsal"}, {}, None),
    ("codex", {}, {}, "refused"),
    ("codex", {}, {"CODEX_API_KEY": "sk"}, None),
    ("gemini", {}, {}, "refused"),
    ("gemini", {}, {"GOOGLE_GENAI_USE_VERTEXAI": "true"}, None),
    ("qwen", {}, {}, "refused"),
    ("opencode", {}, {}, UNTOLD),
    ("opencode", {}, {"OPENAI_API_KEY": "sk"}, None),
]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("name", "given", "variables", "expected"), CASES)
def test_what_lets_an_agent_in(
    name: str, given: dict[str, object], variables: dict[str, str], expected: str | None
) -> None:
    settings = load({"agent": name, **given}).settings
    agent = entry_points.load("agents", name)()
    if expected == "refused":
        with pytest.raises(UsageError, match=f"The agent {name} has no key for its provider"):
            check_credentials(agent, settings, variables)
    else:
        said = check_credentials(agent, settings, variables)
        assert (expected or "") in (said or "")
        assert (said is None) is (expected is None)


def test_a_login_counts_with_the_users_home(home: Path) -> None:
    (home / ".claude").mkdir()
    (home / ".claude" / ".credentials.json").write_text("{}")
    agent = entry_points.load("agents", "claude")()
    settings = load({"agent": "claude", "inherit_settings": True}).settings
    assert check_credentials(agent, settings, {}) is None
    with pytest.raises(UsageError):
        check_credentials(agent, load({"agent": "claude"}).settings, {})


def test_a_plan_is_shown_with_what_would_be_refused(
    monkeypatch: pytest.MonkeyPatch, golden: Sentences
) -> None:
    agent, resolved = entry_points.load("agents", "claude")(), load({"agent": "claude"})
    warning = describe_credential_warning(agent, resolved)
    golden(str(warning))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk")
    assert describe_credential_warning(agent, resolved) is None


AGENT_FILE = """\
name: mine
command: [mine, "{{ prompt }}", "{{ mcp_config }}", "{{ max_turns }}"]
output: {answer: {path: $.answer}, format: json}
"""


@pytest.mark.parametrize(
    ("given", "paid"),
    [
        ({"agent": "scout"}, False),
        ({"agent": "claude"}, True),
        ({"agent": "codex"}, True),
        ({"agent": "claude", "model": "rehearsal"}, False),
        ({"agent": "opencode"}, None),
        ({"agent": "mine.yaml"}, None),
        ({"agent": "mine.yaml", "model": "rehearsal"}, False),
    ],
)
def test_who_is_paid(home: Path, given: dict[str, object], paid: bool | None) -> None:
    (home / "mine.yaml").write_text(AGENT_FILE)
    settings = load(given).settings
    assert is_paid(find_agent(settings.agent), settings) is paid

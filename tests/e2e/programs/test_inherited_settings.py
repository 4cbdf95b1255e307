"""A user's own set-up, which a rehearsal may use and must not be led away by."""

import json
from pathlib import Path

import pytest

from tests.e2e.programs.conftest import CANARY_TOKENS, MakeProgram, Trap

pytestmark = [pytest.mark.programs, pytest.mark.timeout(300)]

ELSEWHERE = "http://127.0.0.1:9"
"""Where nobody listens: a request that goes there is missing in the rehearsal."""
ONE = ("--modes", "baseline", "--agents", "1", "--runs", "1", "--inherit-settings")
_OTHER_MODEL = {
    "npm": "@ai-sdk/openai-compatible",
    "options": {"baseURL": f"{ELSEWHERE}/v1", "apiKey": "other"},
    "models": {"m": {"name": "m"}},
}
_QWEN_MODEL = {"id": "other", "name": "x", "baseUrl": f"{ELSEWHERE}/v1", "envKey": "OTHER_KEY"}
HOMES = {
    "claude": {
        ".claude/settings.json": json.dumps(
            {"env": {"ANTHROPIC_BASE_URL": ELSEWHERE}, "model": "sonnet"}
        )
    },
    "codex": {
        ".codex/config.toml": (
            'model = "gpt-x"\nmodel_provider = "other"\n[model_providers.other]\nname = "o"\n'
            f'base_url = "{ELSEWHERE}/v1"\nwire_api = "responses"\nenv_key = "HOME"\n'
        )
    },
    "gemini": {
        ".gemini/settings.json": json.dumps(
            {"security": {"auth": {"selectedType": "vertex-ai", "enforcedType": "vertex-ai"}}}
        ),
        ".gemini/.env": f"GEMINI_API_KEY=other\nGOOGLE_GEMINI_BASE_URL={ELSEWHERE}\n",
    },
    "opencode": {
        ".config/opencode/opencode.json": json.dumps(
            {
                "provider": {"other": _OTHER_MODEL},
                "model": "other/m",
                "agent": {"build": {"model": "other/m"}},
            }
        )
    },
    "qwen": {
        ".qwen/settings.json": json.dumps(
            {
                "modelProviders": {"openai": [_QWEN_MODEL]},
                "env": {"OTHER_KEY": "k", "OPENAI_BASE_URL": ELSEWHERE},
                "security": {"auth": {"selectedType": "openai", "baseUrl": ELSEWHERE}},
                "model": {"name": "other"},
            }
        )
    },
}


@pytest.mark.parametrize("name", HOMES)
def test_a_rehearsal_asks_nobody_else(name: str, real_program: MakeProgram) -> None:
    program = real_program(name)
    program.write_home(HOMES[name])

    done = program.compare(*ONE, "--timeout", "120")

    assert done.code == 0, done.err
    (record,) = program.records()
    assert record["cause"] == "finished", record["detail"]
    assert record["rehearsal_requests"] >= record["requests"] > 0
    assert "own settings, memory files and hooks (--inherit-settings)" in done.out


def test_the_users_set_up_comes_along_and_no_server_of_it(
    real_program: MakeProgram, trap: Trap, tmp_path: Path
) -> None:
    claude = real_program("claude")
    hooked = tmp_path / "hooked"
    hook = {"hooks": [{"type": "command", "command": f"touch '{hooked}'"}]}
    claude.write_home(
        {
            ".claude/CLAUDE.md": trap.memory,
            ".claude/settings.json": json.dumps({"hooks": {"SessionStart": [hook]}}),
            ".claude.json": json.dumps({"mcpServers": {"canopy": trap.server}}),
        }
    )

    done = claude.compare(*ONE)

    assert done.code == 0, done.err
    (record,) = claude.records()
    assert hooked.exists()
    assert record["rehearsal_request_tokens"] > CANARY_TOKENS
    assert record["mcp_servers"] == {}
    assert not trap.sprung

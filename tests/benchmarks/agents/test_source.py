"""What stands after `agent:`."""

import pytest

from swarm_bench.benchmarks.agents.asking import write_prompt
from swarm_bench.benchmarks.agents.source import AgentSource
from swarm_bench.core.roles.language_model import Ask, Turn


@pytest.mark.parametrize(
    ("word", "spec", "model"),
    [
        ("claude", "claude", None),
        ("claude:", "claude", None),
        ("claude:opus", "claude", "opus"),
        ("opencode:ollama/qwen:7b", "opencode", "ollama/qwen:7b"),
        ("replay:out/recorded", "replay:out/recorded", None),
        ("mine.yaml", "mine.yaml", None),
        ("mine.yaml:m", "mine.yaml", "m"),
        ("./a:b/mine.yml:m:1", "./a:b/mine.yml", "m:1"),
        ("command:mine.yaml:m", "command:mine.yaml", "m"),
        ("own.agents:Mine", "own.agents:Mine", None),
        ("own.agents:Mine:script.yaml", "own.agents:Mine", "script.yaml"),
        ("nobody", "nobody", None),
    ],
)
def test_a_word_is_an_agent_and_perhaps_a_model(word: str, spec: str, model: str | None) -> None:
    source = AgentSource(word)
    assert (source.spec, source.model) == (spec, model)


def test_a_conversation_is_one_text() -> None:
    system, user = Turn(role="system", text="Be brief."), Turn(role="user", text="What is 1 + 1?")
    assert write_prompt(Ask(prompt=(system, user))) == "Be brief.\n\nWhat is 1 + 1?"
    shown = Turn(role="assistant", text="2")
    text = write_prompt(Ask(prompt=(user, shown, user)))
    assert text.index("Assistant:\n2") < text.rindex("User:\n")

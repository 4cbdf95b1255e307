"""`docs/agents.md` lists what the adapters say of themselves.

`make golden` writes its tables anew.
"""

import os
import re
from pathlib import Path

import pytest

from swarm_bench.core import entry_points
from swarm_bench.core.ports import Described
from swarm_bench.models.rehearsal.faults import FAULTS
from tests.builders.reference import abilities_table, fault_table, limits_list

PAGE = Path(__file__).parents[2] / "docs" / "agents.md"
WITH_ARGUMENT = {"command", "replay"}
AGENTS = {
    plugin.name: entry_points.load("agents", plugin.name)()
    for plugin in entry_points.list_plugins("agents")
    if plugin.distribution == "swarm-bench" and plugin.name not in WITH_ARGUMENT
}
ABILITIES = {name: one.abilities for name, one in AGENTS.items() if isinstance(one, Described)}
EXPECTED = {
    "abilities": abilities_table(ABILITIES),
    "faults": fault_table({name: fault.description for name, fault in FAULTS.items()}),
    "limits": limits_list(ABILITIES),
}


def between(name: str) -> re.Pattern[str]:
    return re.compile(f"(?<=<!-- begin {name} -->\n)(.*?)(?=<!-- end {name} -->)", re.DOTALL)


@pytest.mark.parametrize("name", EXPECTED)
def test_the_page_says_what_the_adapters_say(name: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    if "RENEW" in os.environ:
        page = between(name).sub(lambda _: f"\n{EXPECTED[name]}\n\n", page)
        PAGE.write_text(page, encoding="utf-8")
    found = between(name).search(page)
    assert found is not None
    assert found[0].strip() == EXPECTED[name].strip()


def test_every_program_of_ours_says_what_it_gives() -> None:
    assert set(ABILITIES) >= {"claude", "codex", "gemini", "opencode", "qwen"}

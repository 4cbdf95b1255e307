"""What a placebo answers, without a server around it."""

from pathlib import Path

import pytest

from swarm_bench.models import tool_roles
from swarm_bench.programs.placebo.irrelevant_answers import Answers
from swarm_bench.retrieval.placebo.material import Material, Passage, PlaceboTool


@pytest.mark.parametrize("limit", tool_roles.LIMITS)
def test_a_search_gives_as_many_places_as_it_is_asked_for(tmp_path: Path, limit: str) -> None:
    names = [f"file{number}.txt" for number in range(8)]
    for name in names:
        (tmp_path / name).write_text("a\nb\n")
    places = tuple(Passage(path=name, first=1, last=2) for name in names)
    tool = PlaceboTool(name="list", description="", schema={}, form="paths", line="{path}")
    material = Material(instructions="", tools=(tool,), places=places, files=8, seed=0)
    answer = Answers(material, tmp_path).answer(tool, {"query": "auth", limit: 2})
    assert len(answer.text.split()) == 2

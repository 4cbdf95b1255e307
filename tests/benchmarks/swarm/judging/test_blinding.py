"""What says in which mode an answer was given is taken out of it."""

import pytest

from swarm_bench.benchmarks.swarm.judging.blinding import blind, find_names
from tests.builders.sessions import make_experiment, make_trial

PURPOSES = {
    "canopy": {
        "mcp__canopy__search": "search",
        "mcp__canopy__evidence_pack": "search",
        "mcp__canopy__expandNode": "read",
    }
}


def names() -> frozenset[str]:
    experiment = make_experiment(
        ("baseline", "canopy"),
        tool_purposes=PURPOSES,
        retrieval={"canopy": {"name": "the canopy of tests 1.0"}},
    )
    calls = {"mcp__canopy__other_tool": 1, "canopy.expand_it": 2, "Grep": 3}
    return find_names(experiment, [make_trial("canopy", tool_calls=calls)])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("canopy says so.", "search says so."),
        ("(`Canopy`), CANOPY's", "(`search`), search's"),
        ("mcp__canopy__made_up(x)", "search(x)"),
        ("canopy_made_up, canopy-mcp and canopy", "search, search and search"),
        ("`canopy.expand_it`", "`search`"),
        ("evidence_pack and expandNode and other_tool", "search and search and search"),
        ("the canopy of tests 1.0 found", "search found"),
        ("Grep and search", "Grep and search"),
        ("in src/canopy/index.py and canopy.py:3", "in src/canopy/index.py and canopy.py:3"),
        ("canopies and microcanopy", "canopies and microcanopy"),
        ("/tmp/swarm-bench-587a/repo/shop/shop/auth.py:3", "shop/auth.py:3"),
        ("[x](file:///var/tmp/swarm-bench-5-a/home/canopy)", "[x](file://)"),
        ("a/b/c and /usr/lib/x", "a/b/c and /usr/lib/x"),
    ],
)
def test_names_are_neutral(text: str, expected: str) -> None:
    assert blind(text, names()) == expected


def test_without_a_tool_nothing_changes() -> None:
    text = "canopy, mcp__canopy__search"
    assert blind(text, find_names(make_experiment(("baseline",)), [])) == text


@pytest.mark.parametrize("piece", ["/a", "canopy_", "canopy-", "mcp__", "/swarm-bench-a"])
def test_long_answers_take_no_long(piece: str) -> None:
    blind(piece * 200_000, names())

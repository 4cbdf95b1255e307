from collections.abc import Sequence
from typing import Any

import pytest

from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.experiment import MODE_NAME, Mode
from swarm_bench.retrieval.placebo.arm import WITHOUT_TOOLS, add_controls

BASELINE = Mode(name="baseline", source="/m/baseline.json")


def tool(name: str, instructions: str = "Ask find.", **more: Any) -> Mode:
    values = {"servers": {"s": {"command": "s"}}, "probes": ("feedback",), **more}
    return Mode(name=name, source=f"/m/{name}.json", instructions=instructions, **values)


def controls(modes: Sequence[Mode]) -> tuple[Mode, ...]:
    return add_controls(modes, ["instructions"])


def told(modes: tuple[Mode, ...]) -> dict[str, tuple[tuple[str, ...], str]]:
    return {mode.name: (mode.control_of, mode.instructions) for mode in modes if mode.control_of}


def test_the_arm_is_told_the_same_and_given_nothing() -> None:
    modes = controls([BASELINE, tool("a", services=("canopy-service",)), tool("b", "Other.")])
    assert [mode.name for mode in modes] == [
        "baseline", "a", "a-instructions", "b", "b-instructions",
    ]  # fmt: skip
    arm = modes[2]
    assert (arm.servers, arm.services, arm.probes, arm.prepare) == ({}, (), (), None)
    assert arm.instructions == f"{WITHOUT_TOOLS}\n\nAsk find."
    assert (arm.control_of, arm.source) == (("a",), "/m/a.json")


def test_the_mode_files_own_wording_comes_first() -> None:
    modes = controls([tool("a", control="Search widely.")])
    assert told(modes) == {"a-instructions": (("a",), "Search widely.")}


def test_modes_that_are_told_the_same_share_an_arm() -> None:
    modes = controls([tool("a"), tool("b"), tool("c", control="Search widely.")])
    assert [mode.name for mode in modes] == ["a", "a-instructions", "b", "c", "c-instructions"]
    assert told(modes)["a-instructions"][0] == ("a", "b")


def test_a_mode_without_instructions_has_no_arm() -> None:
    modes = controls([BASELINE, tool("a", ""), tool("b")])
    assert [mode.name for mode in modes] == ["baseline", "a", "b", "b-instructions"]


@pytest.mark.parametrize(
    ("modes", "words"),
    [
        ([BASELINE], "no mode has a tool"),
        ([BASELINE.model_copy(update={"instructions": "Think."})], "no mode has a tool"),
        ([BASELINE, tool("a", "")], "the baseline is the control"),
        ([tool("a"), tool("a-instructions", "Other.")], "rename that mode's file"),
        ([tool("a"), BASELINE.model_copy(update={"name": "a-instructions"})], "of that name"),
    ],
)
def test_what_cannot_be_controlled_is_refused(modes: list[Mode], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        controls(modes)


def test_arms_that_are_there_are_kept_and_stand_for_more_modes() -> None:
    modes = controls([BASELINE, tool("a")])
    assert controls(modes) == modes
    more = controls([*modes, tool("b"), tool("c", "Other.")])
    assert [mode.name for mode in more] == [*(m.name for m in modes), "b", "c", "c-instructions"]
    assert told(more)["a-instructions"][0] == ("a", "b")


def test_a_long_name_stays_the_name_of_a_folder() -> None:
    (_, arm) = controls([tool("m" * 64)])
    assert MODE_NAME.fullmatch(arm.name)
    assert arm.name.endswith("-instructions")


def test_a_placebo_has_the_servers_of_its_mode_by_name_and_nothing_else_of_its_tool() -> None:
    config = {"command": "s", "args": ["--fast"], "env": {"KEY": "sk-1"}, "alwaysAllow": ["x"]}
    mode = tool("a", servers={"s": config, "t": {"url": "http://x"}}, services=("canopy-service",))
    (_, arm) = add_controls([mode], ["placebo"])
    assert (arm.name, arm.control_of, arm.is_placebo) == ("a-placebo", ("a",), True)
    assert (arm.instructions, arm.services, arm.probes) == (mode.instructions, (), ())
    assert list(arm.servers) == ["s", "t"]
    assert {key for server in arm.servers.values() for key in server} == {
        "command",
        "args",
        "alwaysAllow",
    }
    assert "sk-1" not in arm.model_dump_json()
    first, second = (server["args"] for server in arm.servers.values())
    assert first != second  # each has material of its own


def test_both_arms_stand_behind_their_mode_and_a_mode_without_words_has_a_placebo_too() -> None:
    modes = add_controls([BASELINE, tool("a"), tool("b", "")], ["instructions", "placebo"])
    assert [mode.name for mode in modes] == [
        "baseline", "a", "a-instructions", "a-placebo", "b", "b-placebo",
    ]  # fmt: skip
    assert add_controls(modes, ["instructions", "placebo"]) == modes
    assert add_controls(modes, ["placebo"]) == modes

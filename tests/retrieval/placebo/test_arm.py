"""What a placebo's arm shows to its agents."""

from pathlib import Path

from swarm_bench.core.session.experiment import Mode
from swarm_bench.retrieval.placebo.arm import PLACEBO, make_placebo, name_material_file


def test_no_word_of_its_command_line_says_what_it_is() -> None:
    mode = Mode(name="short", source="x", servers={"finder": {"command": "finder"}})
    (server,) = make_placebo(mode, "short-placebo").servers.values()
    script, workspace = server["args"][1:]
    assert workspace == "{{ workspace }}"
    assert not {"placebo", "short"} & set(script.replace("/", "-").split("-"))
    assert "placebo" not in " ".join(server["args"])
    assert script == str(
        name_material_file(Path(f"{{{{ {PLACEBO} }}}}"), "short-placebo", 0).with_suffix(".py")
    )


def test_each_arm_and_server_has_a_file_of_its_own() -> None:
    places = [name_material_file(Path("x"), arm, number) for arm in "ab" for number in (0, 1)]
    assert len(set(places)) == 4

"""Arms that control a tool mode (`--controls`). Its instructions alone: their difference from the
baseline is the effect of the instructions, that of the tool's mode from them the effect of the
tool. A placebo: the difference of the tool's mode from it is the effect of relevant answers. An
agent can read its command lines, so nothing in a placebo's says what its servers are."""

import hashlib
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.experiment import ControlKind, Mode
from swarm_bench.retrieval.modes.variables import EXPANDED
from swarm_bench.retrieval.placebo.material import name_script

LONGEST_NAME = 64
"""Longest name of a mode, as in `MODE_NAME`."""
WITHOUT_TOOLS = (
    "The tools that these instructions name are not available in this session; do not look for "
    "them. What the instructions say about the way of working holds for the tools that you have."
)
"""Text before instructions that have no wording of their own for an agent without the tool."""


def write_wording(mode: Mode) -> str:
    """Write what an agent without the tool gets instead of the mode's instructions."""
    return mode.control or f"{WITHOUT_TOOLS}\n\n{mode.instructions}"


def add_controls(modes: Sequence[Mode], kinds: Collection[ControlKind]) -> tuple[Mode, ...]:
    """Add behind each tool mode the arms that control it: its instructions, if it has any, and a
    placebo.

    Modes whose instructions would be the same text share one arm, behind the first of them. An arm
    that is already there is kept. Raises `UsageError` when no arm can be made.
    """
    tools = [mode for mode in modes if mode.servers and not mode.control_of]
    instructed = [mode for mode in tools if mode.instructions]
    if not tools or ("placebo" not in kinds and not instructed):
        raise UsageError(_explain_nothing(modes))
    arms: list[Mode] = []
    if "instructions" in kinds:
        arms += _list_instruction_arms(modes, instructed)
    if "placebo" in kinds:
        arms += _list_placebos(modes, tools)
    _check_names(modes, arms)
    return tuple(_place_arms(modes, {arm.name: arm for arm in arms}))


def _list_instruction_arms(modes: Sequence[Mode], tools: Sequence[Mode]) -> list[Mode]:
    """List the arms without a tool, old and new."""
    arms = {
        mode.instructions: mode
        for mode in modes
        if mode.control_of and mode.control_kind == "instructions"
    }
    for mode in tools:
        text = write_wording(mode)
        arm = arms.get(text) or _make_arm(mode, text)
        controlled = tuple(dict.fromkeys((*arm.control_of, mode.name)))
        arms[text] = arm.model_copy(update={"control_of": controlled})
    return list(arms.values())


def _make_arm(mode: Mode, text: str) -> Mode:
    return Mode(
        name=_make_name(mode, "instructions"),
        source=mode.source,
        description="Instructions only: what the tool's agents are told, without the tool.",
        instructions=text,
    )


def _list_placebos(modes: Sequence[Mode], tools: Sequence[Mode]) -> list[Mode]:
    """List the placebos. Those of a session that is continued may have another source."""
    names = {mode.control_of[0]: mode.name for mode in modes if mode.is_placebo}
    return [
        make_placebo(mode, names.get(mode.name) or _make_name(mode, "placebo")) for mode in tools
    ]


def _make_name(mode: Mode, kind: ControlKind) -> str:
    return f"{mode.name[: LONGEST_NAME - len(kind) - 1]}-{kind}"


def _place_arms(modes: Sequence[Mode], arms: Mapping[str, Mode]) -> Iterator[Mode]:
    names = {mode.name for mode in modes}
    for mode in modes:
        yield arms.get(mode.name, mode)
        for arm in arms.values():
            if arm.name not in names and arm.control_of[0] == mode.name:
                yield arm


def _check_names(modes: Sequence[Mode], arms: Sequence[Mode]) -> None:
    used_names = {mode.name for mode in modes if not mode.control_of}
    for arm in arms:
        if arm.name in used_names:
            raise UsageError(
                f"--controls calls the {arm.control_kind} arm of {arm.control_of[0]!r} "
                f"{arm.name!r}, and there is another mode of that name; rename that mode's file"
            )
        used_names.add(arm.name)


def _explain_nothing(modes: Sequence[Mode]) -> str:
    if any(mode.servers for mode in modes):
        return (
            "--controls adds an arm with a tool mode's instructions, and no mode with a tool has "
            "any, so the baseline is the control; omit --controls, or add a placebo with "
            "--controls placebo"
        )
    return (
        "--controls adds an arm for each mode that gives a tool, and no mode has a tool; "
        "add one with --modes, or omit --controls"
    )


PLACEBO = "servers"
"""The placeholder for the folder with the material of all placebo servers of a session, and the
folder's name. Mode files cannot name it."""
_HOW_TO_REACH = {*EXPANDED, "type", "cwd"}


def make_placebo(mode: Mode, name: str) -> Mode:
    """Make the arm with the mode's instructions and its servers' names, and with servers of ours.
    What else the mode file says of a server, an agent is to see in both."""
    servers = {
        server: {
            **_drop_reach_keys(config),
            **_make_program(name_material_file(Path(f"{{{{ {PLACEBO} }}}}"), name, at)),
        }
        for at, (server, config) in enumerate(mode.servers.items())
    }
    return Mode(
        name=name,
        source=mode.source,
        description="Placebo: the tool's names and descriptions, and irrelevant answers.",
        servers=servers,
        instructions=mode.instructions,
        search=mode.search,
        control_of=(mode.name,),
        control_kind="placebo",
    )


def name_material_file(folder: Path, arm: str, number: int) -> Path:
    """Return the path of a server's material, by the server's number in an arm."""
    return folder / hashlib.sha256(arm.encode()).hexdigest()[:12] / f"{number}.json"


def _drop_reach_keys(config: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in config.items() if key not in _HOW_TO_REACH}


def _make_program(material: Path) -> dict[str, Any]:
    script = str(name_script(material))
    return {"command": sys.executable, "args": ["-I", script, "{{ workspace }}"]}

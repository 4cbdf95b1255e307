"""Instructions only (`--controls`): an arm that is told what a tool mode is told, without its tool.

What it differs from the baseline by is the effect of being told; what the tool's mode differs from
it by is that of the tool.
"""

from collections.abc import Iterator, Sequence

from swarm_bench.core.errors import UsageError
from swarm_bench.core.experiment import Mode

SUFFIX = "-instructions"
LONGEST_NAME = 64
"""As `MODE_NAME` has it."""
WITHOUT_TOOLS = (
    "The tools that these instructions name are not available in this session; do not look for "
    "them. What the instructions say about the way of working holds for the tools that you have."
)
"""Before instructions that have no wording of their own for an agent without the tool."""


def wording(mode: Mode) -> str:
    """What an agent without the tool is told instead of the mode's instructions."""
    return mode.control or f"{WITHOUT_TOOLS}\n\n{mode.instructions}"


def with_controls(modes: Sequence[Mode]) -> tuple[Mode, ...]:
    """The modes, and behind each tool mode with instructions the arm that controls it.

    Modes whose arms would be told the same share one, behind the first of them. An arm that is
    already there is kept. Raises `UsageError` when no arm can be made.
    """
    told = [mode for mode in modes if mode.servers and mode.instructions]
    if not told:
        raise UsageError(_nothing_to_control(modes))
    known = {mode.instructions: mode for mode in modes if mode.control_of}
    arms: dict[str, Mode] = {}
    for mode in told:
        words = wording(mode)
        arm = arms.get(words) or known.get(words) or _arm(mode, words)
        of = tuple(dict.fromkeys((*arm.control_of, mode.name)))
        arms[words] = arm.model_copy(update={"control_of": of})
    _check_names(modes, list(arms.values()))
    return tuple(_placed(modes, arms))


def _placed(modes: Sequence[Mode], arms: dict[str, Mode]) -> Iterator[Mode]:
    by_name = {arm.name: arm for arm in arms.values()}
    new = set(by_name) - {mode.name for mode in modes}
    for mode in modes:
        yield by_name.get(mode.name, mode)
        for arm in arms.values():
            if arm.name in new and arm.control_of[0] == mode.name:
                yield arm


def _arm(mode: Mode, words: str) -> Mode:
    return Mode(
        name=mode.name[: LONGEST_NAME - len(SUFFIX)] + SUFFIX,
        source=mode.source,
        description="Instructions only: what the tool's agents are told, without the tool.",
        instructions=words,
    )


def _check_names(modes: Sequence[Mode], arms: Sequence[Mode]) -> None:
    taken = {mode.name for mode in modes if not mode.control_of}
    for arm in arms:
        if arm.name in taken:
            raise UsageError(
                f"--controls calls the arm with the instructions of {arm.control_of[0]!r} "
                f"{arm.name!r}, and there is another mode of that name; rename that mode's file"
            )
        taken.add(arm.name)


def _nothing_to_control(modes: Sequence[Mode]) -> str:
    if any(mode.servers for mode in modes):
        return (
            "--controls adds an arm with a tool mode's instructions, and no mode with a tool has "
            "any, so the baseline is the control; leave --controls away"
        )
    return (
        "--controls adds an arm for each mode that gives a tool, and no mode has a tool; "
        "add one with --modes, or leave --controls away"
    )

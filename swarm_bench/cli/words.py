"""Options that take several words, or none: typer alone takes exactly one."""

from typing import Any

from typer import BadParameter
from typer.core import TyperCommand

SEVERAL = ("--modes", "--agents")
OPTIONAL = "--continue"


class WordsCommand(TyperCommand):
    """Reads `--modes a b c` as `--modes a --modes b --modes c`, and a bare `--continue`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, spread(args))


def spread(args: list[str]) -> list[str]:
    """The arguments, one word for each option."""
    out: list[str] = []
    several: str | None = None
    for position, word in enumerate(args):
        option = word.startswith("-")
        if several and not option:
            out += [several, word]
            continue
        several = word if word in SEVERAL else None
        if several and not _has_word(args, position):
            raise BadParameter(f"{several} needs at least one word")
        if word == OPTIONAL and not _has_word(args, position):
            out += [word, ""]
        elif not several:
            out.append(word)
    return out


def _has_word(args: list[str], position: int) -> bool:
    return position + 1 < len(args) and not args[position + 1].startswith("-")

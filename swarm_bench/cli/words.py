"""Options that take several words, or none: typer alone takes exactly one."""

from typing import Any

from typer import BadParameter
from typer.core import TyperCommand

SEVERAL = ("--modes", "--agents", "--controls")
OPTIONAL = {"--continue": "", "--controls": "instructions"}
"""What stands for the word that a bare option leaves out."""


class WordsCommand(TyperCommand):
    """Reads `--modes a b c` as `--modes a --modes b --modes c`, and the bare options."""

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
        bare = not _has_word(args, position)
        several = word if word in SEVERAL and not bare else None
        if bare and word in OPTIONAL:
            out += [word, OPTIONAL[word]]
        elif bare and word in SEVERAL:
            raise BadParameter(f"{word} needs at least one word")
        elif not several:
            out.append(word)
    return out


def _has_word(args: list[str], position: int) -> bool:
    return position + 1 < len(args) and not args[position + 1].startswith("-")

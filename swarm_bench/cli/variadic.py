"""Options that take several values, or none: typer alone takes exactly one."""

import os
import re
from itertools import takewhile
from typing import Any

from typer import BadParameter

from swarm_bench.cli.completing import TYPED
from swarm_bench.cli.helping import GroupedCommand
from swarm_bench.config.command_line import command_line, run_command_line
from swarm_bench.core.session.designs import COMPARE

_OPTIONS = [*command_line(COMPARE), *run_command_line()]
SEVERAL = {option.flag for option in _OPTIONS if option.several}
OPTIONAL = {option.flag: option.bare for option in _OPTIONS if option.bare is not None}
"""What a bare option means."""


class VariadicCommand(GroupedCommand):
    """Reads `--modes a b c` as `--modes a --modes b --modes c`, and the bare options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if ctx.resilient_parsing:  # completion: the line is not complete, so it may be wrong
            ctx.meta[TYPED] = args
            return super().parse_args(ctx, list(takewhile(lambda word: not _is_option(word), args)))
        return super().parse_args(ctx, spread(args))

    def get_params(self, ctx: Any) -> list[Any]:
        """Return none for `--index=c` in completion, so that the word comes to `shell_complete`,
        and no arguments where an option takes the word."""
        params = super().get_params(ctx)
        if not ctx.resilient_parsing:
            return params
        taken = _open(ctx.meta.get(TYPED, [])) is not None
        return [] if _joined() else [it for it in params if not (taken and it.nargs == -1)]

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Complete the second and later words of an option as its first one, and what stands
        behind its equals sign."""
        if option := _joined():
            items = self._values(option, ctx, incomplete)
            return [type(item)(f"{option}={item.value}") for item in items]
        option = _open(ctx.meta.get(TYPED, []))
        if option and not incomplete.startswith("-"):
            return self._values(option, ctx, incomplete)
        return super().shell_complete(ctx, incomplete)

    def _values(self, option: str, ctx: Any, incomplete: str) -> list[Any]:
        params = (param for param in self.params if option in param.opts)
        return [item for param in params for item in param.shell_complete(ctx, incomplete)]


def spread(args: list[str]) -> list[str]:
    """Repeat an option before each of its values."""
    out: list[str] = []
    several: str | None = None
    for position, word in enumerate(args):
        if several and not _is_option(word):
            out += [several, word]
            continue
        bare = not _has_word(args, position)
        several = word if word in SEVERAL and not bare else None
        if bare and word in OPTIONAL:
            out += [word, OPTIONAL[word]]
        elif bare and word in SEVERAL:
            raise BadParameter(f"{word} needs at least one value")
        elif not several:
            out.append(word)
            several = _with_first_word(word)
    return out


def _with_first_word(word: str) -> str | None:
    """Return the option of `--modes=a`, after which more words may come."""
    option, equals, _ = word.partition("=")
    return option if equals and option in SEVERAL else None


def _open(args: list[str]) -> str | None:
    """Return the option that the next word belongs to: one of several values, or any before the
    equals sign that bash makes a word of its own."""
    if args[-1:] == ["="]:
        return args[-2]
    for word in reversed(args):
        if _is_option(word):
            return word if word in SEVERAL else _with_first_word(word)
    return None


def _joined() -> str | None:
    """Return the option of `--index=c` at the end of the line, a single word for zsh and fish."""
    line = os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS", "")
    match = re.search(r"\s(--[a-z-]+)=\S*$", line)
    return match[1] if match else None


def _is_option(word: str) -> bool:
    """Tell whether it is no value of an option: a negative number is a wrong value."""
    return word.startswith("-") and not re.fullmatch(r"-\d+", word)


def _has_word(args: list[str], position: int) -> bool:
    return position + 1 < len(args) and not _is_option(args[position + 1])

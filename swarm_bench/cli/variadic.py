"""Options that take several values, or none: typer alone takes exactly one."""

import os
import re
from itertools import takewhile
from typing import Any

from typer import BadParameter

from swarm_bench.cli.completing import TYPED_WORDS
from swarm_bench.cli.helping import GroupedCommand
from swarm_bench.config.command_line import command_line, run_command_line
from swarm_bench.core.session.designs import COMPARE

_OPTIONS = [*command_line(COMPARE), *run_command_line()]
MULTI_VALUED = {option.flag for option in _OPTIONS if option.several}
OPTIONAL = {option.flag: option.bare for option in _OPTIONS if option.bare is not None}
"""Values that bare options stand for."""


class VariadicCommand(GroupedCommand):
    """Reads `--modes a b c` as `--modes a --modes b --modes c`, and the bare options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if ctx.resilient_parsing:  # completion: the line is not complete, so it may be wrong
            ctx.meta[TYPED_WORDS] = args
            return super().parse_args(ctx, list(takewhile(lambda word: not _is_option(word), args)))
        return super().parse_args(ctx, spread(args))

    def get_params(self, ctx: Any) -> list[Any]:
        """Return none for `--index=c` in completion, so that the word comes to `shell_complete`,
        and no arguments where an option takes the word."""
        params = super().get_params(ctx)
        if not ctx.resilient_parsing:
            return params
        is_value = _find_open_option(ctx.meta.get(TYPED_WORDS, [])) is not None
        return (
            []
            if _find_joined_option()
            else [param for param in params if not (is_value and param.nargs == -1)]
        )

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Complete the second and later words of an option as its first one, and what stands
        behind its equals sign."""
        if option := _find_joined_option():
            items = self._complete_values(option, ctx, incomplete)
            return [type(item)(f"{option}={item.value}") for item in items]
        option = _find_open_option(ctx.meta.get(TYPED_WORDS, []))
        if option and not incomplete.startswith("-"):
            return self._complete_values(option, ctx, incomplete)
        return super().shell_complete(ctx, incomplete)

    def _complete_values(self, option: str, ctx: Any, incomplete: str) -> list[Any]:
        params = (param for param in self.params if option in param.opts)
        return [item for param in params for item in param.shell_complete(ctx, incomplete)]


def spread(args: list[str]) -> list[str]:
    """Repeat an option before each of its values."""
    out: list[str] = []
    option: str | None = None
    for position, word in enumerate(args):
        if option and not _is_option(word):
            out += [option, word]
            continue
        is_bare = not _has_word(args, position)
        option = word if word in MULTI_VALUED and not is_bare else None
        if is_bare and word in OPTIONAL:
            out += [word, OPTIONAL[word]]
        elif is_bare and word in MULTI_VALUED:
            raise BadParameter(f"{word} needs at least one value")
        elif not option:
            out.append(word)
            option = _find_option_with_value(word)
    return out


def _find_option_with_value(word: str) -> str | None:
    """Return the option of `--modes=a`, after which more words may come."""
    option, equals, _ = word.partition("=")
    return option if equals and option in MULTI_VALUED else None


def _find_open_option(args: list[str]) -> str | None:
    """Return the option that the next word belongs to: one of several values, or any before the
    equals sign that bash makes a word of its own."""
    if args[-1:] == ["="]:
        return args[-2]
    for word in reversed(args):
        if _is_option(word):
            return word if word in MULTI_VALUED else _find_option_with_value(word)
    return None


def _find_joined_option() -> str | None:
    """Return the option of `--index=c` at the end of the line, a single word for zsh and fish."""
    line = os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS", "")
    match = re.search(r"\s(--[a-z-]+)=\S*$", line)
    return match[1] if match else None


def _is_option(word: str) -> bool:
    """Tell whether it is no value of an option: a negative number is a wrong value."""
    return word.startswith("-") and not re.fullmatch(r"-\d+", word)


def _has_word(args: list[str], position: int) -> bool:
    return position + 1 < len(args) and not _is_option(args[position + 1])

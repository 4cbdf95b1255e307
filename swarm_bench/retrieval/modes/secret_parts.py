"""Which parts of the command lines and addresses in a mode file are secret: those with a name that
says so, as `--api-key VALUE`, `TOKEN=VALUE` and `?key=VALUE`, and the logins of addresses."""

import re
from collections.abc import Iterator, Sequence

from swarm_bench.config.addresses import logins
from swarm_bench.config.secret_names import names_secret
from swarm_bench.core.session.experiment import NOT_STORED

_NAMES_ONE = re.compile(r"(?:Bearer |Basic |Token )?\$\{\w+\}|\{\{\s*\w+\s*\}\}|")
_WORD = r"(?:(?:[A-Z]?[a-z]++(?:[A-Z][a-z]++){0,3}+|[A-Z]++)\d{0,2}|\d{1,3})(?!\d)"
_ORDINARY = re.compile(rf"[~./-]*+{_WORD}(?:[-_./:,@ ]++{_WORD})*+(?::\d{{2,5}})?+/?|\d+")
"""Words, numbers, paths, addresses and names of models, and nothing that was drawn by chance."""
_SCHEME = re.compile(r"(?:Bearer|Basic|Token)\s")
_OPTION = re.compile(r"--?(?P<name>[A-Za-z][\w-]*)")
_ASSIGNED = re.compile(r"-{0,2}(?P<name>[A-Za-z_][\w.-]*)(?:=|:\s*)(?P<value>.+)", re.DOTALL)
_PARAMETER = re.compile(r"[?&#;](?P<name>[\w.~-]+)=(?P<value>(?!\(not stored\))[^&#;\s]+)")


def names_one(value: str) -> bool:
    """Whether a value only names a variable, and is no secret."""
    return _NAMES_ONE.fullmatch(value) is not None


def looks_secret(name: str, value: str) -> bool:
    """Whether a variable or header of a server may be a key: its name says so, or its value is not
    made of ordinary words only, which answers and names of tools have in them too."""
    if names_secret(name) or _SCHEME.match(value):
        return True
    return _ORDINARY.fullmatch(value) is None


def secret_parts(words: Sequence[str]) -> Iterator[str]:
    """The secret parts of a command line, or of one address."""
    for before, word in zip(("", *words), words, strict=False):
        yield from (word[begin:end] for begin, end in _spans(before, word))


def without_secret_parts(words: Sequence[str]) -> list[str]:
    """The words as they may be stored."""
    return [
        _replaced(word, _spans(before, word))
        for before, word in zip(("", *words), words, strict=False)
    ]


def _replaced(word: str, spans: Iterator[tuple[int, int]]) -> str:
    shown, end = "", 0
    for begin, stop in sorted(set(spans)):
        if begin >= end:
            shown += word[end:begin] + NOT_STORED
            end = stop
    return shown + word[end:]


def _spans(before: str, word: str) -> Iterator[tuple[int, int]]:
    option = _OPTION.fullmatch(before)
    if option and names_secret(option["name"]) and not word.startswith("-"):
        found = [(0, len(word))]
    elif (one := _ASSIGNED.fullmatch(word)) and names_secret(one["name"]):
        found = [one.span("value")]
    else:
        parameters = [one for one in _PARAMETER.finditer(word) if names_secret(one["name"])]
        found = [one.span("value") for one in parameters]
        found += [one.span("login") for one in logins(word)]
    return ((begin, end) for begin, end in found if not names_one(word[begin:end]))

"""Secret parts of the command lines and addresses in a mode file: those whose name shows it, as
`--api-key VALUE`, `TOKEN=VALUE` and `?key=VALUE`, and the logins of addresses."""

import re
from collections.abc import Iterator, Sequence

from swarm_bench.config.addresses import find_logins
from swarm_bench.config.secret_names import names_secret
from swarm_bench.core.session.experiment import NOT_STORED

_NAMES_VARIABLE = re.compile(r"(?:Bearer |Basic |Token )?\$\{\w+\}|\{\{\s*\w+\s*\}\}|")
_WORD = r"(?:(?:[A-Z]?[a-z]++(?:[A-Z][a-z]++){0,3}+|[A-Z]++)\d{0,2}|\d{1,3})(?!\d)"
_ORDINARY = re.compile(rf"[~./-]*+{_WORD}(?:[-_./:,@ ]++{_WORD})*+(?::\d{{2,5}})?+/?|\d+")
"""Words, numbers, paths, addresses and names of models, and nothing that was drawn by chance."""
_SCHEME = re.compile(r"(?:Bearer|Basic|Token)\s")
_OPTION = re.compile(r"--?(?P<name>[A-Za-z][\w-]*)")
_ASSIGNED = re.compile(r"-{0,2}(?P<name>[A-Za-z_][\w.-]*)(?:=|:\s*)(?P<value>.+)", re.DOTALL)
_PARAMETER = re.compile(r"[?&#;](?P<name>[\w.~-]+)=(?P<value>(?!\(not stored\))[^&#;\s]+)")


def names_variable(value: str) -> bool:
    """Tell whether a value only names a variable, and is no secret."""
    return _NAMES_VARIABLE.fullmatch(value) is not None


def looks_secret(name: str, value: str) -> bool:
    """Tell whether a variable or header of a server may be a key: its name says so, or its value is
    not made of ordinary words only, which answers and names of tools have in them too."""
    if names_secret(name) or _SCHEME.match(value):
        return True
    return _ORDINARY.fullmatch(value) is None


def find_secret_parts(argv: Sequence[str]) -> Iterator[str]:
    """Yield the secret parts of a command line, or of one address."""
    for previous, word in zip(("", *argv), argv, strict=False):
        yield from (word[begin:end] for begin, end in _find_spans(previous, word))


def redact_secret_parts(argv: Sequence[str]) -> list[str]:
    """Replace the secret parts, so that the command line may be stored."""
    return [
        _replace_spans(word, _find_spans(previous, word))
        for previous, word in zip(("", *argv), argv, strict=False)
    ]


def _replace_spans(word: str, spans: Iterator[tuple[int, int]]) -> str:
    redacted, end = "", 0
    for begin, stop in sorted(set(spans)):
        if begin >= end:
            redacted += word[end:begin] + NOT_STORED
            end = stop
    return redacted + word[end:]


def _find_spans(previous: str, word: str) -> Iterator[tuple[int, int]]:
    option = _OPTION.fullmatch(previous)
    if option and names_secret(option["name"]) and not word.startswith("-"):
        spans = [(0, len(word))]
    elif (assigned := _ASSIGNED.fullmatch(word)) and names_secret(assigned["name"]):
        spans = [assigned.span("value")]
    else:
        parameters = [match for match in _PARAMETER.finditer(word) if names_secret(match["name"])]
        spans = [match.span("value") for match in parameters]
        spans += [match.span("login") for match in find_logins(word)]
    return ((begin, end) for begin, end in spans if not names_variable(word[begin:end]))

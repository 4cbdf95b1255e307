"""Foreign text made fit for a Markdown document: it can neither break a table nor format, hide or
reorder what stands around it."""

import re
import unicodedata

from swarm_bench.core.addresses import without_logins

# Line breaks, control characters, and the marks that reverse the direction of what follows.
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")
# Within a word an underscore is harmless, and names are full of them.
_MARKUP = re.compile(
    r"[\\`*|<\[\]~$]|(?<![0-9A-Za-z_])_++|(?<!_)_++(?![0-9A-Za-z])|&(?=[#0-9A-Za-z]+;)"
)
# A list, a quote, a heading or a rule begins with one of these at the start of a line.
_LINE_START = re.compile(r"\A(?:[#>+=-]|\d+(?=[.)]))")

_JOINER = "\u200d"


def plain(text: str) -> str:
    """One line, printable, valid UTF-8 when it is encoded, and without the logins of addresses."""
    return encodable(_UNPRINTABLE.sub(" ", without_logins(text))).strip()


def escaped(text: str) -> str:
    """One line that Markdown shows as it is written here."""
    return _LINE_START.sub(_behind_backslash, _MARKUP.sub(_each_behind_backslash, plain(text)))


def encodable(text: str) -> str:
    """JSON can carry half of a surrogate pair; UTF-8 cannot."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def cut(text: str, length: int) -> str:
    """At most `length` characters, then `...`; never in the middle of what reads as one."""
    if len(text) <= length:
        return text
    end = length
    while end > 0 and _continues(text, end):
        end -= 1
    return text[: end or length].rstrip() + "..."


def _each_behind_backslash(match: re.Match[str]) -> str:
    return "".join(f"\\{character}" for character in match[0])


def _behind_backslash(match: re.Match[str]) -> str:
    # A number is disarmed at its dot: `1\.`; anything else by a backslash before it.
    return f"{match[0]}\\" if match[0].isdigit() else f"\\{match[0]}"


def _continues(text: str, at: int) -> bool:
    """Whether the character at this place belongs to the one before it."""
    character = text[at]
    if character == _JOINER or text[at - 1] == _JOINER:
        return True
    if unicodedata.category(character).startswith("M") or "\U0001f3fb" <= character <= "\U0001f3ff":
        return True
    return _is_flag_half(character) and _flag_halves_before(text, at) % 2 == 1


def _is_flag_half(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flag_halves_before(text: str, at: int) -> int:
    start = at
    while start > 0 and _is_flag_half(text[start - 1]):
        start -= 1
    return at - start

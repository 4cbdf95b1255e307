"""Foreign text made fit for a Markdown document: it can neither break a table nor format, hide or
reorder what stands around it."""

import re
import unicodedata
from collections.abc import Callable

from markupsafe import Markup

from swarm_bench.config.addresses import remove_logins

# Line breaks, control characters, and what cannot be seen: marks that reverse the direction of what
# follows, spaces without width, and the letters of tags. Joiners stay: words and emoji need them.
_INVISIBLE = (
    "\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f"
)
_UNPRINTABLE = re.compile(f"[\x00-\x1f{_INVISIBLE}]+")
_UNPRINTABLE_IN_BLOCK = re.compile(f"[\x00-\x08\x0b-\x1f{_INVISIBLE}]")
_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")
# Within a word an underscore is harmless, and names are full of them.
_MARKUP = re.compile(
    r"[\\`*|<\[\]~$]|(?<![0-9A-Za-z_])_++|(?<!_)_++(?![0-9A-Za-z])|&(?=[#0-9A-Za-z]+;)"
)
# A list, a quote, a heading or a rule begins with one of these at the start of a line.
_LINE_START = re.compile(r"\A(?:[#>+=-]|\d+(?=[.)](?:\s|\Z)))")
_WORD = re.compile(r"""[^\s`|<>()\[\]{}"'*~\\$]++""")
# What becomes a link, notifies somebody or refers to an issue without any markup.
_LIVE = re.compile(r"://|(?<![0-9a-z])(?:www\.|mailto:|xmpp:|GH-\d)|@\w|#\d", re.IGNORECASE)
_WORD_OR_MARKUP = re.compile(f"(?P<word>{_WORD.pattern})|{_MARKUP.pattern}")
_BACKTICKS = re.compile(r"`{3,}")

_SENTENCE, _WORD_LENGTH = 100, 40
"""Characters from which on a text has sentences, and of the longest word that is kept whole."""
_JOINER = "\u200d"


def plain(text: str) -> str:
    """Return one line, printable, valid UTF-8 when it is encoded, and without the logins of
    addresses."""
    return encodable(_UNPRINTABLE.sub(" ", remove_logins(text))).strip()


def escape(text: str) -> str:
    """Return one line that Markdown shows as it is written here; what a page would make a link, a
    mention or a reference of by itself, as code."""
    return _LINE_START.sub(_escape_first, _WORD_OR_MARKUP.sub(_disarm, plain(text)))


def format_code_block(text: str) -> str:
    """Make a block of code that Markdown shows as it is, with whatever is in it; what cannot be
    seen by its number."""
    visible_text = visible(encodable(text).replace("\r\n", "\n"))
    fence = "`" * (1 + max([2, *map(len, _BACKTICKS.findall(visible_text))]))
    return f"{fence}text\n{visible_text.removesuffix(chr(10))}\n{fence}"


def visible(text: str) -> str:
    """Return the lines with what cannot be seen by its number, as `<U+001B>`."""
    return _UNPRINTABLE_IN_BLOCK.sub(lambda hidden: f"<U+{ord(hidden[0]):04X}>", text)


def clean(value: object) -> object:
    """Return a text as it is put into a template of HTML or SVG, which escapes it: with what cannot
    be seen by its number, valid UTF-8 when it is encoded, and without the logins of addresses. The
    templates' own parts stay as they are."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    text = remove_logins(value)
    if text.isascii() and text.replace("\n", "").isprintable():  # most texts; no pattern is as fast
        return text
    return visible(encodable(text))


def encodable(text: str) -> str:
    """Replace halves of surrogate pairs: JSON can carry them, UTF-8 cannot."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def cut(text: str, length: int) -> str:
    """Return at most `length` characters, then `...`; never cut in the middle of what reads as
    one, and a sentence between its words."""
    if len(text) <= length:
        return text
    end = length
    if length >= _SENTENCE:
        end = max(text.rfind(" ", length - _WORD_LENGTH, length + 1), 0) or length
    while end > 0 and _continues(text, end):
        end -= 1
    return text[: end or length].rstrip() + "..."


def keep_blanks(text: str, write: Callable[[str], str]) -> str:
    """Write a part of a line, and keep the blanks at both ends, which separate the parts."""
    leading, trailing = text[: -len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{leading}{write(text)}{trailing}" if text.strip() else text


def _disarm(match: re.Match[str]) -> str:
    word = match["word"]
    if word is None:
        return _escape_each(match)
    if _LIVE.search(word) is None:
        return _MARKUP.sub(_escape_each, word)
    live = word.rstrip(".,:;!?")
    return f"`{live}`{word[len(live) :]}"


def _escape_each(match: re.Match[str]) -> str:
    return "".join(f"\\{character}" for character in match[0])


def _escape_first(match: re.Match[str]) -> str:
    # A number is disarmed at its dot: `1\.`; anything else by a backslash before it.
    return f"{match[0]}\\" if match[0].isdigit() else f"\\{match[0]}"


def _continues(text: str, at: int) -> bool:
    """Tell whether the character at this place belongs to the one before it."""
    character = text[at]
    if character == _JOINER or text[at - 1] == _JOINER:
        return True
    if unicodedata.category(character).startswith("M") or "\U0001f3fb" <= character <= "\U0001f3ff":
        return True
    return _is_flag_half(character) and _count_flag_halves(text, at) % 2 == 1


def _is_flag_half(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _count_flag_halves(text: str, at: int) -> int:
    start = at
    while start > 0 and _is_flag_half(text[start - 1]):
        start -= 1
    return at - start

"""How a secret may be written: as it is, and as programs encode what they hand on."""

import base64
import json
import re
from collections.abc import Iterator
from itertools import pairwise
from urllib.parse import quote, quote_plus

BYTES = "surrogateescape"
"""How a variable holds bytes that are no UTF-8."""
_SHORTEST_BASE64 = 8
"""Characters; shorter ones would be found in ordinary words."""
_WIDTHS = (64, 76)
"""Characters of a line of base64, as OpenSSL and `base64` print it."""
_LINE_BREAKS = (b"\n", rb"\n", rb"\\n", b"\r\n", rb"\r\n", rb"\\r\\n")
"""As it is, in JSON, and in a text within a text."""
_LONGEST_IN_LINES = 256
"""Characters of base64; the forms of a longer secret would take a hundred megabytes."""
_URL_SAFE = bytes.maketrans(b"+/", b"-_")
_PERCENT = re.compile(rb"%[0-9A-F]{2}")


def forms(secret: str) -> set[bytes]:
    """Return all of them; an ordinary secret is the same in JSON and in an address."""
    plain = secret.encode(errors=BYTES)
    encoded = {part for before in range(3) for part in _base64(plain, before)}
    digits = plain.hex().encode()
    return {
        *_json(secret),
        *_escaped(secret),
        *_quoted(plain),
        *encoded,
        digits,
        digits.upper(),
    }


def _json(secret: str) -> set[bytes]:
    texts = {secret}
    for _ in range(2):  # the output of a tool stands as a text within a text
        texts |= {
            json.dumps(text, ensure_ascii=ascii)[1:-1] for text in texts for ascii in (False, True)
        }
    return {text.encode(errors=BYTES) for text in texts}


def _escaped(secret: str) -> Iterator[bytes]:
    """Yield it with an escape for every character, in JSON and in a text within a text."""
    units = secret.encode("utf-16-be", "surrogatepass").hex("-", 2).split("-")
    for escape in (rb"\u", rb"\\u"):
        for digits in (units, [unit.upper() for unit in units]):
            yield b"".join(escape + unit.encode() for unit in digits)


def _quoted(plain: bytes) -> set[bytes]:
    upper = {quote(plain).encode(), quote(plain, safe="").encode(), quote_plus(plain).encode()}
    return upper | {_PERCENT.sub(lambda escape: escape[0].lower(), text) for text in upper}


def _base64(plain: bytes, before: int) -> set[bytes]:
    """Return the characters that the secret alone decides when `before` bytes precede it in its
    group of three, as in the `user:` of a Basic login; also as an address writes them."""
    encoded = base64.b64encode(b"\0" * before + plain)
    own = encoded[-(-8 * before // 6) : 8 * (before + len(plain)) // 6]
    if len(own) < _SHORTEST_BASE64:
        return set()
    return {own, own.translate(_URL_SAFE), *_quoted(own), *_in_lines(own, -(-8 * before // 6))}


def _in_lines(own: bytes, before: int) -> Iterator[bytes]:
    """Break the characters into lines, wherever a line may end: a whole group of four after those
    of the `before` others."""
    for width in _WIDTHS if len(own) <= _LONGEST_IN_LINES else ():
        for first in range(4 - before % 4, min(width + 1, len(own)), 4):
            ends = [0, *range(first, len(own), width), len(own)]
            lines = [own[begin:end] for begin, end in pairwise(ends)]
            yield from (line_break.join(lines) for line_break in _LINE_BREAKS)

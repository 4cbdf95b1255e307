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
"""Line breaks as they are, in JSON, and in a text within a text."""
_LONGEST_IN_LINES = 256
"""Characters of base64; the forms of a longer secret would take a hundred megabytes."""
_URL_SAFE = bytes.maketrans(b"+/", b"-_")
_PERCENT = re.compile(rb"%[0-9A-F]{2}")


def encode_all(secret: str) -> set[bytes]:
    """Return all of them; an ordinary secret is the same in JSON and in an address."""
    plain = secret.encode(errors=BYTES)
    encoded = {part for prefix in range(3) for part in _encode_base64(plain, prefix)}
    digits = plain.hex().encode()
    return {
        *_encode_json(secret),
        *_escape(secret),
        *_quote_all(plain),
        *encoded,
        digits,
        digits.upper(),
    }


def _encode_json(secret: str) -> set[bytes]:
    texts = {secret}
    for _ in range(2):  # the output of a tool stands as a text within a text
        texts |= {
            json.dumps(text, ensure_ascii=ascii)[1:-1] for text in texts for ascii in (False, True)
        }
    return {text.encode(errors=BYTES) for text in texts}


def _escape(secret: str) -> Iterator[bytes]:
    """Yield it with an escape for every character, in JSON and in a text within a text."""
    units = secret.encode("utf-16-be", "surrogatepass").hex("-", 2).split("-")
    for escape in (rb"\u", rb"\\u"):
        for digits in (units, [unit.upper() for unit in units]):
            yield b"".join(escape + unit.encode() for unit in digits)


def _quote_all(plain: bytes) -> set[bytes]:
    upper = {quote(plain).encode(), quote(plain, safe="").encode(), quote_plus(plain).encode()}
    return upper | {_PERCENT.sub(lambda escape: escape[0].lower(), text) for text in upper}


def _encode_base64(plain: bytes, prefix: int) -> set[bytes]:
    """Return the characters that the secret alone decides when `prefix` bytes precede it in its
    group of three, as in the `user:` of a Basic login; also as an address writes them."""
    encoded = base64.b64encode(b"\0" * prefix + plain)
    encoded_secret = encoded[-(-8 * prefix // 6) : 8 * (prefix + len(plain)) // 6]
    if len(encoded_secret) < _SHORTEST_BASE64:
        return set()
    return {
        encoded_secret,
        encoded_secret.translate(_URL_SAFE),
        *_quote_all(encoded_secret),
        *_break_lines(encoded_secret, -(-8 * prefix // 6)),
    }


def _break_lines(encoded: bytes, prefix: int) -> Iterator[bytes]:
    """Break the characters into lines, wherever a line may end: a whole group of four after those
    of the `prefix` others."""
    for width in _WIDTHS if len(encoded) <= _LONGEST_IN_LINES else ():
        for first in range(4 - prefix % 4, min(width + 1, len(encoded)), 4):
            breaks = [0, *range(first, len(encoded), width), len(encoded)]
            lines = [encoded[begin:end] for begin, end in pairwise(breaks)]
            yield from (line_break.join(lines) for line_break in _LINE_BREAKS)

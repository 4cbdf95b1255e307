"""Bytes as others write them: honest ones that were changed, by the byte and by the value."""

import json
from typing import Any

from hypothesis import strategies as st

LONGEST_SEED = 6_000
"""Bytes; longer ones are cut, so that an example takes milliseconds."""
TOKENS = [
    b"\x00", b"\xff", b"\xed\xa0\x80", b"\xe2\x80\xae", b"\x1b[2J", b"\r", b"\n", b"\x1e", b"\\",
    b'"', b"'", b"`", b"{", b"}", b"[", b"]", b"<", b"&amp;", b"*", b"|", b"#1", b"@a", b"://",
    b"NaN", b"Infinity", b"-1", b"1e999", b"9" * 400, b"null", b"true", b'{"type":', b'"\\ud800"',
    b"!!int ''", b"!!timestamp x", b"!!bool x", b"&a [*a]", b"<<: [1]", b"? [a]\n: 1", b"${A}",
    b"{{ prompt }}", b"$(", b"<<E\n", b"(?P<a>", b"../", b"[" * 2_000, b"a" * 3_000, b"9" * 5_000,
]  # fmt: skip
"""What has a meaning to one of the parsers."""
# `st.text` would first read all of Unicode, which takes longer than the tests.
TEXT = st.lists(st.sampled_from("ab /._-:#@`é\n\x00\u202e\ud800"), max_size=12).map("".join)
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT
    | st.sampled_from(["\ud800", "\x00", "../x", "a" * 3_000, 10**400, -(2**63), 2**53 + 1, ""])
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=8,
)


def foreign(seeds: list[bytes]) -> st.SearchStrategy[bytes]:
    """Anything at all, or one of the seeds with a few changes."""
    short = [seed[:LONGEST_SEED] for seed in seeds]
    return st.one_of(st.binary(max_size=200), edited(short), retold(short))


@st.composite
def edited(draw: st.DrawFn, seeds: list[bytes]) -> bytes:
    """A seed of which pieces were cut, said twice or replaced."""
    data = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(1, 4))):
        start, end = sorted(draw(st.tuples(*[st.integers(0, len(data))] * 2)))
        piece = draw(st.sampled_from([b"", *TOKENS]) | st.just(data[start:end] * 2))
        data = data[:start] + piece + data[min(end, start + 40) :]
    return data


@st.composite
def retold(draw: st.DrawFn, seeds: list[bytes]) -> bytes:
    """A seed with lines of JSON in which values were replaced by others, or left out."""
    lines = draw(st.sampled_from(seeds)).split(b"\n")
    for _ in range(draw(st.integers(1, 3))):
        number = draw(st.integers(0, len(lines) - 1))
        try:
            value = json.loads(lines[number])
        except (ValueError, RecursionError):
            continue
        lines[number] = json.dumps(_changed(draw, value)).encode("utf-8", "surrogatepass")
    return b"\n".join(lines)


def _changed(draw: st.DrawFn, value: Any) -> Any:
    """The value with one below it replaced."""
    keys = (
        list(value)
        if isinstance(value, dict)
        else range(len(value or ()))
        if isinstance(value, list)
        else ()
    )
    if not keys or draw(st.integers(0, 5)) == 0:
        return draw(VALUES)
    key = draw(st.sampled_from(keys))
    changed = value.copy()
    changed[key] = _changed(draw, value[key])
    return changed

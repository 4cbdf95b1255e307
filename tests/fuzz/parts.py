"""Several files in one string of bytes, and where honest ones are found."""

from collections.abc import Mapping, Sequence

BETWEEN = b"\x1e"

SAMPLES: Mapping[str, Sequence[str]] = {
    "claude": ("tests/agents/samples/claude-code/*",),
    "codex": ("tests/agents/samples/codex/*",),
    "gemini": ("tests/agents/samples/gemini/*",),
    "opencode": ("tests/agents/samples/opencode/*",),
    "qwen": ("tests/agents/samples/qwen/*",),
    "command": ("tests/agents/samples/claude-code/success*",),
}
"""Of each agent program, what it printed."""


def parts(data: bytes, count: int) -> list[bytes]:
    """That many pieces; those that are not there are empty."""
    found = data.split(BETWEEN, count - 1)
    return found + [b""] * (count - len(found))


def joined(*pieces: bytes) -> bytes:
    return BETWEEN.join(pieces)

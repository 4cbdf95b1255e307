import pytest

from swarm_bench.retrieval.modes.secret_parts import (
    find_secret_parts,
    looks_secret,
    redact_secret_parts,
)

HIDDEN = "(not stored)"


@pytest.mark.parametrize(
    ("words", "stored"),
    [
        (["--api-key", "abc", "--root", "x"], ["--api-key", HIDDEN, "--root", "x"]),
        (["--api-key=abc", "-e", "TOKEN=abc"], [f"--api-key={HIDDEN}", "-e", f"TOKEN={HIDDEN}"]),
        (["--header", "Authorization: Bearer abc"], ["--header", f"Authorization: {HIDDEN}"]),
        (["http://me:abc@host/x?key=abc&q=1"], [f"http://{HIDDEN}@host/x?key={HIDDEN}&q=1"]),
        (["--db=postgres://me:abc@host/x"], [f"--db=postgres://{HIDDEN}@host/x"]),
        (["--token", "${TOKEN}", "--key={{ workspace }}"],) * 2,
        (["--token", "--verbose", "--token-file", "x"],) * 2,
        (["-y", "@scope/server@1.0", "https://host/x?level=2"],) * 2,
        ([],) * 2,
    ],
)  # fmt: skip
def test_secret_parts_of_command_lines_and_addresses(words: list[str], stored: list[str]) -> None:
    assert redact_secret_parts(words) == stored
    assert redact_secret_parts(stored) == stored
    assert bool(list(find_secret_parts(words))) == (words != stored)


@pytest.mark.parametrize(
    ("value", "is_secret"),
    [
        ("codebase", False),
        ("text-embedding-3-small", False),
        ("src/flask", False),
        ("/data/index/", False),
        ("~/.cache/index", False),
        ("https://api.example.com/v1", False),
        ("localhost:8080", False),
        ("100000000", False),
        ("IndexOfEverything", False),
        ("x" * 100_000, False),
        ("Ab3dEf6hIj9lMn2p", True),
        ("correct/horse+7f~3a", True),
        ("sk-ant-a1b2c3d4", True),
        ("550e8400-e29b-41d4-a716-446655440000", True),
        ("qWeRtYuIoPaSdFgH", True),
        ("licence-12345", True),
        ("Bearer plain-words", True),
        ("https://me:plain@host", False),  # its login is known apart
        ("a-" * 50_000 + "!", True),
        ("aB" * 50_000 + "!", True),
    ],
)
def test_what_looks_like_a_key(value: str, is_secret: bool) -> None:
    assert looks_secret("THING", value) == is_secret
    assert looks_secret("THING_KEY", value)

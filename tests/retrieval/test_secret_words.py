import pytest

from swarm_bench.retrieval.secret_words import secret_parts, without_secret_parts

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
    assert without_secret_parts(words) == stored
    assert without_secret_parts(stored) == stored
    assert bool(list(secret_parts(words))) == (words != stored)

"""Chunks are those of the reference program in parity, and join to the file by default."""

import hashlib
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swarm_bench.benchmarks.completion.benchmark import split_chunks
from tests.benchmarks.completion.data_files import contracts, read_json

GOLDEN = read_json("chunks.json")
CONTRACTS = contracts()
LARGEST = 2048


@pytest.mark.parametrize("path", GOLDEN)
def test_parity_has_the_chunks_of_the_reference_program(path: str) -> None:
    pieces = split_chunks(CONTRACTS[path], "solidity", LARGEST, parity=True)
    digests = [hashlib.sha256(piece.encode()).hexdigest()[:16] for piece in pieces]
    assert {"sizes": [*map(len, pieces)], "sha256": digests} == GOLDEN[path]


def test_by_default_chunks_join_to_the_file() -> None:
    assert len(CONTRACTS) == 50
    for text in CONTRACTS.values():
        pieces = split_chunks(text, "solidity", LARGEST)
        assert "".join(pieces) == text
        assert max(map(len, pieces)) <= LARGEST
    joined = [
        "".join(split_chunks(text, "solidity", LARGEST, parity=True)) for text in CONTRACTS.values()
    ]
    assert sum(text != whole for text, whole in zip(CONTRACTS.values(), joined, strict=True)) == 25


@pytest.mark.parametrize(
    ("language", "pieces"),
    [
        ("solidity", ["a b\nfunction f() {}", "\nfunction g() {}"]),
        ("python", ["import os", "\ndef f(): return 1", "\nclass C: pass"]),
        ("go", ["package a", "\nfunc f(a, b) {}", "\nfunc g(a, b) {}"]),
        (None, ["one two\n\nthree four", "\n\nfive sixs\n\n\nseven"]),
        ("solidity", ["x" * 20, "x" * 20, "x" * 9]),
    ],
)
def test_code_is_cut_at_declarations_and_anywhere_if_there_are_none(
    language: str | None, pieces: list[str]
) -> None:
    assert split_chunks("".join(pieces), language, 20) == pieces


@pytest.mark.parametrize("parity", [False, True])
def test_a_line_of_a_megabyte_is_cut_without_a_list_of_its_characters(parity: bool) -> None:
    tracemalloc.start()
    cut = split_chunks("x" * 1_000_000, None, LARGEST, parity=parity)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(cut) > 480
    assert most < 5_000_000


_TEXTS = st.lists(
    st.sampled_from(["\nfunction ", "\n", "\n\n", " ", "x", "x" * 30, "\r\n", "\0", "\u2028", "é"]),
    max_size=60,
).map("".join)


@settings(max_examples=200)
@given(_TEXTS | st.text(), st.sampled_from(["solidity", "python", None]), st.integers(1, 40))
def test_any_text_is_cut_into_chunks_that_join_to_it(
    text: str, language: str | None, largest: int
) -> None:
    cut = split_chunks(text, language, largest)
    assert "".join(cut) == text
    assert all(0 < len(piece) <= largest for piece in cut)
    assert set("".join(split_chunks(text, language, largest, parity=True))) == set(text)

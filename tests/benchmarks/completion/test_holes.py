"""Holes depend on the seed, the path and the part alone, and none is of blanks."""

import hashlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swarm_bench.benchmarks.completion.benchmark import split_chunks
from swarm_bench.benchmarks.completion.holes import PARTS, Hole, Part, Sampler
from tests.benchmarks.completion.data_files import contracts

CONTRACTS = contracts()


def sampler(seed: int = 42, lines: int = 1, parity: bool = False) -> Sampler:
    return Sampler(seed=seed, samples=3, lines=lines, least=3, parity=parity)


def drawn(own: Sampler, part: Part) -> list[Hole]:
    return [
        hole
        for path, text in CONTRACTS.items()
        for hole in own.draw_holes(
            path, split_chunks(text, "solidity", 2048, parity=own.parity), part
        )
    ]


def digest(holes: list[Hole]) -> str:
    texts = [[hole.path, hole.prefix, hole.middle, hole.suffix] for hole in holes]
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:16]


@pytest.mark.parametrize(
    ("part", "parity", "expected"),
    [
        ("whole_line", False, "d088ca9b067969be"),
        ("until_eol", False, "789364565333efb7"),
        ("whole_line", True, "8117aa47ac37eae0"),
        ("until_eol", True, "350092638b2689cf"),
    ],
)
def test_holes_are_the_same_on_every_machine(part: Part, parity: bool, expected: str) -> None:
    holes = drawn(sampler(parity=parity), part)
    assert len(holes) == 150
    assert digest(holes) == expected


def test_holes_do_not_depend_on_other_files_nor_on_the_other_part() -> None:
    path, text = next(iter(CONTRACTS.items()))
    pieces = split_chunks(text, "solidity", 2048)
    for part in PARTS:
        alone = sampler().draw_holes(path, pieces, part)
        assert alone == [hole for hole in drawn(sampler(), part) if hole.path == path]
        assert alone != sampler(seed=43).draw_holes(path, pieces, part)


@pytest.mark.parametrize("parity", [False, True])
def test_holes_are_of_the_kind_of_their_part(parity: bool) -> None:
    for hole in drawn(sampler(parity=parity), "whole_line"):
        assert hole.prefix.endswith("\n")
        assert hole.middle.endswith("\n")
        assert hole.middle.count("\n") == 1
        assert hole.suffix
    holes = drawn(sampler(parity=parity), "until_eol")
    for hole in holes:
        assert hole.prefix
        assert hole.suffix
        assert len(hole.middle) >= 3
        assert hole.middle.strip()
    assert any(not hole.middle.splitlines()[0].strip() for hole in holes) is parity


def test_several_lines_or_any_number_of_them_can_be_masked() -> None:
    counts = {hole.middle.count("\n") for hole in drawn(sampler(lines=3), "whole_line")}
    assert counts == {3}
    assert len({hole.middle.count("\n") for hole in drawn(sampler(lines=0), "whole_line")}) > 5


@pytest.mark.parametrize(
    "text", ["", "\n", "x", "x\ny", " \n \n \n", "x\n\n\ny", "ab", "abc", "\n" * 9999], ids=repr
)
def test_what_has_no_hole_ends_without_one(text: str) -> None:
    for part in PARTS:
        for parity in (False, True):
            pieces = split_chunks(text, "solidity", 2048, parity=parity)
            assert sampler(parity=parity).draw_holes("a.sol", pieces, part) == []


def test_a_file_with_few_holes_gives_those() -> None:
    (hole,) = sampler().draw_holes("a.sol", ["a\nb = 1;\nc\n"], "whole_line")
    assert (hole.prefix, hole.middle, hole.suffix) == ("a\n", "b = 1;\n", "c\n")
    assert len(sampler().draw_holes("a.sol", ["abcdefg"], "until_eol")) == 3


def test_an_endless_line_hangs_nobody() -> None:
    pieces = split_chunks("x" * 100_000, "solidity", 2048)
    assert sampler().draw_holes("a.sol", pieces, "whole_line") == []
    assert len(sampler().draw_holes("a.sol", pieces, "until_eol")) == 3


@settings(max_examples=200)
@given(
    st.text() | st.text(alphabet="ab \n\r\u2028;"),
    st.sampled_from(PARTS),
    st.booleans(),
    st.integers(0, 3),
)
def test_any_text_has_only_holes_that_can_be_asked(
    text: str, part: Part, parity: bool, lines: int
) -> None:
    pieces = split_chunks(text, "solidity", 64, parity=parity)
    holes = sampler(parity=parity, lines=lines).draw_holes("a.sol", pieces, part)
    assert len(set(holes)) == len(holes) <= 3
    for hole in holes:
        assert hole.middle.strip()
        assert hole.prefix + hole.middle + hole.suffix == hole.text

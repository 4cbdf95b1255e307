import pytest

from swarm_bench.programs.canopy.nodes import NodeType, handle_hex, normal_hex, preview


def test_an_id_is_the_one_that_canopy_gives_to_the_same_span() -> None:
    found = handle_hex("src/main.rs", NodeType.FUNCTION, 100, 200)
    assert found == "480e9c0b26bb3a74820d0ca0"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("480e9c0b26bb3a74820d0ca0", "480e9c0b26bb3a74820d0ca0"),
        ("h480e9c0b26bb3a74820d0ca0", "480e9c0b26bb3a74820d0ca0"),
        ("hh480e9c0b26bb3a74820d0ca0", None),
        ("480e9c0b26bb3a74820d0cag", None),
        ("", None),
    ],
)
def test_both_forms_of_an_id_are_read(given: str, expected: str | None) -> None:
    assert normal_hex(given) == expected


def test_a_preview_is_one_line_and_says_when_there_is_more() -> None:
    assert preview(b"  a\n\tb  ", 0, 8) == "a b"
    assert preview(b"x" * 101, 0, 101) == "x" * 100 + "..."


def test_a_preview_does_not_cut_a_character() -> None:
    source = ("x" * 99 + "é" + "y").encode()
    assert preview(source, 0, len(source)) == "x" * 99 + "..."

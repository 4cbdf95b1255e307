"""What the errors say."""

from swarm_bench.core.errors import UnknownName


def test_of_thousands_of_names_the_first_are_named() -> None:
    few = str(UnknownName("case", "x", ["b0", "a1"]))
    assert few == "There is no case called 'x'; known: a1, b0"
    many = str(UnknownName("case", "x", [f"case {number:05}" for number in range(30_000)]))
    assert many.endswith("case 00028, case 00029 and 29,970 more")
    assert many.startswith("There is no case called 'x'; known: case 00000, case 00001, ")

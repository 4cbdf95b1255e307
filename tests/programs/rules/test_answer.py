"""The answer: what it says, and that any line can be quoted in it."""

import re

from swarm_bench.programs.rules.answer import write
from swarm_bench.programs.rules.observations import Observations
from swarm_bench.text.terms import terms_of
from tests.builders.golden import Sentences

TERMS = terms_of("Find the login and the session store.")


def test_fences_are_longer_than_those_they_hold(golden: Sentences) -> None:
    observed = Observations()
    observed.add_window("a.md", 1, ["# Login", "```sh", "login", "```", "````"])
    answer = write(TERMS, observed, ["a.md"])
    golden(answer)


def test_an_excerpt_ends_where_the_seen_lines_end(golden: Sentences) -> None:
    observed = Observations()
    observed.add_window("a.py", 5, ["def login():", "    return 1", ""])
    observed.add_line("a.py", 9, "login()")
    answer = write(TERMS, observed, [])
    golden(answer)


def test_long_lines_and_ticks_are_quoted() -> None:
    observed = Observations()
    observed.add_window("a.js", 1, ["login(`x`)" + "y" * 500])
    answer = write(TERMS, observed, [])
    assert max(map(len, answer.split("\n"))) < 400
    assert "`` login(`x`)yyy" in answer


def test_files_seen_are_kept_apart_from_files_only_ranked(golden: Sentences) -> None:
    observed = Observations()
    observed.add_window("a.py", 1, ["login()"])
    answer = write(TERMS, observed, ["a.py", "b.py"])
    golden(answer)
    assert not re.search(r"b\.py:\d", answer)


def test_nothing_seen_is_nothing_cited(golden: Sentences) -> None:
    answer = write(TERMS, Observations(), ["a.py"])
    golden(answer)
    assert "a.py" not in answer


def test_what_was_read_comes_before_what_a_server_only_named() -> None:
    """And first of all what defines the name that the task spells out."""
    terms = terms_of("Where is `storable` defined?")
    observed = Observations()
    named = [f"t{number}.py" for number in range(6)]
    for path in named:
        observed.add_window(path, 1, ["storable(1)"])
    observed.add_line("shown.py", 3, "def storable(x):")
    observed.add_window("right.py", 40, ["def storable(value):", "    return value"])
    answer = write(terms, observed, ["shown.py", *named, "right.py"])
    paths = re.findall(r"^### `(.*)`", answer, re.MULTILINE)
    assert paths == ["right.py", *named[:5]]
    assert "shown.py" not in answer

"""Which programs a shell would start for a line, with which files: each was read otherwise before
lines were parsed by a grammar."""

import pytest

from swarm_bench.retrieval.reach.command_lines import find_commands

LINES = {
    "grep x f &> out.txt": [("grep x f", "", "out.txt")],
    "make >& log": [("make", "", "log")],
    "cat $(ls a b) c.py": [("cat $(ls a b) c.py", "", ""), ("ls a b", "", "")],
    "X=$(cat e) python f.py": [("python f.py", "", ""), ("cat e", "", "")],
    "[[ -f a && -f b ]] && cat d": [("[[ -f a && -f b ]]", "", ""), ("cat d", "", "")],
    "diff <(cat a) <(cat b) > out": [("diff", "", "out"), ("cat a", "", ""), ("cat b", "", "")],
    "cat <<EOF\n$(cat g)\nEOF": [("cat", "", ""), ("cat g", "", "")],
    "foo() { cat k; }; foo": [("cat k", "", ""), ("foo", "", "")],
    "case $x in a) cat q;; esac": [("case $x in esac", "", ""), ("cat q", "", "")],
    "while read l; do cat $l; done < list": [
        *(("", "list", ""), ("read l", "", ""), ("cat $l", "", ""))
    ],
}  # fmt: skip


@pytest.mark.parametrize("line", LINES)
def test_what_a_line_starts(line: str) -> None:
    read = [
        (" ".join(command.argv), " ".join(command.inputs), " ".join(command.outputs))
        for command in find_commands(line)
    ]
    assert read == LINES[line]


@pytest.mark.parametrize("line", ["cat 'a.py", "cat a.py ) (", "if cat a.py", "((( cat a.py"])
def test_what_is_no_shells_line_is_read_word_by_word(line: str) -> None:
    words = [word for command in find_commands(line) for word in command.argv]
    assert "a.py" in words


def test_a_line_longer_than_any_shell_takes_hides_nothing() -> None:
    line = f"cat {'x' * 200_000} | grep secret.py"
    assert ("grep", "secret.py") in [command.argv for command in find_commands(line)]


def test_what_is_nested_deeper_than_is_told_apart_hides_nothing() -> None:
    line = f"{'(' * 60}cat secret.py{')' * 60}"
    assert any("secret.py" in command.argv for command in find_commands(line))

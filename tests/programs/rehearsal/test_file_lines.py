"""Forms in which real programs give a part of a file."""

import pytest

from swarm_bench.programs.rehearsal.thinking import file_lines

WINDOWS = {
    "tab": "5\tfive\n6\t\n7\t  seven",
    "cat -n": "     5\tfive\n     6\t\n     7\t  seven\n",
    "arrow": "    5→five\n    6→\n    7→  seven",
    "bar": "<file>\n00005| five\n00006| \n00007|   seven\n\n(File has more lines.)\n</file>",
    "colon": "<path>/w/a.md</path>\n<type>file</type>\n<content>\n5: five\n6: \n7:   seven\n\n"
    "(Showing lines 5-7 of 151. Use offset=8 to continue.)\n</content>",
    "shell": "<untrusted_context>\nOutput:      5\tfive\n     6\t\n     7\t  seven\n"
    "Process Group PGID: 7805\n</untrusted_context>",
    "gemini": "\nIMPORTANT: The file content has been truncated.\nStatus: Showing lines 5-7 of 152 "
    "total lines.\nAction: To read more of the file, use start_line: 8.\n\n"
    "--- FILE CONTENT (truncated) ---\nfive\n\n  seven",
    "qwen": "Showing lines 5-7 of 152 total lines.\n\n---\n\nfive\n\n  seven",
    "whole": "1\n2\n3\n4\nfive\n\n  seven\neight\n",
    "reminder": "5\tfive\n6\t\n7\t  seven\n\n<system-reminder>\n9 tokens left\n</system-reminder>",
}


@pytest.mark.parametrize("form", WINDOWS)
def test_the_lines_asked_for(form: str) -> None:
    found = file_lines.extract_lines(WINDOWS[form], {"offset": 5, "limit": 3})
    assert found == "5\tfive\n6\t\n7\t  seven"


def test_the_line_behind_the_last_line_break_is_none() -> None:
    assert file_lines.extract_lines("one\ntwo\n", {"offset": 1, "limit": 60}) == "1\tone\n2\ttwo"
    assert file_lines.extract_lines("1\tone\n2\t", {"offset": 1, "limit": 60}) == "1\tone"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Showing lines 5001-5001 of 68 total lines.\n\n---\n\n",
        "<system-reminder>Warning: the file is shorter than the offset.</system-reminder>",
    ],
)
def test_no_lines(text: str) -> None:
    assert file_lines.extract_lines(text, {"offset": 5001, "limit": 60}) == ""


def test_a_file_full_of_blanks_is_read_at_once() -> None:
    assert file_lines.extract_lines(" " * 200_000 + "x", {"offset": 1, "limit": 1}).endswith("x")


def test_a_number_that_is_too_long_is_none() -> None:
    text = f"{'9' * 5000}\tx\n1\tone\n{'9' * 5000}: x"
    assert file_lines.extract_lines(text, {"offset": 1, "limit": 9}) == "1\tone"

"""Forms in which real programs print what a search found."""

import pytest

from swarm_bench.programs.rehearsal.thinking import grep_lines
from swarm_bench.programs.rehearsal.thinking.grep_lines import Scope

EVERYWHERE = Scope(workspace="/w/shop")
SHOWN = {
    "ripgrep": "app/a.py:6:import job\napp/a.py:23:    job()\n\n[Showing results with pagination]",
    "grep": "./app/a.py:6:import job\n./app/a.py:23:    job()",
    "absolute": "/w/shop/app/a.py:6:import job\n/w/shop/app/a.py:23:    job()",
    "gemini": 'Found 2 matches for pattern "job" in the workspace directory:\n---\n'
    "File: app/a.py\nL5- # about a job\nL6: import job\nL23:     job()\nL24- # job\n---",
    "gemini shell": "<untrusted_context>\nOutput: ./app/a.py:6:import job\n"
    "./app/a.py:23:    job()\nProcess Group PGID: 7805\n</untrusted_context>",
    "opencode": "Found 2 matches\n/w/shop/app/a.py:\n  Line 6: import job\n\n"
    "  Line 23:     job()\n",
    "codex": "Chunk ID: 33173d\nWall time: 0.0000 seconds\nProcess exited with code 0\n"
    "Original token count: 40\nOutput:\n./app/a.py:6:import job\n./app/a.py:23:    job()\n",
    "qwen shell": "Command: grep job\nDirectory: (root)\nOutput: ./app/a.py:6:import job\n"
    "./app/a.py:23:    job()\nError: (none)\nExit Code: 0\nSignal: (none)",
}


@pytest.mark.parametrize("form", SHOWN)
def test_lines(form: str) -> None:
    found = grep_lines.format_hits(SHOWN[form], {"pattern": "job"}, EVERYWHERE)
    assert found == "app/a.py:6:import job\napp/a.py:23:    job()"


@pytest.mark.parametrize(
    "text",
    [
        "6:import job\n23:    job()",
        "File: a.py\nL6: import job\nL23:     job()",
        "a.py:6:import job\na.py:23:    job()\nb/a.py:7:job",
        "File: a.py\nL6: import job\nL23:     job()\n---\nFile: b/a.py\nL7: job",
    ],
)
def test_lines_of_one_file(text: str) -> None:
    place = Scope(workspace="/w/shop", path="app/a.py")
    found = grep_lines.format_hits(text, {"pattern": "job"}, place)
    assert found == "app/a.py:6:import job\napp/a.py:23:    job()"


def test_a_line_that_matches_only_without_regard_to_case_is_left_out() -> None:
    found = grep_lines.format_hits("a.py:1:Job\na.py:2:job", {"pattern": "job"}, EVERYWHERE)
    assert found == "a.py:2:job"


def test_lines_are_sorted_and_cut() -> None:
    text = "b.py:1:job\na.py:10:job\na.py:9:job"
    found = grep_lines.format_hits(text, {"pattern": "job", "head_limit": 2}, EVERYWHERE)
    assert found == "a.py:9:job\na.py:10:job"


@pytest.mark.parametrize(
    "text",
    [
        "a.py:1\nb.py:12\n\nFound 13 total occurrences across 2 files.",
        "<untrusted_context>\nOutput: ./b.py:12\n./a.py:1\nExit Code: 0\n</untrusted_context>",
        "b.py:12\na.py:1\nc.py:1 is not a count\n",
    ],
)
def test_counts(text: str) -> None:
    assert grep_lines.format_counts(text, {"pattern": "job"}, EVERYWHERE) == "b.py:12\na.py:1"


def test_a_line_that_ends_in_a_number_is_no_count_where_none_was_asked_for() -> None:
    text = "File: a.py\nL1: job\nL2: # job, see b.py:9\n---\nc.py:7"
    found = grep_lines.format_counts(text, {"pattern": "job"}, EVERYWHERE, is_count=False)
    assert found == "a.py:2"


def test_lines_are_counted_where_a_tool_cannot_count() -> None:
    text = "File: a.py\nL1: job\n---\nFile: b.py\nL1: job\nL3: job\n---"
    assert grep_lines.format_counts(text, {"pattern": "job"}, EVERYWHERE) == "b.py:2\na.py:1"


@pytest.mark.parametrize(
    "text",
    [
        "app/job.py",
        "/w/shop/app/job.py\n(Results are truncated)",
        'Found 1 file(s) matching "**/*job*" within /w/shop, sorted by modification time:\n'
        "/w/shop/app/job.py",
        "Output: ./app/job.py\nProcess Group PGID: 7805",
    ],
)
def test_names(text: str) -> None:
    assert grep_lines.format_paths(text, {"pattern": "**/*{job,task}*"}, EVERYWHERE) == "app/job.py"


@pytest.mark.parametrize(
    ("text", "nothing"),
    [
        ('No matches found for pattern "x" in the workspace directory.', True),
        ("No files found", True),
        ("(Bash completed with no output)", True),
        ("(no output)", True),
        ("", True),
        ("Found 0 total occurrences", True),
        ("ripgrep execution failed", False),
        ("Path is not a directory: /w/shop/a.py", False),
    ],
)
def test_nothing_found_is_not_a_failure(text: str, nothing: bool) -> None:
    assert grep_lines.says_nothing(text) is nothing
    assert grep_lines.format_hits(text, {"pattern": "x"}, EVERYWHERE) == grep_lines.NOTHING


def test_a_number_that_is_too_long_is_none() -> None:
    text = f"src/a.txt:{'9' * 5000}:x\n{'9' * 5000}:x\nb.txt:{'9' * 5000}\nc.txt:1:x"
    assert grep_lines.format_hits(text, {"pattern": "x"}, EVERYWHERE) == "c.txt:1:x"
    assert grep_lines.format_counts(text, {"pattern": "x"}, EVERYWHERE) == "c.txt:1"

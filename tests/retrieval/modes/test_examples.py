"""The mode files of `docs/examples/`, on a machine that has their programs."""

import json
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.config.command_line import defaults_of
from swarm_bench.core.session.designs import RETRIEVE
from swarm_bench.core.session.experiment import SearchTool
from swarm_bench.retrieval.locations import read_locations
from swarm_bench.retrieval.modes.mode import fill_search_calls, read_mode

EXAMPLES = sorted((Path(__file__).parents[3] / "docs" / "examples").glob("*.json"))
VALUES = {"workspace": "/w", "service_url": "", "canopy_mcp": ""}


ANSWERS = {
    "codegraph": "- `a` (a/b.py:3) — 1 caller; tests: `t.py`\n\n**`a/b.py`** — x\n```\n1 x\n",
    "vibgrate": '{"mode":"lexical","matches":[{"name":"A.b","file":"a/b.py","line":191}]}',
    "claude-graph": '{\n  "file": "a/b.py",\n  "line": 5\n}\n{\n  "file": "a/b.py"\n}',
    "code-index": '{"results": [{"file": "./a/b.py", "line": 4, "text": "x"}], "total": 1}',
    "code-search-graph": "## x\n\n### [1] `a/b.py:81-83` - `A`\n- x\n```code\n```\n",
    "probe": (
        'Path: /w\n<matches>\n\n<file path="/w/a/b.py">\n\n 384 text\n</file>\n</matches>\n'
        "<skipped_files>\n  <file>\n    <path>/w/a/b.py</path>\n  </file>\n</skipped_files>\n"
    ),
    "ripgrep": "/w/a/b.py:359:    x: y\n/w/a/b.py:387: z\n",
}
"""The begin of what each answered, as far as it matters here."""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the PATH, alone."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_there_are_examples() -> None:
    names = {path.stem for path in EXAMPLES}
    assert names >= {
        *("codegraph", "vibgrate", "serena", "claude-graph", "code-index"),
        *("code-search-graph", "probe", "ripgrep", "filesystem", "git"),
    }


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_each_is_a_mode_that_starts_programs_by_their_bare_names(
    path: Path, programs: Path
) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    own, servers = content.get("swarmBench", {}), content["mcpServers"].values()
    commands = [server["command"] for server in servers]
    for key in ("prepare", "teardown", "version"):
        step = own.get(key) or []
        commands += (step if isinstance(step, list) else step.get("command", []))[:1]
    assert commands
    assert not {"sh", "bash", "npx", "uvx"} & set(commands)
    for command in commands:
        (programs / command).write_text("#!/bin/sh\n")
        (programs / command).chmod(0o755)
    mode = read_mode(path)
    assert mode.description
    if mode.search is not None:
        calls = fill_search_calls(mode, "middleware tokens", VALUES, {})
        assert all(word in json.dumps(calls) for word in ("middleware", "tokens"))
    if path.stem in ANSWERS:
        found = read_locations(ANSWERS[path.stem], mode.search, "/w", {"a/b.py"})
        assert {(place.path, place.exists) for place in found} == {("a/b.py", True)}
    if mode.prepare is not None and mode.prepare.command:
        assert mode.may_create or mode.keep


def content_of(name: str) -> dict[str, Any]:
    (example,) = (path for path in EXAMPLES if path.stem == name)
    return dict(json.loads(example.read_text(encoding="utf-8")))


def test_probe_names_at_its_end_what_it_had_no_room_for() -> None:
    own = content_of("probe")["swarmBench"]
    answer = '<file path="/w/b.py">\n 1 x\n</file>\n<file>\n  <path>/w/a.py</path>\n</file>\n'
    search = SearchTool.model_validate(own["search"])
    found = read_locations(answer, search, "/w", {"a.py", "b.py"})
    assert [place.path for place in found] == ["b.py", "a.py"]


def test_codegraph_names_symbols_and_their_callers_before_the_sources() -> None:
    (example,) = (path for path in EXAMPLES if path.stem == "codegraph")
    answer = (
        "**Exploration: `x`**\n\n**Blast radius**\n\n"
        "- `Param` (c.go:513) — 13 callers in `g.go`; tests: `t.go`\n"
        "- `Any` (d.go:5) — 1 caller; tested via callers: `t.go`\n\n"
        "**`s.go`** — New(calls), `p.go`\n```go\n1\t- `u.go` (v.go)\n"
    )
    files = {f"{letter}.go" for letter in "cgdstpuv"}
    own = json.loads(example.read_text(encoding="utf-8"))["swarmBench"]
    search = SearchTool.model_validate(own["search"])
    found = read_locations(answer, search, "/w", files)
    assert [place.path for place in found] == ["c.go", "g.go", "d.go", "s.go"]


def test_what_searches_lines_is_asked_for_those_of_code() -> None:
    """Translations and documents have every word, and fill the first page of such an answer."""
    ripgrep = content_of("ripgrep")["swarmBench"]["search"]["arguments"]
    code_index = content_of("code-index")["swarmBench"]["search"]["arguments"]
    assert {"py", "go", "ts"} < set(ripgrep["filePattern"][len("*.{") : -1].split(","))
    assert code_index["file_pattern"] == ripgrep["filePattern"]
    assert code_index["max_results"] > 10, "its default: lines of one or two files"


def test_probe_gives_up_no_sooner_than_retrieve_does() -> None:
    """It ends a search after 30 s by itself, which a busy machine reaches."""
    args = content_of("probe")["mcpServers"]["probe"]["args"]
    assert int(args[args.index("--timeout") + 1]) >= defaults_of(RETRIEVE)["timeout"]

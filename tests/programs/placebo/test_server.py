"""The placebo server as a process, asked through the client that every mode's server is asked."""

import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest

from swarm_bench.core.ports import ToolSpec
from swarm_bench.programs.placebo.__main__ import Answers
from swarm_bench.retrieval.placebo.drawing import make_placebo_tool
from swarm_bench.retrieval.placebo.material import (
    NAME,
    VERSION,
    Form,
    Identity,
    Material,
    Passage,
    PlaceboTool,
    name_script,
)
from swarm_bench.runtime.mcp.client import Answer, Connection, own_server
from swarm_bench.text import tool_results, tool_roles

Result = TypeVar("Result")
NAMES = [f"part{number}/file{number}.txt" for number in range(8)]
PLACES = tuple(Passage(path=name, first=3, last=9) for name in NAMES)
LIMITED = {"type": "object", "properties": {"query": {"type": "string"}, "limit": {}}}
READING = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "offset": {}, "limit": {}, "end_line": {}},
    "required": ["path"],
}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    for name in NAMES:
        path = folder / name
        path.parent.mkdir(parents=True)
        path.write_text("".join(f"{path.stem} line {line}\n" for line in range(1, 21)))
    return folder


def tool(name: str, form: Form, **more: Any) -> PlaceboTool:
    values = {"description": f"About {name}.", "schema": LIMITED, "line": "{path}:{first}: {text}"}
    return PlaceboTool(name=name, form=form, **{**values, **more})


TOOLS = (
    tool("canopy_evidence_pack", "pack"),
    tool("canopy_query", "query"),
    tool("canopy_expand", "expand"),
    tool("search", "lines"),
    tool("search_json", "json", keys=("results", "hits"), path_key="file"),
    tool("read_file", "file", schema=READING),
    tool("list", "paths"),
    tool("status", "status"),
    tool("readme", "readme"),
    tool("write", "done"),
)


def ask(
    workspace: Path,
    what: Callable[[Connection], Awaitable[Result]],
    *,
    seed: int = 0,
    tools: tuple[PlaceboTool, ...] = TOOLS,
    identity: Identity | None = None,
) -> Result:
    path = workspace.parent / "material" / f"{seed}.json"
    Material(
        identity=identity,
        instructions="Search first.",
        tools=tools,
        places=PLACES,
        files=8,
        seed=seed,
    ).write(path)
    script = name_script(path)
    assert [one.stat().st_mode & 0o777 for one in (path, script)] == [0o600, 0o600]
    words = ["-I", str(script), str(workspace)]

    async def asked() -> Result:
        async with own_server(
            {"command": sys.executable, "args": words},
            env={"PATH": "/usr/bin:/bin"},
            cwd=workspace,
            tag=f"placebo-{workspace.parent.name}-{seed}",
            secrets=(),
        ) as connection:
            return await what(connection)

    return anyio.run(asked)


def answers(workspace: Path, *calls: tuple[str, Mapping[str, Any]], seed: int = 0) -> list[Answer]:
    async def call_all(connection: Connection) -> list[Answer]:
        return [await connection.call(name, arguments) for name, arguments in calls]

    return ask(workspace, call_all, seed=seed)


def test_it_says_of_itself_and_its_tools_what_the_mode_s_server_says(workspace: Path) -> None:
    specs = (
        ToolSpec(name="search", description="Finds. Überall.", schema={**LIMITED, "x": [1]}),
        ToolSpec(name="other", description="", schema={"type": "object"}),
    )

    async def greeting(connection: Connection) -> tuple[str, tuple[ToolSpec, ...]]:
        return connection.instructions, connection.tools

    tools = tuple(make_placebo_tool(spec, None) for spec in specs)
    assert ask(workspace, greeting, tools=tools) == ("Search first.", specs)


@pytest.mark.parametrize(
    ("identity", "said"),
    [
        (None, (NAME, None, VERSION)),
        (Identity(name="canopy", title="Canopy", version="0.4.0"), ("canopy", "Canopy", "0.4.0")),
        (Identity(name="finder"), ("finder", None, None)),
    ],
)
def test_it_has_the_name_of_the_mode_s_server(
    workspace: Path, identity: Identity | None, said: tuple[str | None, ...]
) -> None:
    async def greeting(connection: Connection) -> tuple[str | None, ...]:
        return connection.name, connection.title, connection.version

    assert ask(workspace, greeting, identity=identity) == said


def test_a_pack_is_one_of_canopy_and_its_handles_expand_to_the_lines(workspace: Path) -> None:
    question = {"patterns": ["auth"], "max_handles": 3}

    async def pack_and_expand(connection: Connection) -> tuple[dict[str, Any], list[Answer]]:
        pack = json.loads((await connection.call("canopy_evidence_pack", question)).text)
        ids = [handle["id"] for handle in pack["handles"]]
        return pack, [
            await connection.call("canopy_expand", {"handle_ids": [ids[0], "h" + "0" * 24]}),
            await connection.call("canopy_expand", {"handle_ids": ["nonsense"]}),
        ]

    pack, (expanded, refused) = ask(workspace, pack_and_expand)
    assert len(pack["handles"]) == 3
    assert pack["guidance"]["recommended_action"] == "expand_then_answer"
    assert set(pack["expand_suggestion"]) == {handle["id"] for handle in pack["handles"]}
    first = pack["handles"][0]
    stem = Path(first["file_path"]).stem
    lines = "\n".join(f"{stem} line {number}" for number in range(3, 10))
    assert first["line_range"] == [3, 9]
    assert expanded.text == f"// {first['id']}\n{lines}\n\n// Failed to expand: h{'0' * 24}"
    assert refused.is_error


def test_a_query_has_the_same_handles_as_packs_have(workspace: Path) -> None:
    found, everything = answers(
        workspace,
        ("canopy_query", {"pattern": "auth", "limit": 2}),
        ("canopy_evidence_pack", {"pattern": "auth", "max_handles": 64}),
    )
    handles = json.loads(found.text)["handles"]
    ids = {handle["id"] for handle in json.loads(everything.text)["handles"]}
    assert len(handles) == 2
    assert {f"h{handle['id']}" for handle in handles} <= ids
    assert handles[0]["preview"].startswith("file")


def test_what_other_searches_say_can_be_read_as_places(workspace: Path) -> None:
    lines, content, paths = answers(
        workspace,
        ("search", {"query": "auth", "limit": 2}),
        ("search_json", {"query": "auth"}),
        ("list", {}),
    )
    places = tool_results.locations(lines.text, str(workspace))
    assert [place.line for place in places] == [3, 4, 5] * 2
    for place in places:
        assert place.text.strip() == f"{Path(place.path).stem} line {place.line}"
    hits = json.loads(content.text)["results"]["hits"]
    assert {hit["file"] for hit in hits} == set(NAMES)
    assert {place.path for place in tool_results.locations(paths.text, str(workspace))} == set(
        NAMES
    )


def test_another_question_has_another_answer_and_the_same_one_the_same(workspace: Path) -> None:
    questions = [("search", {"query": word, "limit": 3}) for word in "abcdefgh"]
    texts = [answer.text for answer in answers(workspace, *questions)]
    assert len(set(texts)) > 4
    assert [answer.text for answer in answers(workspace, *questions)] == texts
    assert [answer.text for answer in answers(workspace, *questions, seed=1)] != texts


def test_a_file_is_read_as_it_is(workspace: Path) -> None:
    parts: dict[range, dict[str, int]] = {
        range(1, 21): {},
        range(4, 6): {"offset": 4, "limit": 2},
        range(4, 7): {"start_line": 4, "end_line": 6},
    }
    names = (NAMES[0], str(workspace / NAMES[0]))
    calls = [("read_file", {"path": name, **part}) for part in parts.values() for name in names]
    texts = [answer.text.rstrip("\n").split("\n") for answer in answers(workspace, *calls)]
    expected = [[f"file0 line {line}" for line in lines] for lines in parts for _ in names]
    assert texts == expected


def test_a_file_that_is_not_in_the_workspace_is_an_error(workspace: Path) -> None:
    names = ["absent.txt", "../material/0.json", "/etc/passwd", "\0", "", "x" * 5000, "part0"]
    refused = answers(workspace, *(("read_file", {"path": name}) for name in names))
    assert all(answer.is_error for answer in refused)


def test_what_changes_something_changes_nothing(workspace: Path) -> None:
    before = {path: path.read_text() for path in workspace.rglob("*.txt")}
    done, status, readme = answers(
        workspace, ("write", {"query": "x"}), ("status", {}), ("readme", {})
    )
    assert not done.is_error
    assert json.loads(status.text)["files_indexed"] == 8
    assert "canopy" in readme.text
    assert {path: path.read_text() for path in workspace.rglob("*.txt")} == before


@pytest.mark.parametrize("limit", tool_roles.LIMITS)
def test_a_search_gives_as_many_places_as_it_is_asked_for(tmp_path: Path, limit: str) -> None:
    names = [f"file{number}.txt" for number in range(8)]
    for name in names:
        (tmp_path / name).write_text("a\nb\n")
    places = tuple(Passage(path=name, first=1, last=2) for name in names)
    tool = PlaceboTool(name="list", description="", schema={}, form="paths", line="{path}")
    material = Material(instructions="", tools=(tool,), places=places, files=8, seed=0)
    answer = Answers(material, tmp_path).answer(tool, {"query": "auth", limit: 2})
    assert len(answer.text.split()) == 2

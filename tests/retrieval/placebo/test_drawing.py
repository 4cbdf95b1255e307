"""Which files a placebo draws from, on real repositories."""

import subprocess
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import pytest
import regex

from swarm_bench.core.errors import UsageError
from swarm_bench.core.ports import ToolSpec
from swarm_bench.core.session.experiment import SearchTool, Task
from swarm_bench.core.session.tasks import AnswerKey
from swarm_bench.programs.canopy.mcp.server import TOOLS
from swarm_bench.retrieval.placebo.drawing import (
    FEWEST_FILES,
    GREP_LINE,
    LINES,
    MOST_FILES,
    choose_line,
    draw_file_passages,
    draw_passages,
    make_placebo_tool,
    shares_word,
)
from swarm_bench.retrieval.placebo.material import Passage
from swarm_bench.runtime.workspaces.workspace import take_snapshot
from swarm_bench.text.terms import search_stems

TASK = Task(id="a", title="A", prompt="Explain how `parseInvoice` authenticates the users.")
COLOURS = "".join(f"colour_{number} = 'hue {number}'\n" for number in range(60))


def draw(
    folder: Path, files: Mapping[str, str | bytes], seed: int = 0, tasks: Sequence[Task] = (TASK,)
) -> tuple[Passage, ...]:
    repo = folder / "repo"
    for name, content in files.items():
        path = repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    async def drawn() -> tuple[Passage, ...]:
        target = folder / f"snapshot-{seed}.git"
        return await draw_passages(await take_snapshot(repo, target, dirty=True), tasks, seed)

    return anyio.run(drawn)


def colours(number: int) -> dict[str, str]:
    return {f"colours/c{each}.py": COLOURS for each in range(number)}


def test_no_place_is_of_a_file_that_has_a_word_of_a_task(tmp_path: Path) -> None:
    related = {
        "by_name/users.txt": COLOURS,
        "Parse.txt": COLOURS,
        "content.py": f"{COLOURS}# the USER\n",
        "stem.py": f"{COLOURS}# authenticated\n",
        "within.py": f"{COLOURS}# reinvoices\n",  # `invoice` is part of a name in the task
        "other_word.py": f"{COLOURS}# login\n",
    }
    unfit: dict[str, str | bytes] = {
        "empty.py": "\n\n\n",
        "image.bin": b"\0" * 500,
        "latin.txt": "gr\xfcn\n".encode("latin-1") * 9,
        "packed.js": "x" * 5000 + "\n\n",
    }
    places = draw(tmp_path, {**related, **unfit, **colours(5)})
    assert {place.path for place in places} == set(colours(5))


def test_places_are_the_same_at_every_commit_that_tasks_are_asked_on(tmp_path: Path) -> None:
    """Agents at an earlier commit would be sent to lines that are not there yet."""
    draw(tmp_path, colours(7), seed=1)
    script = "git init -q; git add -A; git -c user.name=a -c user.email=b commit -qm 1"
    ask = ["sh", "-c", f"{script}; git rev-parse HEAD"]
    done = subprocess.run(ask, cwd=tmp_path / "repo", check=True, capture_output=True, text=True)
    old = TASK.model_copy(update={"commit": done.stdout.strip()})
    changed = {"colours/c0.py": COLOURS * 2, "colours/new.py": COLOURS}
    places = draw(tmp_path, changed, seed=2, tasks=[TASK, old])
    assert {place.path for place in places} == set(colours(7)) - {"colours/c0.py"}
    more = dict.fromkeys(list(colours(5))[1:], "x = 1\n")
    with pytest.raises(UsageError, match="and are the same at every commit"):
        draw(tmp_path, more, seed=3, tasks=[old])


def test_with_too_few_such_files_places_are_of_files_that_no_key_names(tmp_path: Path) -> None:
    key = AnswerKey(files=("users/u0.py",))
    keyed = TASK.model_copy(update={"key": key})
    related = {f"users/u{number}.py": COLOURS for number in range(FEWEST_FILES + 1)}
    places = draw(tmp_path, {**related, **colours(1)}, tasks=[keyed])
    assert {place.path for place in places} == {*related, *colours(1)} - {"users/u0.py"}
    with pytest.raises(UsageError, match="where each task has an answer key, that no key names"):
        draw(tmp_path, {}, seed=1, tasks=[keyed, TASK])


def test_places_are_ranges_of_real_lines() -> None:
    text = "\n\n" + COLOURS + "\n\n"
    for places in (draw_file_passages("a.py", text, seed) for seed in range(20)):
        assert places
        assert all(3 <= place.first <= place.last <= 62 for place in places)
        assert all(place.last - place.first < LINES[1] for place in places)
        assert all(one.last < other.first for one, other in pairwise(places))


def test_the_same_seed_draws_the_same_and_another_one_others(tmp_path: Path) -> None:
    files = colours(MOST_FILES + 10)
    first = draw(tmp_path, files)
    (tmp_path / "again").mkdir()
    assert draw(tmp_path / "again", files) == first
    assert draw(tmp_path, files, seed=1) != first
    assert len({place.path for place in first}) == MOST_FILES


def test_too_few_files_are_refused_in_one_sentence(tmp_path: Path) -> None:
    few = {**colours(FEWEST_FILES - 1), "users.py": COLOURS}
    with pytest.raises(UsageError) as error:
        draw(tmp_path, few)
    assert f"of the {FEWEST_FILES} files" in str(error.value)
    assert f"{FEWEST_FILES - 1} can be used" in str(error.value)


def test_words_in_other_alphabets_count_too() -> None:
    stems = search_stems("Где проверяется Пользователь?")
    assert shares_word("# имя ПОЛЬЗОВАТЕЛЬ", stems)
    assert not shares_word("# имя файла", stems)


def tool(name: str, *arguments: str, description: str = "") -> ToolSpec:
    schema: dict[str, Any] = {"type": "object", "required": list(arguments)}
    schema["properties"] = {argument: {"type": "string"} for argument in arguments}
    return ToolSpec(name=name, description=description, schema=schema)


def search(name: str, **reading: Any) -> SearchTool:
    return SearchTool(tool=name, arguments={"q": "{{ query }}"}, **reading)


def test_tools_of_canopy_answer_as_canopy_does() -> None:
    specs = [ToolSpec(name=one["name"], description="", schema=one["inputSchema"]) for one in TOOLS]
    assert {spec.name: make_placebo_tool(spec, None).form for spec in specs} == {
        "canopy_index": "status",
        "canopy_query": "query",
        "canopy_evidence_pack": "pack",
        "canopy_expand": "expand",
        "canopy_status": "status",
        "canopy_invalidate": "done",
        "canopy_agent_readme": "readme",
    }


@pytest.mark.parametrize(
    ("spec", "form"),
    [
        (tool("search_code", "query"), "lines"),
        (tool("search_code", "query", description="Returns JSON."), "json"),
        (tool("read_file", "path"), "file"),
        (tool("list_directory", "path"), "paths"),
        (tool("write_file", "path", "content"), "done"),
        (tool("explain", "symbol"), "lines"),
    ],
)
def test_other_tools_answer_by_what_they_are_for(spec: ToolSpec, form: str) -> None:
    assert make_placebo_tool(spec, None).form == form


@pytest.mark.parametrize(
    ("json_path", "keys", "path_key"),
    [
        ("$.results[*].file", ("results",), "file"),
        ("$[*]", (), "path"),
        ("$.data.hits[*]", ("data", "hits"), "path"),
        ("$..path", (), "path"),  # more than we can answer: a list
    ],
)
def test_a_mode_files_own_search_is_answered_as_it_is_read(
    json_path: str, keys: tuple[str, ...], path_key: str
) -> None:
    placebo = make_placebo_tool(tool("ask", "q"), search("ask", json_path=json_path))
    assert (placebo.form, placebo.keys, placebo.path_key) == ("json", keys, path_key)


@pytest.mark.parametrize(
    "pattern",
    [
        r"^(?P<path>[^:\n]+):(?P<line>\d+):",
        r"`(?P<path>[^`:]+):(?P<line>\d+)-(?P<last>\d+)`",
        r"^(?P<path>\S+):(?P<line>\d+)-(?P<last>\d+)$",
        r"^(?P<path>\S+\.\w+)$",
    ],
)
def test_places_are_written_so_that_the_mode_files_pattern_reads_them(pattern: str) -> None:
    text = choose_line(pattern).format(path="a/b.py", first=3, last=9, text="x")
    match = regex.compile(pattern, regex.MULTILINE).search(text)
    assert match
    assert match["path"] == "a/b.py"
    assert match.groupdict().get("line", "3") == "3"


def test_a_pattern_that_nothing_of_ours_fits_is_answered_as_grep_does() -> None:
    assert choose_line(r"<file name=\"(?P<path>[^\"]+)\"") == GREP_LINE

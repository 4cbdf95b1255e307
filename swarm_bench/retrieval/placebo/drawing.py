"""Which passages a placebo may answer with: drawn by the seed from files of the snapshot that have
nothing to do with any task. They are written as the tool itself does, as far as that is known
without asking it.

A file has nothing to do with a task when neither its path nor its content has a search word of it
anywhere, not even within another word. Where tasks are asked on commits, it is the same in each.
With many tasks hardly a file is left; if each of them has a key, those do that no key names.
"""

import random
import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from swarm_bench.core.errors import UsageError
from swarm_bench.core.ports import ToolSpec
from swarm_bench.core.session.experiment import Repository, SearchTool, Task
from swarm_bench.retrieval.placebo.material import Form, Passage, PlaceboTool
from swarm_bench.runtime.workspaces.git import git
from swarm_bench.runtime.workspaces.workspace import Snapshot
from swarm_bench.text import tool_roles
from swarm_bench.text.terms import search_stems

FEWEST_FILES = 4
"""Fewer would be the same answer to every question."""
MOST_FILES = 64
PASSAGES_PER_FILE = 4
LINES = (8, 40)
"""Shortest and longest passage, of files that are long enough."""
FEWEST_LINES = 3
"""Fewest lines with text that make a file worth showing."""
LONGEST_LINE = 400
MOST_BYTES = 200_000
_BATCH = 200


@dataclass(frozen=True, kw_only=True)
class _File:
    path: str
    object_id: bytes


async def draw_passages(
    snapshot: Snapshot, tasks: Sequence[Task], seed: int
) -> tuple[Passage, ...]:
    """Draw passages: the same for the same content, tasks and seed. Raises `UsageError` when too
    few files have nothing to do with the tasks."""
    commits = {task.commit for task in tasks} - {None, snapshot.repository.clean_commit}
    trees = [
        await _list_files(Path(snapshot.repository.path), commit) for commit in commits if commit
    ]
    files = await _list_files(snapshot.path, snapshot.commit or snapshot.repository.tree)
    random.Random(f"{seed}:files").shuffle(files)
    texts = await _read_unrelated(snapshot, [f for f in files if all(f in t for t in trees)], tasks)
    keys = [task.key.files for task in tasks if task.key and task.key.files]
    if len(texts) < FEWEST_FILES and len(keys) == len(tasks):
        lasting = set.intersection(*({file.path for file in tree} for tree in (files, *trees)))
        unnamed = lasting.difference(*keys)
        texts = await _read_first(snapshot, [file for file in files if file.path in unnamed])
    if len(texts) < FEWEST_FILES:
        raise UsageError(_explain_refusal(snapshot.repository, len(texts), bool(commits)))
    return tuple(
        passage for path, text in texts.items() for passage in draw_file_passages(path, text, seed)
    )


async def _read_unrelated(
    snapshot: Snapshot, files: Sequence[_File], tasks: Sequence[Task]
) -> dict[str, str]:
    """Read files that share no search word with any task: text by path."""
    stems = search_stems("\n".join(task.prompt for task in tasks))
    unrelated = [file for file in files if not shares_word(file.path, stems)]
    return await _read_first(snapshot, unrelated, lambda text: not shares_word(text, stems))


async def _read_first(
    snapshot: Snapshot, files: Sequence[_File], fits: Callable[[str], bool] = bool
) -> dict[str, str]:
    """Read as many files as are drawn: text by path."""
    texts: dict[str, str] = {}
    async for path, text in _read_texts(snapshot, files):
        if fits(text):
            texts[path] = text
        if len(texts) == MOST_FILES:
            break
    return texts


def _explain_refusal(repository: Repository, fitting: int, at_commits: bool) -> str:
    condition = " and are the same at every commit" if at_commits else ""
    fewer = "tasks of one commit (tasks make --commit)" if at_commits else "fewer tasks"
    return (
        "--controls placebo answers with places of files that share no search word with any "
        f"task{condition}, or, where each task has an answer key, that no key names; of the "
        f"{repository.files} files of {repository.path}, {fitting} can be used ({FEWEST_FILES} are "
        f"needed); give {fewer} or a larger repository, or omit the placebo"
    )


def shares_word(text: str, stems: Iterable[str]) -> bool:
    """Tell whether any of the beginnings of words stands anywhere in the text."""
    folded = text.casefold()
    return any(stem in folded for stem in stems)


def draw_file_passages(path: str, text: str, seed: int) -> list[Passage]:
    """Draw ranges of lines of a file that do not overlap, in their order."""
    lines = text.split("\n")
    starts = [number for number, line in enumerate(lines, start=1) if line.strip()]
    draw = random.Random(f"{seed}:{path}")
    passages: list[Passage] = []
    for _ in range(PASSAGES_PER_FILE):
        first = draw.choice(starts)
        last = min(first + draw.randint(*LINES) - 1, starts[-1])
        if all(last < passage.first or passage.last < first for passage in passages):
            passages.append(Passage(path=path, first=first, last=last))
    return sorted(passages, key=lambda passage: passage.first)


async def _list_files(repository: Path, tree: str) -> list[_File]:
    """List those of a tree or commit that can be shown, by size and name."""
    listing = await git("ls-tree", "-r", "-z", "--long", tree, cwd=repository)
    files = []
    for entry in filter(None, listing.split(b"\0")):
        header, _, name = entry.partition(b"\t")
        mode, _, object_id, size = header.split()
        path = name.decode("utf-8", "replace")
        regular = mode.startswith(b"100") and int(size) <= MOST_BYTES
        if regular and path.isprintable() and "\ufffd" not in path:
            files.append(_File(path=path, object_id=object_id))
    return files


async def _read_texts(snapshot: Snapshot, files: Sequence[_File]) -> AsyncIterator[tuple[str, str]]:
    """Yield path and text of the files that are worth showing."""
    for first in range(0, len(files), _BATCH):
        batch = files[first : first + _BATCH]
        object_ids = b"".join(file.object_id + b"\n" for file in batch)
        printed = await git("cat-file", "--batch", cwd=snapshot.path, feed=object_ids)
        start = 0
        for file in batch:
            begin = printed.index(b"\n", start) + 1
            end = begin + int(printed[start:begin].split()[2])
            start = end + 1
            text = _decode(printed[begin:end])
            if text is not None:
                yield file.path, text


def _decode(content: bytes) -> str | None:
    """Decode the text of a file that is worth showing; `None` of any other."""
    if b"\0" in content:
        return None
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return None
    lines = text.split("\n")
    filled_lines = sum(bool(line.strip()) for line in lines)
    return text if filled_lines >= FEWEST_LINES and max(map(len, lines)) <= LONGEST_LINE else None


GREP_LINE = "{path}:{first}: {text}"
_LINES = (
    GREP_LINE,
    "{path}:{first}:{text}",
    "{path}:{first}-{last}\n{text}",
    "`{path}:{first}-{last}`",
    "{path}:{first}",
    "{path}",
)
"""Ways to write a passage in a text with others, the most usual first."""
_EXAMPLE: Mapping[str, str | int] = {
    "path": "some/file.py",
    "first": 12,
    "last": 19,
    "text": "value = 1",
}
_CANOPY: Mapping[str, Form] = {
    "canopy_evidence_pack": "pack",
    "canopy_query": "query",
    "canopy_expand": "expand",
    "canopy_status": "status",
    "canopy_index": "status",
    "canopy_invalidate": "done",
    "canopy_agent_readme": "readme",
}
_BY_ROLE: Mapping[tool_roles.Role | None, Form] = {
    "read": "file",
    "overview": "paths",
    "change": "done",
}
_JSON_PATH = re.compile(r"\$(?P<keys>(?:\.\w+)*)(?:\[\*\])?(?:\.(?P<path>\w+))?")


def make_placebo_tool(tool: ToolSpec, search: SearchTool | None) -> PlaceboTool:
    """Make the placebo of a server's tool; `search` is the mode's own search."""
    searches = search is not None and search.tool == tool.name
    form = _CANOPY.get(tool.name)
    if form is None and not searches:
        form = _BY_ROLE.get(tool_roles.role(tool.name, tool))
    is_json = "json" in tool.description.lower() or bool(searches and search and search.json_path)
    keys, path_key = _parse_keys(search.json_path if searches and search else None)
    return PlaceboTool(
        name=tool.name,
        description=tool.description,
        schema=dict(tool.schema),
        form=form or ("json" if is_json else "lines"),
        line=choose_line(search.pattern if searches and search else None),
        keys=keys,
        path_key=path_key,
    )


def choose_line(pattern: str | None) -> str:
    """Choose how a passage is written so that a pattern of a mode file reads it; as grep does
    without a pattern, or when none of ours fits."""
    if pattern is None:
        return GREP_LINE
    import regex  # only for a mode that has one

    compiled = regex.compile(pattern, regex.MULTILINE)
    for line in _LINES:
        match = compiled.search(line.format(**_EXAMPLE))
        if match and match["path"] == _EXAMPLE["path"] and _reads_line(match.groupdict()):
            return line
    return GREP_LINE


def _reads_line(groups: Mapping[str, str | None]) -> bool:
    return groups.get("line", str(_EXAMPLE["first"])) == str(_EXAMPLE["first"])


def _parse_keys(json_path: str | None) -> tuple[tuple[str, ...], str]:
    """Return the keys that lead to the passages, and the key of a passage's path."""
    match = _JSON_PATH.fullmatch(json_path or "")
    if match is None:
        return (), "path"
    return tuple(match["keys"].split(".")[1:]), match["path"] or "path"

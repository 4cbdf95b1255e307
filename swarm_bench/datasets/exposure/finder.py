"""Finds files that give the answers to tasks away: they hold a question, or its id, together with
what the answer key names. By content, whatever the format: case, quotes, escapes, line breaks and
marks between words do not matter."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from swarm_bench.core.session.tasks import Task
from swarm_bench.datasets.exposure.escapes import fold, readings, text_of, tokens_in, words_of
from swarm_bench.datasets.exposure.reading import FEWEST_PAIRS, Reading, Sign
from swarm_bench.datasets.exposure.sought import Sought, build_sought


class Exposed(NamedTuple):
    """A task whose answer a file gives away."""

    task: str
    """Its id."""
    line: int
    """Where its prompt or its id stands first in the file, from 1."""


class Finder:
    """The tasks of a session that have keys."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        with_keys = (build_sought(task, task.key) for task in tasks if task.key)
        self._tasks = [task for task in with_keys if task.parts]
        self._by_token = defaultdict[bytes, list[Sought]](list)
        for task in self._tasks:
            for word in task.triggers():
                self._by_token[word].append(task)
        self._triggers = frozenset(self._by_token)

    def __bool__(self) -> bool:
        return bool(self._tasks)

    def find_exposed(self, path: str, content: bytes) -> list[Exposed]:
        """List the tasks whose answer a file gives away, in the order of their lines. A file that
        a key names does not give itself away."""
        content = text_of(content)
        tokens = words_of(content) | words_of(path.encode("utf-8", "replace"))
        hits = self._triggers & tokens
        fitting = {task.id: task for word in hits for task in self._by_token[word]}
        tasks = [task for task in fitting.values() if path not in task.files and task.fits(tokens)]
        lines: dict[str, int] = {}
        for reading in readings(content) if tasks else ():
            for task, line in self._search_reading(Reading(path.lower(), reading, tokens), tasks):
                lines[task] = min(line, lines.get(task, line))
        return sorted((Exposed(*item) for item in lines.items()), key=lambda hit: hit.line)

    def find_printed(self, content: bytes, own_prompt: str) -> list[str]:
        """List the tasks, other than that with the prompt `own`, whose prompt stands in a text
        close to what their key names: whoever printed it has read both. Here similar prompts are
        not the same one."""
        content, prompt_tokens = text_of(content), tokens_in(fold(own_prompt))
        tokens = words_of(content)
        tasks = [
            task
            for task in self._tasks
            if task.prompt and task.prompt not in prompt_tokens and task.needed <= tokens
        ]
        if not tasks:
            return []
        exposed = (
            task.id
            for reading in readings(content)
            for text in [Reading("", reading, tokens)]
            for task in tasks
            if text.is_beside(task)
        )
        return [*dict.fromkeys(exposed)]

    def _search_reading(
        self, reading: "Reading", tasks: Sequence[Sought]
    ) -> Iterator[tuple[str, int]]:
        for task in tasks:
            if (line := reading.find_prompt(task)) is not None:
                yield task.id, line
        rows = {task.id: row for task in tasks if (row := reading.row(task)) is not None}
        half_of_tasks = len(self._tasks) / 2
        enough = {
            Sign.CERTAIN: 1,
            Sign.LABELLED: min(2, len(self._tasks)),
            Sign.COMMON: max(2, half_of_tasks),
            Sign.BARE: max(FEWEST_PAIRS, half_of_tasks),
        }
        for sign, fewest in enough.items():
            lines_by_task = {id: row.line for id, row in rows.items() if row.sign <= sign}
            if len(lines_by_task) >= fewest:
                yield from lines_by_task.items()

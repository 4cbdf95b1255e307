"""Tasks, and models and a judge that are asked about them over HTTP as a test says."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from math import ceil
from typing import Any

from tests.builders.chat import Chat, State, chatting, says
from tests.e2e.conftest import Bench

PARTS = ("task", "tests", "solution", "answer")
MARKS = "5 6 7 8 9"
"""Whose mean is 0.7."""
Knows = Callable[[str, str, int], bool | State]
"""Tells whether a model solves a task, by its name, its system prompt and the number; or what its
server says instead."""
Judges = Callable[[str, int], str | State]
"""Says what the judge answers to a request, by its text and how many came before."""


def mark(part: str, number: int) -> str:
    """What stands in a part of a task, and nowhere else."""
    return f"{part}-mark-{number:02}"


def tasks(number: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"t{n:02}",
            "prompt": f"Write f(), which returns {n} ({mark('task', n)}).",
            "unitTests": f"assert f() == {n}, '{mark('tests', n)}'\n",
            "solution": f"def f():\n    return {n}  # {mark('solution', n)}\n",
            "checks": {"contains": ["def"], "not": ["print"]},
        }
        for n in range(number)
    ]


def held_out(rows: Sequence[Mapping[str, Any]], share: float = 1 / 3) -> set[int]:
    """Numbers of the tasks that no prompt may be made from."""
    ids = sorted((row["id"] for row in rows), key=lambda it: sha256(it.encode()).digest())
    return {int(it[1:]) for it in ids[: ceil(len(ids) * share)]}


def write_rows(bench: Bench, rows: Sequence[Mapping[str, Any]]) -> None:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (bench.folder / "tasks.jsonl").write_text(text)


@dataclass
class Asked:
    """What was asked of whom."""

    url: str
    chat: Chat = field(repr=False)

    def models(self, *names: str) -> list[str]:
        return [f"{self.url}#{name}" for name in names]

    @property
    def judge(self) -> str:
        return f"{self.url}#judge"

    @property
    def of_judge(self) -> list[str]:
        """Each request to the judge, as it came."""
        return [json.dumps(it["messages"]) for it in self.chat.bodies if it["model"] == "judge"]

    @property
    def for_prompts(self) -> list[str]:
        """Those for another prompt."""
        return [it for it in self.of_judge if not is_opinion(it)]

    def of(self, model: str) -> list[tuple[str, str]]:
        """The system prompt and the task of each request to a model."""
        bodies = [it["messages"] for it in self.chat.bodies if it["model"] == model]
        return [(_system(it), it[-1]["content"]) for it in bodies]


def is_opinion(request: str) -> bool:
    return "Judge an answer." in request


@contextmanager
def answering(
    knows: Knows, judges: Judges | None = None, begin: Callable[[str, str], None] | None = None
) -> Iterator[Asked]:
    """Serve models and a judge; `begin` gets the model and the system prompt of each request."""
    asked_before = list[str]()

    def answer(chat: Chat) -> State:
        body = chat.bodies[-1]
        name, messages = body["model"], body["messages"]
        if name == "judge":
            assert judges
            text = "\n".join(it["content"] for it in messages)
            reply = judges(text, len(asked_before))
            asked_before.append(text)
            return says(reply) if isinstance(reply, str) else reply
        if begin:
            begin(name, _system(messages))
        match = re.search(r"task-mark-(\d\d)", messages[-1]["content"])
        assert match
        n = int(match[1])
        solves = knows(name, _system(messages), n)
        if not isinstance(solves, bool):
            return solves
        length = sum(len(it["content"]) for it in messages)
        usage = {"prompt_tokens": length, "completion_tokens": 10}
        text = f"```python\ndef f():\n    return {n if solves else -1}  # {mark('answer', n)}\n```"
        return says(text, usage=usage)

    with chatting(answer) as chat:
        yield Asked(url=chat.url, chat=chat)


def _system(messages: Sequence[Mapping[str, str]]) -> str:
    return messages[0]["content"] if messages[0]["role"] == "system" else ""

"""Rules and prompt files that somebody wrote, and what a judge says of answers and prompts."""

from contextlib import chdir, suppress
from dataclasses import dataclass
from pathlib import Path

import anyio

from swarm_bench.benchmarks.prompts.common import ask_opinion
from swarm_bench.benchmarks.prompts.evaluation import fill_prompts, join_system, read_texts
from swarm_bench.benchmarks.prompts.optimisation import drop_fence, shorten_prompt
from swarm_bench.core.errors import ConfigError
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Ask, Completion

TASK = "Write {{{ input }}} \\1 <system>x</system>."
FILES = [
    b"---\nglobs: ['**/*.{py,pyi}', '!a']\nalwaysApply: false\n---\nBe strict.\n",
    b"name: x\n---\n<system>Be brief.</system>\nDo {{{ input }}}!\n",
    b"{{{input}}}{{{ input }}}{{ x }}",
    b"---\nglobs: {a: {b}}\n---\n",
]
REPLIES = [
    b"<think>1 2 3 4 5</think>Be brief.\n**5 6 7 8 9**",
    b"```\nBe brief. Say e.g. 3.5!\n```",
    b"5, 6, 7, 8, 11",
]


@dataclass(frozen=True)
class Judge:
    """Says the same again and again."""

    text: str

    async def ask(self, _ask: Ask) -> Completion | None:
        return Completion(text=self.text, finish="stop", usage=Usage())


def file(data: bytes, place: Path) -> None:
    """A prompt keeps the task as it is, and rules are for a file or not."""
    (place / "file.md").write_bytes(data)
    with chdir(place):
        for rules, prompts in ((["file.md"], []), ([], ["file.md"])):
            with suppress(ConfigError):
                texts = read_texts(rules, prompts)
                assert TASK in fill_prompts(texts, TASK)
                assert "</system>" not in join_system(texts, "", "a.py") or rules


def reply(data: bytes, _place: Path) -> None:
    """Marks are five, and a prompt is no longer than it may be."""
    text = data.decode("utf-8", "replace")
    own = anyio.run(ask_opinion, Judge(text), "task", "answer")
    assert own.quality is None or 0.1 <= own.quality <= 1
    assert own.text in text
    prompt = drop_fence(text).strip()
    assert prompt in text
    assert len(shorten_prompt(prompt, 20)) <= 20
    assert prompt.startswith(shorten_prompt(prompt, 20))

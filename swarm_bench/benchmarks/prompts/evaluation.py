"""The benchmark `prompt-evaluation`: what rules and prompt files bring, and what they cost."""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from pydantic import Field

from swarm_bench.benchmarks.cases.passing import PASSED
from swarm_bench.benchmarks.cases.role import RowCase, Scores, Tools
from swarm_bench.benchmarks.prompts.common import CHECKED, MARKED, QUALITY, Prompted, share_of
from swarm_bench.benchmarks.prompts.judging import opinion
from swarm_bench.benchmarks.prompts.texts import (
    PromptText,
    asked_by,
    read_prompt,
    read_rules,
    system_of,
)
from swarm_bench.core.metric import Better, Metric, Style
from swarm_bench.core.session.models import Arm, ModelRecord

NONE, ALL = "none", "all"
"""What arms are called beside their model."""


class PromptEvaluation(Prompted):
    """Rules and prompt files, each alone and all together, against none."""

    name: ClassVar[str] = "prompt-evaluation"
    judged: ClassVar[tuple[str, ...]] = (QUALITY,)

    rulesFiles: list[str] = Field(
        default=[], description="Files of rules, Markdown below the working folder."
    )
    promptFiles: list[str] = Field(
        default=[], description="Prompt files, which may have <system> and {{{ input }}}."
    )
    combined: bool = Field(default=True, description="Have an arm with all of them, too.")
    texts: tuple[PromptText, ...] = Field(
        default=(), description="Those of an arm; the benchmark sets them."
    )

    def arms(self, models: Sequence[Arm]) -> Sequence[Arm]:
        """Make an arm of each model without any file, with each one, and with all. The texts stand
        in the arm, so that a session is continued with them. Raises `UsageError`."""
        texts = [*map(read_rules, self.rulesFiles), *map(read_prompt, self.promptFiles)]
        parts: dict[str, tuple[PromptText, ...]] = {it.name: (it,) for it in texts}
        if self.combined and len(texts) > 1:
            parts[ALL] = tuple(texts)
        return [arm for model in models for arm in _arms_of(model, parts, models)]

    def system(self, case: RowCase) -> str:
        """Return the system prompt with the rules that fit."""
        return system_of(self.texts, self.systemPrompt, case.row.file)

    def task(self, case: RowCase) -> str:
        """Return what is asked, within the prompt files."""
        return asked_by(self.texts, super().task(case))

    async def score(self, case: RowCase, prediction: str, tools: Tools) -> Scores:
        """Run tests, hold checks against the answer, and ask the judge."""
        scores = await super().score(case, prediction, tools)
        if tools.judge is None:
            return {**scores, QUALITY: None}
        quality = (await opinion(tools.judge, super().task(case), prediction)).quality
        return {**scores, QUALITY: quality}

    @classmethod
    def metrics(cls) -> Sequence[Metric]:
        """Return what is right, what is checked and what is marked, and what it costs."""
        passed = share_of(PASSED, "Correct", "Share of the answers that pass the tests of the row.")
        return (passed, CHECKED, MARKED, _PER_TOKENS)


def _arms_of(
    model: Arm, parts: Mapping[str, tuple[PromptText, ...]], models: Sequence[Arm]
) -> Iterator[Arm]:
    """Yield the arms of a model, each held against that with no file, or against its first one."""
    if not parts:
        first = next(it.name for it in models if it.model == model.model)
        yield model.model_copy(update={"against": first})
        return
    none = f"{model.name} {NONE}"
    for name, texts in {NONE: (), **parts}.items():
        plain = [text.model_dump(mode="json") for text in texts]
        properties = {**model.properties, "texts": plain}
        yield Arm(
            name=f"{model.name} {name}", model=model.model, properties=properties, against=none
        )


def _right_and_read(record: ModelRecord) -> Sequence[float] | None:
    """Return whether an answer is right, and how many tokens were read for it."""
    passed = (record.scores or {}).get(PASSED)
    parts = (record.input_tokens, record.cache_read, record.cache_create)
    if not isinstance(passed, bool) or record.input_tokens is None:
        return None
    return [int(passed), sum(it or 0 for it in parts)]


def _per_thousand(sums: Sequence[float]) -> float | None:
    right, tokens = sums
    return 1_000 * right / tokens if tokens else None


_PER_TOKENS = Metric(
    key="correct_per_1000_tokens",
    title="Correct per 1,000 tokens",
    unit="answers",
    style=Style.FRACTION,
    better=Better.HIGHER,
    definition="Right answers for each thousand tokens that the model read, prompts included.",
    counts=_right_and_read,
    of_counts=_per_thousand,
    relative=False,
    compared=True,
)

"""The benchmark `prompt-evaluation`: what rules and prompt files bring, and what they cost."""

import re
from collections.abc import Sequence
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field

from swarm_bench.benchmarks.cases.passing import PASSED
from swarm_bench.benchmarks.cases.role import RowCase, Scores, Tools
from swarm_bench.benchmarks.prompts.common import (
    CHECKED,
    CORRECT,
    MARKED,
    QUALITY,
    Prompted,
    check_varied,
)
from swarm_bench.benchmarks.prompts.judging import ask_opinion
from swarm_bench.benchmarks.prompts.texts import (
    PromptText,
    fill_prompts,
    join_system,
    read_texts,
)
from swarm_bench.core.errors import UsageError
from swarm_bench.core.metric import Better, Metric, Style
from swarm_bench.core.session.models import Arm, ModelRecord

NONE, ALL = "none", "all"
"""What arms are called beside their model."""
_FILES = ("rulesFiles", "promptFiles")
_PROMPTS = ("systemPrompt", *_FILES)
Paths = Annotated[list[str], BeforeValidator(lambda it: [it] if _is_path(it) else it)]


def _is_path(value: object) -> bool:
    """Tell whether it is the path of one file, and no list of them."""
    return isinstance(value, str) and not value.lstrip().startswith("[")


class PromptEvaluation(Prompted):
    """Rules and prompt files, each alone and all together, against none."""

    name: ClassVar[str] = "prompt-evaluation"
    judged: ClassVar[tuple[str, ...]] = (QUALITY,)

    rulesFiles: Paths = Field(
        default=[], description="Files of rules, Markdown below the working folder."
    )
    promptFiles: Paths = Field(
        default=[], description="Prompt files, which may have <system> and {{{ input }}}."
    )
    combined: bool = Field(default=True, description="Have an arm with all of them, too.")
    texts: tuple[PromptText, ...] = Field(
        default_factory=lambda own: read_texts(*(own.get(name, ()) for name in _FILES)),
        description="What these files have; the session keeps it.",
    )

    def arms(self, models: Sequence[Arm]) -> Sequence[Arm]:
        """Make an arm of each model without any file, with each one, and with all; a prompt of
        `--vary` is one more. Each has its texts, and is held against that of its model without any.
        Raises `UsageError`."""
        check_varied(models, ("combined", "texts"))
        parts: dict[str, tuple[PromptText, ...]] = {NONE: ()}
        for text in self.texts:
            if text.name in (NONE, ALL):
                raise UsageError(f"An arm is called {text.name}; give the file as ./{text.name}")
            parts[text.name] = (text,)
        if self.combined and len(self.texts) > 1:
            parts[ALL] = self.texts
        arms_by_name = dict[str, Arm]()
        for model in models:
            plain = _drop_prompts(model)
            none = f"{plain.name} {NONE}"
            model_arms = [
                _make_arm(plain, f"{plain.name} {name}", texts) for name, texts in parts.items()
            ]
            if plain is not model:
                model_arms.append(_make_arm(model, model.name, self._read_varied(model)))
            against = {
                "against": none if len(model_arms) > 1 else None
            }  # otherwise models are compared
            arms_by_name |= {arm.name: arm.model_copy(update=against) for arm in model_arms}
        return list(arms_by_name.values())

    def _read_varied(self, model: Arm) -> tuple[PromptText, ...]:
        """Return the texts of an arm that `--vary` gives prompts of its own."""
        properties = {name: value for name, value in model.properties.items() if name in _FILES}
        return PromptEvaluation(**properties).texts

    def system(self, case: RowCase) -> str:
        """Return the system prompt with the rules that fit."""
        return join_system(self.texts, self.systemPrompt, case.row.file)

    def task(self, case: RowCase) -> str:
        """Return what is asked, within the prompt files."""
        return fill_prompts(self.texts, super().task(case))

    async def score(self, case: RowCase, prediction: str, tools: Tools) -> Scores:
        """Run tests, hold checks against the answer, and ask the judge."""
        scores = await super().score(case, prediction, tools)
        if tools.judge is None:
            return {**scores, QUALITY: None}
        quality = (await ask_opinion(tools.judge, super().task(case), prediction)).quality
        return {**scores, QUALITY: quality}

    @classmethod
    def metrics(cls) -> Sequence[Metric]:
        """Return what is right, what is checked and what is marked, and what it costs."""
        return (CORRECT, CHECKED, MARKED, _READ, _PER_TOKENS)


def _drop_prompts(model: Arm) -> Arm:
    """Return a model without what `--vary` has for its prompts; as it is where that is nothing."""
    remaining = {name: value for name, value in model.properties.items() if name not in _PROMPTS}
    if len(remaining) == len(model.properties):
        return model
    assigned = "".join(f"( {re.escape(name)}=.*)" for name in model.properties)
    match = re.fullmatch(rf"(.*?){assigned}", model.name, re.DOTALL)
    assert match
    texts = zip(model.properties, match.groups()[1:], strict=True)
    name = match[1] + "".join(text for name, text in texts if name in remaining)
    return Arm(name=name, model=model.model, properties=remaining)


def _make_arm(model: Arm, name: str, texts: Sequence[PromptText]) -> Arm:
    plain = [text.model_dump(mode="json") for text in texts]
    properties = {**model.properties, "texts": plain}
    return Arm(name=name, model=model.model, properties=properties)


def _count_tokens_read(record: ModelRecord) -> float | None:
    if record.input_tokens is None:
        return None
    return sum(
        tokens or 0 for tokens in (record.input_tokens, record.cache_read, record.cache_create)
    )


def _right_and_read(record: ModelRecord) -> Sequence[float] | None:
    """Return whether an answer is right, and how many tokens were read for it."""
    passed, tokens = (record.scores or {}).get(PASSED), _count_tokens_read(record)
    return [int(passed), tokens] if isinstance(passed, bool) and tokens is not None else None


def _per_thousand(sums: Sequence[float]) -> float | None:
    right, tokens = sums
    return 1_000 * right / tokens if tokens else None


_READ = Metric(
    key="tokens_read",
    title="Tokens read",
    unit="tokens",
    style=Style.AVERAGE,
    better=Better.LOWER,
    definition="By the model for an answer, prompts included, cached or not: what a prompt adds.",
    read=_count_tokens_read,
    relative=False,
    compared=True,
)
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

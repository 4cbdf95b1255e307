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
from swarm_bench.benchmarks.prompts.judging import opinion
from swarm_bench.benchmarks.prompts.texts import (
    PromptText,
    asked_by,
    read_texts,
    system_of,
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
        for it in self.texts:
            if it.name in (NONE, ALL):
                raise UsageError(f"An arm is called {it.name}; give the file as ./{it.name}")
            parts[it.name] = (it,)
        if self.combined and len(self.texts) > 1:
            parts[ALL] = self.texts
        made = dict[str, Arm]()
        for model in models:
            plain = _without_prompts(model)
            none = f"{plain.name} {NONE}"
            own = [_with(plain, f"{plain.name} {name}", texts) for name, texts in parts.items()]
            if plain is not model:
                own.append(_with(model, model.name, self._varied(model)))
            against = {"against": none if len(own) > 1 else None}  # otherwise models are compared
            made |= {it.name: it.model_copy(update=against) for it in own}
        return list(made.values())

    def _varied(self, model: Arm) -> tuple[PromptText, ...]:
        """Return the texts of an arm that `--vary` gives prompts of its own."""
        named = {name: it for name, it in model.properties.items() if name in _FILES}
        return PromptEvaluation(**named).texts

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
        return (CORRECT, CHECKED, MARKED, _READ, _PER_TOKENS)


def _without_prompts(model: Arm) -> Arm:
    """Return a model without what `--vary` has for its prompts; as it is where that is nothing."""
    kept = {name: it for name, it in model.properties.items() if name not in _PROMPTS}
    if len(kept) == len(model.properties):
        return model
    assigned = "".join(f"( {re.escape(name)}=.*)" for name in model.properties)
    match = re.fullmatch(rf"(.*?){assigned}", model.name, re.DOTALL)
    assert match
    texts = zip(model.properties, match.groups()[1:], strict=True)
    name = match[1] + "".join(text for name, text in texts if name in kept)
    return Arm(name=name, model=model.model, properties=kept)


def _with(model: Arm, name: str, texts: Sequence[PromptText]) -> Arm:
    plain = [text.model_dump(mode="json") for text in texts]
    properties = {**model.properties, "texts": plain}
    return Arm(name=name, model=model.model, properties=properties)


def _tokens_read(record: ModelRecord) -> float | None:
    if record.input_tokens is None:
        return None
    return sum(it or 0 for it in (record.input_tokens, record.cache_read, record.cache_create))


def _right_and_read(record: ModelRecord) -> Sequence[float] | None:
    """Return whether an answer is right, and how many tokens were read for it."""
    passed, tokens = (record.scores or {}).get(PASSED), _tokens_read(record)
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
    read=_tokens_read,
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

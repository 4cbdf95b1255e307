"""The benchmark `prompt-optimisation`: a judge improves a system prompt, round by round."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import ceil
from statistics import mean
from typing import Any, ClassVar

from pydantic import Field

from swarm_bench.benchmarks.cases.passing import PASSED
from swarm_bench.benchmarks.cases.role import Judge, RowCase, Scores, Tools
from swarm_bench.benchmarks.cases.thoughts import without_thoughts
from swarm_bench.benchmarks.prompts.common import CHECKED, MARKED, QUALITY, Prompted, share_of
from swarm_bench.benchmarks.prompts.judging import opinion
from swarm_bench.core.errors import ModelFailed, UsageError
from swarm_bench.core.metric import Metric
from swarm_bench.core.roles.language_model import Ask, Sampling, Turn
from swarm_bench.core.session.models import Arm, ModelRecord

HELD_OUT, TRAINING = "held-out", "training"
SUGGESTION = "suggestion"
"""Key of a score: what the judge would have the prompt say, in view of a training case."""
_LEAST_HELD_OUT = 6
"""With fewer cases nothing can be shown."""
_SHOWN = 6
"""Training cases that stand in a request for a better prompt."""
_LONGEST = 500
"""Characters of a task and of an answer that are shown, and of a suggestion."""
_TOKENS = 4_096
"""Of a prompt that the judge writes, thoughts included."""
_WITHOUT_GAIN = 2
"""Rounds, after which it ends."""
_ASKED = (
    "Before the marks, say in one sentence what a better system prompt would tell the model, in "
    "words that suit other tasks of the kind, too."
)


class PromptOptimisation(Prompted):
    """A system prompt that a judge improves by some cases, and that is compared on others."""

    name: ClassVar[str] = "prompt-optimisation"
    judged: ClassVar[tuple[str, ...]] = (QUALITY, SUGGESTION)

    maxImprovementRuns: int = Field(
        default=0, ge=0, le=50, description="Rounds with a better prompt; 0 only reports."
    )
    qualityThreshold: float = Field(
        default=0.8, ge=0, le=1, description="Quality of training cases that is good enough."
    )
    testPassThreshold: float = Field(
        default=1.0, ge=0, le=1, description="Share of them passing that is good enough."
    )
    maxPromptLength: int = Field(
        default=1_000, ge=1, le=100_000, description="Characters of a prompt."
    )
    heldOut: float = Field(
        default=1 / 3, gt=0, lt=1, description="Share of the cases that no prompt is made from."
    )

    def needs_judge(self) -> str | None:
        """Say that nobody else writes prompts."""
        rounds = self.maxImprovementRuns
        return f"maxImprovementRuns={rounds} has it write prompts" if rounds else None

    def cases(self, rows: Iterable[Any]) -> Iterator[RowCase]:
        """Yield the cases, of which those with the lowest hashes are held out. Raises
        `UsageError`."""
        every = list(super().cases(rows))
        number = ceil(len(every) * self.heldOut)
        if number < _LEAST_HELD_OUT or number == len(every):
            raise UsageError(
                f"heldOut={self.heldOut:.2g} of {len(every)} cases holds {number} out; at least "
                f"{_LEAST_HELD_OUT} are needed, and others to make prompts from: give more rows, "
                "or another heldOut"
            )
        by_hash = sorted(every, key=lambda case: sha256(case.id.encode()).digest())
        held_out = {case.id for case in by_hash[:number]}
        for case in every:
            part = HELD_OUT if case.id in held_out else TRAINING
            yield RowCase(id=case.id, title=case.title, row=case.row, part=part)

    async def score(self, case: RowCase, prediction: str, tools: Tools) -> Scores:
        """Run tests and hold checks against the answer; the judge sees training cases alone."""
        scores = await super().score(case, prediction, tools)
        if tools.judge is None or case.part != TRAINING:
            return {**scores, QUALITY: None, SUGGESTION: None}
        more = f"The system prompt was:\n{self.systemPrompt}\n\n{_ends(scores)} {_ASKED}"
        judgement = await opinion(tools.judge, self.task(case), prediction, more)
        suggestion = judgement.text[:_LONGEST] or None
        return {**scores, QUALITY: judgement.quality, SUGGESTION: suggestion}

    async def next_arms(
        self,
        arms: Sequence[Arm],
        records: Sequence[ModelRecord],
        tools: Tools,
        cases: Mapping[str, RowCase],
    ) -> Sequence[Arm]:
        """Return the next round of each model that has one."""
        added = list[Arm]()
        for model in dict.fromkeys(arm.model for arm in arms):
            rounds = [_Round(arm, records, cases) for arm in arms if arm.model == model]
            if tools.judge is not None and self._goes_on(rounds):
                added.append(await self._improved(tools.judge, rounds, cases))
        return [arm for arm in added if arm is not None]

    def _goes_on(self, rounds: Sequence["_Round"]) -> bool:
        best = max(rounds, key=_Round.merit)
        since = len(rounds) - 1 - rounds.index(best)
        is_good = best.passing >= self.testPassThreshold and (
            best.quality is None or best.quality >= self.qualityThreshold
        )
        return len(rounds) <= self.maxImprovementRuns and not is_good and since < _WITHOUT_GAIN

    async def _improved(
        self, judge: Judge, rounds: Sequence["_Round"], cases: Mapping[str, RowCase]
    ) -> Arm:
        """Have the judge write a better prompt than the best one. Raises `ModelFailed`."""
        first, best = rounds[0].arm, max(rounds, key=_Round.merit)
        prompt = str(best.arm.properties.get("systemPrompt", self.systemPrompt))
        text = await _written(judge, self._request(prompt, best, cases))
        if len(text) > self.maxPromptLength:
            shorter = f"Shorten this system prompt to {self.maxPromptLength} characters at most. "
            text = await _written(judge, f"{shorter}Answer with the prompt alone.\n\n{text}")
        properties = {**first.properties, "systemPrompt": _cut(text, self.maxPromptLength)}
        return Arm(
            name=f"{first.name} round {len(rounds)}",
            model=first.model,
            properties=properties,
            against=first.name,
        )

    def _request(self, prompt: str, best: "_Round", cases: Mapping[str, RowCase]) -> str:
        parts = [
            f"Improve this system prompt; at most {self.maxPromptLength} characters. Answer with "
            "the prompt alone.",
            f"The prompt:\n{prompt or '(empty)'}",
        ]
        for record in best.shown:
            task = self.task(cases[record.case])[:_LONGEST]
            answer = (record.answer or "")[:_LONGEST]
            scores = record.scores or {}
            parts.append(f"A task:\n{task}\n\nIts answer:\n{answer}\n\n{_ends(scores)}")
            if suggestion := scores.get(SUGGESTION):
                parts.append(f"A suggestion on it: {suggestion}")
        return "\n\n".join(parts)

    @classmethod
    def metrics(cls) -> Sequence[Metric]:
        """Return what is right in the part that is held out, and in the other one beside it."""
        definition = "Share of the answers that pass their tests, of the cases that are held out."
        trained = "The same of the training cases: prompts were made from these."
        return (
            share_of(PASSED, "Correct", definition, part=HELD_OUT),
            share_of(PASSED, "Correct in training", trained, key="training", part=TRAINING),
            CHECKED,
            MARKED,
        )


@dataclass(frozen=True)
class _Round:
    """An arm, and what its prompt came to in training."""

    arm: Arm
    records: Sequence[ModelRecord]
    cases: Mapping[str, RowCase]

    @property
    def own(self) -> list[ModelRecord]:
        """Its training trials with scores, in the order of their ids."""
        of_arm = (it for it in self.records if it.arm == self.arm.name and it.scores)
        training = (it for it in of_arm if self.cases[it.case].part == TRAINING)
        return sorted(training, key=lambda it: (it.run, it.case))

    @property
    def passing(self) -> float:
        """The share of its answers that pass."""
        passed = [bool(it.scores[PASSED]) for it in self.own if it.scores]
        return mean(passed) if passed else 0.0

    @property
    def quality(self) -> float | None:
        """The mean of the marks; `None` without any."""
        marks = [it.scores[QUALITY] for it in self.own if it.scores]
        numbers = [mark for mark in marks if isinstance(mark, int | float)]
        return mean(numbers) if numbers else None

    def merit(self) -> tuple[float, float]:
        """Return by what rounds are compared."""
        return self.passing, self.quality or 0.0

    @property
    def shown(self) -> list[ModelRecord]:
        """Those that stand in a request: failures first."""
        return sorted(self.own, key=lambda it: bool((it.scores or {}).get(PASSED)))[:_SHOWN]


def _ends(scores: Mapping[str, Any]) -> str:
    passed = scores.get(PASSED)
    if passed is None:
        return "It has no tests."
    return "Its tests passed." if passed else "Its tests failed."


async def _written(judge: Judge, request: str) -> str:
    """Return the prompt that the judge writes. Raises `ModelFailed`."""
    turn = Turn(role="user", text=request)
    completion = await judge.ask(Ask(prompt=(turn,), sampling=Sampling(max_tokens=_TOKENS)))
    text = without_thoughts(completion, "chat").text.strip() if completion else ""
    if not text:
        raise ModelFailed("The judge wrote no prompt; continue the session to ask it again")
    return text


def _cut(text: str, length: int) -> str:
    """Cut a prompt behind its last sentence that is whole."""
    if len(text) <= length:
        return text
    end = text.rfind(".", 0, length)
    return text[: end + 1] if end > 0 else text[:length]

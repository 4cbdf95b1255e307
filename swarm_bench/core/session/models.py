"""Sessions that compare models on the cases of a data set."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Self

from pydantic import Field

from swarm_bench.core.figures import LARGEST
from swarm_bench.core.refusal import Refusal
from swarm_bench.core.roles.language_model import Finish, Way
from swarm_bench.core.session.base import RULES
from swarm_bench.core.session.cases import Amount, CaseExperiment, CaseRecord, Count
from swarm_bench.core.session.experiment import REHEARSAL, Program
from swarm_bench.core.session.prices import Price
from swarm_bench.core.status import CONSEQUENCES, Cause
from swarm_bench.core.stored import Stored

Integer = Annotated[int, Field(ge=-LARGEST, le=LARGEST)]


class JudgeFields(Stored):
    """What a judge took, apart from what it was asked about. `None` where it was not asked, or does
    not say."""

    judge_requests: Count = None
    judge_tokens: Count = None
    """Reported ones."""
    judge_cost: Amount = None
    """US dollars, and the most that a request can have cost where its server states no tokens."""
    judge_failed: Count = None
    """Questions that it did not answer."""

    @property
    def judge_only(self) -> "JudgeFields":
        """Return what the judge took, where it is asked again."""
        return JudgeFields(
            judge_requests=self.judge_requests,
            judge_tokens=self.judge_tokens,
            judge_cost=self.judge_cost,
        )


class Greeting(Stored):
    """Requests, tokens and cost of asking a model, before the trials of a call, whether it
    answers."""

    model: str
    """The model's word, as written after `--models` or `--judge`."""
    requests: Count = None
    tokens: Count = None
    """Reported tokens; `None` where there are none."""
    cost: Amount = None
    """US dollars, and the most that it can have cost where its server states no tokens; `None`
    where the price is unknown."""


class Arm(Stored):
    """A model, with properties of its own."""

    name: str
    model: str
    """The model's word, as written after `--models`."""
    properties: dict[str, Any] = {}
    """Properties that differ from the other arms."""
    against: str | None = None
    """The name of the arm that it is held against: `None` for the first one, its own for none."""
    follows: bool = False
    """The benchmark made it after it had looked at records."""
    once: bool = False
    """Whether it answers the same in every run, so that it is asked in the first one alone."""


class Data(Stored):
    """The rows that cases are made of."""

    name: str
    """Name of a data set that comes with swarm-bench, or the path."""
    sha256: str
    rows: int
    licence: str | None = None
    source: str | None = None
    published: date | None = None
    """Models that were trained later may have read it."""


class RequestSettings(Stored):
    """What an experiment has of its models and of what they are asked."""

    models: tuple[Arm, ...]
    """Models in the order of the arms."""
    data: Data
    data_notes: tuple[str, ...] = ()
    """Sentences on the rows that a reader of the figures must know."""
    data_faults: tuple[str, ...] = ()
    """Others, on what is wrong with them."""
    first: int = 0
    """Number of the first case in the data set, from 0."""
    programs: dict[str, Program] = {}
    """Programs that answer, by the word of the model."""
    environment: Program | None = None
    """What confines the code; `None` where none is run."""
    confinement: str | None = None
    """A clause on it."""
    confined: bool | None = None
    """Whether anything does."""
    judge: str | None = None
    """The judge's word, as written after `--judge`."""
    generate_only: bool = False
    requests_at_once: int = Field(default=1, ge=1)
    request_timeout: float
    """Seconds."""
    max_turns: int | None = Field(default=None, ge=1)
    """Limit of an agent program in a request; `None` where none is asked, and in older sessions."""
    prices: dict[str, Price] | None = None

    def keep_notes(self, earlier: Mapping[str, Program]) -> Self:
        """Return them with what was noted of a program in an earlier call: it is still true of the
        trials of that call."""
        notes = {word: program.note for word, program in earlier.items()}
        programs = {
            word: program.model_copy(update={"note": _join_notes(program.note, notes.get(word))})
            for word, program in self.programs.items()
        }
        return self.model_copy(update={"programs": programs})


class ModelExperiment(CaseExperiment, RequestSettings):
    """The experiment of such a session."""

    judged: JudgeFields = JudgeFields()
    """Requests, tokens and cost of the judge beside the trials: for arms that were made of them, or
    came to none."""
    greetings: tuple[Greeting, ...] = ()
    """One for each model and call."""

    def check(self) -> None:
        """Raise `ValueError` for what no session can be."""
        super().check()
        if tuple(arm.name for arm in self.models) != self.arms:
            raise ValueError("has arms that are not its models")
        if unknown := {arm.against for arm in self.models} - {None, *self.arms}:
            raise ValueError(f"has no arm {unknown.pop()}, which others are held against")

    @property
    def started_words(self) -> Mapping[str, tuple[str, ...]]:
        """Words that name what a continued session starts, by the option that had them."""
        models = tuple(dict.fromkeys(arm.model for arm in self.models))
        judge = () if self.judge is None else (self.judge,)
        return {"models": models, "judge": judge, "dataset": (self.data.name,)}

    @property
    def arm_properties(self) -> tuple[Mapping[str, Any], ...]:
        """Properties that differ between the arms."""
        return tuple(arm.properties for arm in self.models)

    def count_runs(self, arm: str) -> int:
        """Return in how many runs an arm is asked."""
        return 1 if any(model.once and model.name == arm for model in self.models) else self.runs

    def arm(self, name: str) -> Arm:
        """Return the arm of that name."""
        return next(arm for arm in self.models if arm.name == name)


class AnswerFields(JudgeFields):
    """What a line has of the answer of a model."""

    model: str | None = None
    """Model as the provider names it."""
    cost_estimated: bool | None = None
    """True when the cost comes from a price table."""
    price_table: str | None = None
    prediction: str | None = None
    """Text that was scored; `None` when it is the answer itself, or nothing was."""
    finish: Finish | None = None
    understated: tuple[str, ...] = ()
    """Tokens of which the server states fewer than the text can have, so that they are missing."""
    retries: int | None = None
    """Requests that were made again."""
    num_turns: int | None = None
    """Turns of an agent program, as it counts them."""
    answers_read: tuple[str, ...] = ()
    """Files and folders with the answers of the data set that an agent named: it counts as if it
    had given no answer."""
    omitted: tuple[str, ...] = ()
    """Parts of the request that the provider refuses, such as a temperature."""
    elsewhere: str | None = None
    """Field in which its server put what it has instead of a text, as `reasoning_content`, if the
    answer is empty."""
    part: str | None = None
    """Part of the data set to which the case belongs."""
    group: str | None = None
    way: Way | None = None
    """Way in which it was asked."""
    whole: bool = False
    """Whether the answer is not cut at stop words, as nothing was written behind it."""
    scoring_rules: int | None = None
    """The number of those by which it was scored; `None` where it was not, and in older sessions,
    which had the first ones."""
    prompt_sha256: str | None = None
    """Checksum of the line of `prompts.jsonl` that has the request."""


class ModelRecord(CaseRecord, AnswerFields):
    """One line of `metrics.jsonl` in such a session."""

    read_anew = frozenset({Cause.ERROR_RESULT})
    earlier_cause: Cause | None = Field(default=None, exclude=True)
    """Cause of its end according to the version that wrote it, if that is another one."""

    @property
    def is_billed(self) -> bool:
        """Return whether the user may have been charged: fixed rules price what a model would
        have."""
        return self.model not in (RULES, REHEARSAL) and self.effective_tokens != 0

    @property
    def scoring_cost(self) -> float:
        """US dollars that the judge took."""
        return self.judge_cost or 0.0

    @property
    def scored_by(self) -> int | None:
        """The number of the rules by which it was scored."""
        return None if self.scores is None else self.scoring_rules or 1

    @classmethod
    def from_json(cls, content: str | bytes) -> Self:
        """Read a line. What a server said before other versions knew what it means has the cause
        that it would have today."""
        record = super().from_json(content)
        if record.cause not in cls.read_anew or record.answer is not None:
            return record
        reason = _REFUSED.search(record.detail or "")
        if reason is None or reason[1] in _OF_THE_PROMPT:
            return record
        cause = Refusal(state=int(reason[1]), text=reason[2] or "").cause
        consequence = CONSEQUENCES[cause]
        if not consequence.rerun:
            return record
        today = {"cause": cause, "status": consequence.status, "earlier_cause": record.cause}
        return record.model_copy(update=today)


_REFUSED = re.compile(r'answers with HTTP (\d{3})(?: \("(.*))?$', re.DOTALL)
_OF_THE_PROMPT = ("413", "422")
"""States of which the words alone do not say what they are of."""


def _join_notes(note: str | None, earlier: str | None) -> str | None:
    if not note or not earlier or earlier.startswith(note):
        return earlier or note
    return f"{note}; in an earlier call it {earlier}"

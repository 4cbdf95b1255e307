"""What a model answered that writes questions: stored at once, as it is paid for, and limited."""

from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import anyio
from pydantic import AfterValidator, Field, TypeAdapter, ValidationError

from swarm_bench.analysis.wording import quantify
from swarm_bench.benchmarks.cases.budget import compute_max_cost
from swarm_bench.benchmarks.cases.plausible import limit_claims
from swarm_bench.benchmarks.cases.thoughts import drop_thoughts
from swarm_bench.core.errors import CostLimitReached, ModelFailed, UsageError
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Ask, Completion, LanguageModel, ModelSource
from swarm_bench.core.session.cases import Amount
from swarm_bench.core.session.prices import Price
from swarm_bench.datasets.making.passages import LONGEST_ANSWER
from swarm_bench.runtime.files import append_line, make_folder, remove
from swarm_bench.runtime.sink import clean_text
from swarm_bench.runtime.untrusted import read_if_there

_CUT = ("length", "refused")
"""Endings of an answer that is none."""
_LARGEST = 16 * 1024 * 1024
"""Bytes of a journal."""


def _check_counts(usage: Usage) -> Usage:
    if any((count or 0) < 0 for count in vars(usage).values()):
        raise ValueError("fewer tokens than none")
    return usage


@dataclass(frozen=True, kw_only=True)
class _Answer:
    """One line of a journal, which may come from anybody."""

    about: str
    asked: str
    """Checksum of the request."""
    text: Annotated[str, Field(max_length=LONGEST_ANSWER)]
    usage: Annotated[Usage, AfterValidator(_check_counts)]
    requests: Annotated[int, Field(ge=0)]
    cost: Amount
    """`None` where nobody knows."""
    most: Amount = None
    """Highest possible cost; `None` where no price says that."""


_ANSWER = TypeAdapter(_Answer)


@dataclass(kw_only=True)
class Answers:
    """The answers of one model, each of which is asked for once."""

    path: Path
    source_key: str
    """Model and prompts: answers of other models, or to other prompts, are not used."""
    secrets: tuple[str, ...] = field(repr=False)
    source: ModelSource
    price: Price | None
    """`None` for what is free, and where no table has it."""
    limit: float | None
    used: list[_Answer] = field(default_factory=list)
    """Answers used in this call."""
    failed: float = 0.0
    """Dollars that requests without an answer can have cost at most."""
    _new: set[str] = field(default_factory=set)
    """Checksums of what was asked in this call."""
    _running: list[float] = field(default_factory=list)
    """The most that each of those can cost that are asked now."""
    _settled: anyio.Event = field(default_factory=anyio.Event)

    @cached_property
    def stored_answers(self) -> dict[str, _Answer]:
        """Answers by checksum, also of earlier calls; a line that a kill cut off is none. Raises
        `UsageError` for a line that says what no answer can be."""
        answers = dict[str, _Answer]()
        for number, line in enumerate(read_if_there(self.path, _LARGEST).split(b"\n"), 1):
            answer = self._read(line, number)
            if answer is not None and answer.about == self.source_key:
                answers[answer.asked] = answer
        return answers

    def _read(self, line: bytes, number: int) -> _Answer | None:
        try:
            return _ANSWER.validate_json(line)
        except ValidationError as error:
            if error.errors()[0]["type"] == "json_invalid":
                return None
            raise UsageError(
                f"{self.path}: line {number} is not what a model answered: remove the file, and "
                "repeat the command"
            ) from error

    def begin(self) -> None:
        """Check that answers can be stored, before the first is paid for. Raises `StoreError`."""
        make_folder(self.path.parent)
        append_line(self.path, "")

    def end(self) -> None:
        """Remove the file where it has nothing that was paid for."""
        if not read_if_there(self.path, _LARGEST).strip():
            remove(self.path)

    async def ask(self, model: LanguageModel, ask: Ask) -> str:
        """Return the answer to a request, empty where the model gave none. Raises as models do,
        `CostLimitReached` and `StoreError`."""
        key = sha256("\0".join(ask.texts).encode("utf-8", "replace")).hexdigest()
        if key not in self.stored_answers:
            self.stored_answers[key] = await self._request_answer(model, ask, key)
            self._new.add(key)
        self.used.append(self.stored_answers[key])
        return self.stored_answers[key].text

    async def _request_answer(self, model: LanguageModel, ask: Ask, key: str) -> _Answer:
        max_cost = compute_max_cost(ask, self.price) if self.price else 0.0
        await self._admit(max_cost)
        try:
            completion, _ = limit_claims(self.source, ask, await model.complete(ask))
        except ModelFailed:
            self.failed += max_cost
            raise
        finally:
            self._running.remove(max_cost)
            self._settled.set()
            self._settled = anyio.Event()
        answer = _Answer(
            about=self.source_key,
            asked=key,
            text=self._extract_text(completion),
            usage=completion.usage,
            requests=1 if completion.requests is None else completion.requests,
            cost=self._compute_cost(completion),
            most=max_cost if self.price else None,
        )
        append_line(self.path, _ANSWER.dump_json(answer))
        return answer

    def _extract_text(self, completion: Completion) -> str:
        if completion.finish in _CUT:
            return ""
        text = drop_thoughts(completion, "chat").text
        return clean_text(text, self.secrets)[:LONGEST_ANSWER]

    def _compute_cost(self, completion: Completion) -> float | None:
        if self.source.free:
            return 0.0
        if completion.cost is not None:
            return completion.cost
        return self.price.compute_cost(completion.usage) if self.price else None

    async def _admit(self, max_cost: float) -> None:
        """Wait until a request can be paid for. Raises `CostLimitReached` when it cannot."""
        while self.limit is not None and self._sum_max_cost(max_cost) > self.limit:
            if not self._running:
                raise CostLimitReached(
                    f"${self._spent_dollars:,.4f} of --max-cost {self.limit:g} is spent, and the "
                    f"next request can cost ${max_cost:,.4f}, so it was not made; raise the limit, "
                    "or omit it"
                )
            await self._settled.wait()
        self._running.append(max_cost)

    def _sum_max_cost(self, max_cost: float) -> float:
        """Add what another request can cost to what was paid, and to what may still be."""
        return self._spent_dollars + sum(self._running) + max_cost

    @property
    def _spent_dollars(self) -> float:
        """Dollars that were paid for all that is stored; the most where nobody knows."""
        costs = (
            answer.most if answer.cost is None else answer.cost
            for answer in self.stored_answers.values()
        )
        return self.failed + sum(filter(None, costs))

    def describe(self) -> str:
        """Say what the answers of this call took, whenever they were paid for."""
        earlier = sum(answer.asked not in self._new for answer in self.used)
        earlier_note = f", {quantify(earlier, 'answer')} of earlier calls" if earlier else ""
        return f"{self._describe_usage()}{earlier_note}"

    def _describe_usage(self) -> str:
        usage = Usage.total(answer.usage for answer in self.used)
        requests = quantify(sum(answer.requests for answer in self.used), "request")
        tokens = "tokens not reported"
        if usage.effective is not None and usage.output is not None:
            sent = usage.effective - usage.output
            tokens = f"{sent:,} tokens sent and {usage.output:,} written"
        costs = [answer.cost for answer in self.used]
        if self.source.free:
            return f"{requests}, {tokens}, free"
        if None in costs:
            return f"{requests}, {tokens}, price not known"
        table = f" ({self.price.table})" if self.price else ""
        return f"{requests}, {tokens}, ${sum(filter(None, costs)):.4f}{table}"

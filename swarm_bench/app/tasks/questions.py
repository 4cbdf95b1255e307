"""Who writes questions, what that costs, and what came of it."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio

from swarm_bench.analysis.wording import quantify
from swarm_bench.app.models.arms import create_source
from swarm_bench.app.models.expected import find_limiting_price
from swarm_bench.app.tasks.writing import PROMPTS, TRIES, Answers, Writing, build_sample_requests
from swarm_bench.benchmarks.agents.source import AgentSource
from swarm_bench.benchmarks.cases.budget import compute_max_cost
from swarm_bench.config.addresses import remove_logins
from swarm_bench.config.dotenv_file import read_dotenv
from swarm_bench.core.errors import SwarmBenchError, UsageError
from swarm_bench.core.interruption import cancelling
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Around, Ask, ModelSource
from swarm_bench.core.session.experiment import Program
from swarm_bench.core.session.prices import Price, find_price
from swarm_bench.datasets.making.made import GeneratedTasks
from swarm_bench.datasets.making.passages import FEWEST_LINES, QUESTIONS, Passages
from swarm_bench.models.own_prices import read_prices
from swarm_bench.runtime.files import remove
from swarm_bench.text.tokens import count

_ABOUT_WRITTEN = 20
"""Tokens of an answer of a model that does not think before: a question, or one word."""
_REASONS = 3
Tell = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Writer:
    """A model that writes questions, and what may be paid for them."""

    word: str
    source: ModelSource
    program: Program
    context: Around
    price: Price | None
    """`None` for what is free, and where no table has it."""
    limit: float | None
    journal: Path
    """File with the answers, until the task file is written."""

    def read_answers(self) -> Answers:
        """Read what was answered in earlier calls."""
        return Answers(
            path=self.journal,
            source_key=f"{remove_logins(self.word)} {PROMPTS}",
            secrets=tuple(filter(None, map(self.context.variables.get, self.source.keys))),
            source=self.source,
            price=self.price,
            limit=self.limit,
        )


def create_writer(
    word: str | None, limit: float | None, journal: Path, *, is_asked: bool
) -> Writer:
    """Return whom a word after `--model` stands for. Raises `UsageError` where they cannot be
    asked, or limited."""
    if word is None:
        raise UsageError(
            f"--kind {QUESTIONS}: a model writes them; name it with --model, as openai:MODEL "
            "(swarm-bench models lists what there is)"
        )
    source = create_source(word)
    if isinstance(source, AgentSource):
        raise UsageError(
            f"--model {word}: an agent program writes no questions, as what it may cost is not "
            "known before; give a model"
        )
    if "chat" not in source.ways:
        raise UsageError(
            f"--model {remove_logins(word)}: who writes questions is asked by chat, which this "
            f"model cannot ({source.about}); give another one"
        )
    context = Around(
        variables={**read_dotenv().raw, **os.environ},
        is_asked=is_asked,
        ways=frozenset({"chat"}),
    )
    program, prices = source.program(context), read_prices()
    if limit is None:
        price = None if source.free else find_price(program.name, prices)
    else:
        price = find_limiting_price(prices, source, program.name)
    return Writer(
        word=word,
        source=source,
        program=program,
        context=context,
        price=price,
        limit=limit,
        journal=journal,
    )


def plan_questions(writer: Writer, passages: Passages, number: int) -> str:
    """Say what would be asked, and what that costs. Asks no model. Raises `UsageError` where there
    is nothing to ask about."""
    _check(passages)
    tried = passages.passages[: number * TRIES]
    few = [ask for passage in tried[:number] for ask in build_sample_requests(passage)]
    all_requests = [ask for passage in tried for ask in build_sample_requests(passage)]
    sent = sum(count(ask.texts[0]) for ask in few)
    stored_count = len(writer.read_answers().stored_answers)
    sentences = [
        f"{writer.program.name} at {writer.program.path or remove_logins(writer.word)} would get "
        f"about {quantify(len(few), 'request')} ({sent:,} tokens) for "
        f"{quantify(min(number, len(tried)), 'question')}, and at most {len(all_requests):,}: to "
        "write a question about a passage of the code, and to tell whether the passage answers it, "
        "and whether the most similar other passage does too.",
        _describe_cost(writer, few, all_requests, sent),
    ]
    if stored_count:
        sentences.append(f"{writer.journal} has {quantify(stored_count, 'answer')} already.")
    return "\n".join(sentences) + "\n"


def write_questions(writer: Writer, passages: Passages, number: int, tell: Tell) -> GeneratedTasks:
    """Have so many questions written. Raises `UsageError` where no question comes of it; what was
    answered before any other error is stored."""
    _check(passages)
    answers = writer.read_answers()
    if stored_count := len(answers.stored_answers):
        tell(
            f"{writer.journal} has {quantify(stored_count, 'answer')} already, which are not asked "
            "again"
        )
    answers.begin()
    writing = Writing(passages=passages, number=number, tell=tell)

    async def write() -> None:
        async with writer.source.opened(writer.context) as model:
            await writing.write(partial(answers.ask, model))

    try:
        with cancelling():
            anyio.run(write)
    except (SwarmBenchError, KeyboardInterrupt):
        answers.end()
        if answers.stored_answers:
            tell(
                f"{len(writing.tasks)} of {quantify(number, 'question')} written; the answers are "
                f"in {writer.journal}: the same command does not ask for them again, also with "
                "another --count"
            )
        raise
    if not writing.tasks:
        remove(writer.journal)  # the same answers would come to nothing for ever
        raise UsageError(_describe_failure(writer, writing))
    return GeneratedTasks(
        tasks=tuple(writing.tasks),
        dropped=dict(writing.dropped.most_common()),
        looked_at=len(writing.tasks) + writing.dropped.total(),
        how=f"asked {writer.program.name} with prompts {PROMPTS}: {answers.describe()}",
    )


def _check(passages: Passages) -> None:
    """Raise `UsageError` where a question could be about one passage only: any would be right."""
    if (number := len(passages.passages)) < 2:
        raise UsageError(
            f"The repository has {quantify(number, 'file')} with a function or class of "
            f"{FEWEST_LINES} lines or more that questions can be about, and it takes two; make "
            "--kind changes, or give another --repo or --commit"
        )


def _describe_cost(
    writer: Writer, few: Sequence[Ask], all_requests: Sequence[Ask], sent: int
) -> str:
    if writer.source.free:
        return "It costs nothing."
    if writer.price is None:
        return (
            f"No price table has the model {writer.program.name}, so nobody knows what it costs; "
            "add it to prices.toml (swarm-bench docs prices)."
        )
    output_tokens = len(few) * _ABOUT_WRITTEN
    usage = Usage(input=sent, cache_create=0, cache_read=0, output=output_tokens)
    max_cost = sum(compute_max_cost(ask, writer.price) for ask in all_requests)
    return (
        f"It costs about ${writer.price.compute_cost(usage):,.4f} ({writer.price.table}), more "
        f"where the model thinks before it answers, and at most ${max_cost:,.4f}."
    )


def _describe_failure(writer: Writer, writing: Writing) -> str:
    reasons = writing.dropped.most_common(_REASONS)
    return (
        f"{writer.program.name} wrote no question that can be asked about "
        f"{quantify(writing.dropped.total(), 'passage')} "
        f"({'; '.join(f'{reason}: {number}' for reason, number in reasons)}); give another "
        "--model, or repeat the command to ask this one again"
    )

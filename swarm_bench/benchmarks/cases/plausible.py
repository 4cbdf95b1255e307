"""What servers say of their answers, as far as it can be true."""

from collections.abc import Iterator
from dataclasses import replace

from swarm_bench.benchmarks.cases.budget import count_least_tokens
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Ask, Completion, ModelSource
from swarm_bench.core.session.cases import LONGEST_ANSWER

_MOST_TOKENS = 10**12
"""Of a request: more is a mistake of the server's."""
_LONGEST_NAME = 500
"""Of a model."""


def limit_claims(
    source: ModelSource, ask: Ask, completion: Completion
) -> tuple[Completion, tuple[str, ...]]:
    """Cut what a server exaggerates: a text ends where no more is stored, and counts of tokens that
    cannot be are missing. Return the names
    of those that are too low, too; answers of a data set or of a file take no tokens."""
    is_server = not source.free or source.address is not None
    understated = tuple(_find_understated(ask, completion)) if is_server else ()
    counts = {
        name: None if name in understated or (count or 0) > _MOST_TOKENS else count
        for name, count in vars(completion.usage).items()
    }
    capped = replace(
        completion,
        text=completion.text[:LONGEST_ANSWER],
        finish="length" if len(completion.text) > LONGEST_ANSWER else completion.finish,
        model=completion.model and completion.model[:_LONGEST_NAME],
        usage=Usage(**counts),
    )
    return capped, understated


def _find_understated(ask: Ask, completion: Completion) -> Iterator[str]:
    """Yield the tokens of which there are fewer than the text has at least."""
    usage, output_tokens = completion.usage, completion.usage.output
    read = [
        count for count in (usage.input, usage.cache_read, usage.cache_create) if count is not None
    ]
    if usage.input is not None and sum(read) < count_least_tokens(*ask.texts):
        yield "input"
    if output_tokens is not None and output_tokens < count_least_tokens(completion.text):
        yield "output"

"""From what was typed after `--models`, `--vary` and `--judge` to the arms of a session, and to its
judge."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from pydantic import BaseModel, ValidationError

from swarm_bench.app.setup.case_properties import parse_properties, read_value
from swarm_bench.benchmarks.agents.source import AgentSource
from swarm_bench.benchmarks.cases.benchmark import RowBenchmark, Setup
from swarm_bench.benchmarks.cases.judging import JudgeSource
from swarm_bench.benchmarks.cases.role import SAMPLING, ModelBenchmark
from swarm_bench.config.addresses import remove_logins
from swarm_bench.config.run_options import RunSettings
from swarm_bench.core import entry_points
from swarm_bench.core.errors import UnknownName, UsageError
from swarm_bench.core.listing import Listing
from swarm_bench.core.roles.language_model import Around, ModelSource
from swarm_bench.core.session.models import Arm, ModelExperiment
from swarm_bench.core.session.prices import find_price
from swarm_bench.core.validation import describe_problem
from swarm_bench.models.offline.copy import CopySource
from swarm_bench.models.offline.empty import Empty
from swarm_bench.models.offline.generations import Generations
from swarm_bench.models.offline.reference import Reference
from swarm_bench.models.servers.server import is_loopback

_NO_MODELS = (Reference, CopySource, Empty, Generations)


def choose_judge(
    benchmark: RowBenchmark,
    configured: ModelBenchmark,
    options: RunSettings,
    previous: ModelExperiment | None,
) -> JudgeSource | None:
    """Return the judge; `None` where none is named. Raises `UsageError`."""
    word = options.judge or (previous.judge if previous else None)
    if previous and word != previous.judge:
        judged_by = f"by {remove_logins(previous.judge)}" if previous.judge else "by nobody"
        raise UsageError(
            f"--judge {remove_logins(str(word))}: answers of the session are judged {judged_by}; "
            "omit it, or start a new session"
        )
    if word is None:
        if not previous:
            _check_unjudged(benchmark, configured, options)
        return None
    if not configured.judged:
        raise UsageError(f"--judge: the benchmark {benchmark.name} asks no judge; omit it")
    source = create_source(word)
    if isinstance(source, AgentSource):
        raise UsageError(
            f"--judge {word}: an agent program judges no answers, as what it may cost is not known "
            "before; give a model"
        )
    if isinstance(source, _NO_MODELS) and not previous:
        raise UsageError(f"--judge {word}: it is no model, and judges nothing; give a model")
    if "chat" not in source.ways:
        raise UsageError(
            f"--judge {remove_logins(word)}: a judge is asked by chat, which this model cannot "
            f"({source.about}); give another one"
        )
    return JudgeSource(word=word, source=source, model_context=Around())


def _check_unjudged(
    benchmark: RowBenchmark, configured: ModelBenchmark, options: RunSettings
) -> None:
    """Raise `UsageError` where a new session needs a judge."""
    if any(metric.judged and metric.key == options.primary for metric in benchmark.metrics()):
        raise UsageError(
            f"--primary {options.primary}: a judge gives this figure; give --judge M, or another "
            "figure"
        )
    reason = configured.needs_judge()
    if reason is not None and not options.generate_only:
        raise UsageError(f"{benchmark.name} needs a judge, as {reason}; give --judge M")


def complete_judge(setup: Setup, context: Around, names: Mapping[str, str]) -> JudgeSource | None:
    """Add where the judge is opened, and the name by which it is asked. It learns nothing of the
    data."""
    judge = setup.judge
    if judge is None:
        return None
    name = names.get(judge.word, "")
    judge_context = replace(context, lessons=(), groups=())
    price = None if judge.source.free else find_price(name, setup.prices)
    return replace(judge, model_context=judge_context, name=name, price=price)


_Value = tuple[str, str, Any]
"""The name of a property, and a value: how it is written, and what it is."""
_KIND = "models"
_SCHEMES = ("http://", "https://")
_ADDRESS = "http"
"""Beginning of the word for a server of one's own, and name of what asks it."""


def list_models() -> list[Listing]:
    """List the kinds of models that can be asked."""
    plugins = entry_points.list_plugins(_KIND)
    return [
        Listing(
            name=plugin.name,
            about=entry_points.load(_KIND, plugin.name).about,
            source=plugin.distribution,
        )
        for plugin in plugins
    ]


def create_source(word: str) -> ModelSource:
    """Return what a word stands for. Raises `UsageError`."""
    if word.startswith(_SCHEMES):
        return _load_source(_ADDRESS, word)
    name, colon, argument = word.partition(":")
    if entry_points.is_registered(_KIND, name):
        return _load_source(name, argument)
    if colon:
        return _load_source(word, "")
    raise UnknownName("model", word, [plugin.name for plugin in entry_points.list_plugins(_KIND)])


def is_class(word: str) -> bool:
    """Tell whether a word names a class of the user's own."""
    return not entry_points.is_registered(_KIND, _find_kind(word))


def is_harmless(word: str, variables: Mapping[str, str]) -> bool:
    """Tell whether a word names a kind of models that is installed, at no server that gets a key or
    is elsewhere: such a one runs no code of a file's, and sends nothing away. An agent program may
    do anything."""
    if is_class(word):
        return False
    source = create_source(word)
    if isinstance(source, AgentSource):
        return False
    has_key = any(variables.get(name) for name in source.keys)
    return source.address is None or (is_loopback(source.address) and not has_key)


def build_arms(
    models: Iterable[str], varied: Sequence[str], kind: type[BaseModel]
) -> tuple[Arm, ...]:
    """Make an arm of each model and each combination of the values; how answers are drawn makes
    none of a model that draws nothing. Raises `UsageError`."""
    models = tuple(models)
    if len(set(models)) < len(models):
        twice = next(word for word in models if models.count(word) > 1)
        raise UsageError(f"--models names {remove_logins(twice)} twice; name it once")
    options = [_parse_values(assignment, kind) for assignment in varied]
    sampled = any(create_source(word).sampled for word in models)
    for assignment in () if sampled else varied:
        if assignment.partition("=")[0] in SAMPLING:
            raise UsageError(
                f"--vary {assignment}: no model that is named draws its answers, so this decides "
                "nothing; omit it, or name another one with --models"
            )
    return tuple(
        Arm(
            name=" ".join(
                [remove_logins(word), *(f"{name}={text}" for name, text, _ in combination)]
            ),
            model=word,
            properties={name: value for name, _, value in combination},
        )
        for word in models
        for combination in product(*_select_relevant(word, options))
    )


def _select_relevant(word: str, options: Iterable[list[_Value]]) -> Iterator[list[_Value]]:
    """Yield the values of the properties that have a say in what a model answers."""
    sampled = create_source(word).sampled
    return (values for values in options if sampled or values[0][0] not in SAMPLING)


def _find_kind(word: str) -> str:
    return _ADDRESS if word.startswith(_SCHEMES) else word.partition(":")[0]


def _load_source(name: str, argument: str) -> ModelSource:
    source: ModelSource = entry_points.load(_KIND, name)(argument)
    return source


def _parse_values(assignment: str, kind: type[BaseModel]) -> list[_Value]:
    name, equals, values = assignment.partition("=")
    if not equals or not values:
        raise UsageError(f"--vary {assignment}: write it as NAME=VALUE,VALUE")
    if name not in kind.model_fields:
        raise UnknownName("property", name, kind.model_fields)
    parsed_values = list(_check_values(name, values.split(","), kind))
    texts = [text for _, text, _ in parsed_values]
    if twice := [text for text in texts if texts.count(text) > 1]:
        raise UsageError(f"--vary {assignment}: it has {twice[0]} twice; name it once")
    return parsed_values


def _check_values(name: str, texts: Iterable[str], kind: type[BaseModel]) -> Iterator[_Value]:
    """Yield the name of the property, that of the value, which is a file's where it is in one, and
    the value."""
    for text in texts:
        try:
            model = parse_properties(kind, {name: read_value(text, "--vary")})
        except ValidationError as error:
            clause = describe_problem(error.errors()[0])
            raise UsageError(f"--vary {name}={text}: it {clause}") from error
        yield name, text.removeprefix("@"), model.model_dump(mode="json")[name]

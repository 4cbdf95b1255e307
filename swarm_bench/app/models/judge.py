"""From what was typed after `--judge` to the judge of a session."""

from collections.abc import Mapping
from dataclasses import replace

from swarm_bench.app.models.arms import create_source
from swarm_bench.app.setup.case_properties import CaseProperties
from swarm_bench.benchmarks.agents.source import AgentSource
from swarm_bench.benchmarks.cases.benchmark import RowBenchmark, Setup
from swarm_bench.benchmarks.cases.judging import JudgeSource
from swarm_bench.benchmarks.cases.role import ModelBenchmark
from swarm_bench.config.addresses import remove_logins
from swarm_bench.config.run_options import RunSettings
from swarm_bench.core.errors import UsageError
from swarm_bench.core.roles.language_model import Around
from swarm_bench.core.session.models import ModelExperiment
from swarm_bench.core.session.prices import find_price
from swarm_bench.models.offline.copy import CopySource
from swarm_bench.models.offline.empty import Empty
from swarm_bench.models.offline.generations import Generations
from swarm_bench.models.offline.reference import Reference

_NO_MODELS = (Reference, CopySource, Empty, Generations)


def choose_judge(
    benchmark: RowBenchmark,
    properties: CaseProperties,
    options: RunSettings,
    previous: ModelExperiment | None,
) -> JudgeSource | None:
    """Return the judge; `None` where none is named. Raises `UsageError`."""
    configured = properties.model
    assert isinstance(configured, ModelBenchmark)
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
    """Add where the judge is opened, and how whoever asks it names it. It learns nothing of the
    data."""
    judge = setup.judge
    if judge is None:
        return None
    name = names.get(judge.word, "")
    judge_context = replace(context, lessons=(), groups=())
    price = None if judge.source.free else find_price(name, setup.prices)
    return replace(judge, model_context=judge_context, name=name, price=price)

"""Conversion of the options of a call into models that can be asked, and into the experiment of a
session."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from swarm_bench.app.models.arms import build_arms, choose_judge, complete_judge, create_source
from swarm_bench.app.setup.agents import build_trial_launch, find_authentication
from swarm_bench.app.setup.case_experiment import (
    CaseRequest,
    check_arms,
    check_cases,
    check_files,
    check_properties,
)
from swarm_bench.app.setup.case_properties import CaseProperties
from swarm_bench.benchmarks.agents.source import AgentSource
from swarm_bench.benchmarks.cases.benchmark import RowBenchmark, Setup
from swarm_bench.benchmarks.cases.judging import CountedJudge
from swarm_bench.benchmarks.cases.role import ModelBenchmark, Tools
from swarm_bench.benchmarks.cases.running import choose_way
from swarm_bench.config.dotenv_file import read_dotenv
from swarm_bench.config.layers import Settings
from swarm_bench.config.run_options import (
    AGENT_TIMEOUT,
    CONCURRENCY,
    MAX_TURNS,
    MODELS,
    RUN_SCOPES,
    TIMEOUT,
    RunSettings,
)
from swarm_bench.core import entry_points
from swarm_bench.core.errors import UsageError
from swarm_bench.core.ports import Described
from swarm_bench.core.roles.execution import Environment
from swarm_bench.core.roles.language_model import Around, ModelSource, Way
from swarm_bench.core.session.cases import Case, CaseExperiment
from swarm_bench.core.session.designs import ENVIRONMENT
from swarm_bench.core.session.experiment import REHEARSAL, Mode
from swarm_bench.core.session.models import Arm, ModelExperiment, ModelRecord, RequestSettings
from swarm_bench.datasets.rows import Rows, paths_of, read_rows, resolve_beside
from swarm_bench.engine.benchmark import wrap_benchmark_errors
from swarm_bench.engine.plan import draw_order
from swarm_bench.models.own_prices import read_prices

_LIMIT = re.compile(r"(?:(\d{1,9}):)?(\d{1,9})")


def refuse_model_options(request: CaseRequest) -> None:
    """Refuse options on models for a benchmark that asks none. Raises `UsageError`."""
    if names := [
        name for name, scope in RUN_SCOPES.items() if scope.of_models and request.is_typed(name)
    ]:
        raise UsageError(
            f"--{names[0].replace('_', '-')}: the benchmark {request.benchmark} has arms of its "
            "own, and asks no models; omit it"
        )
    if request.settings.report == "json":
        raise UsageError(
            f"--report json: the benchmark {request.benchmark} asks no models; omit it"
        )


def add_setup(
    benchmark: RowBenchmark,
    properties: CaseProperties[ModelBenchmark],
    request: CaseRequest,
    previous: ModelExperiment | None,
) -> tuple[RowBenchmark, Rows]:
    """Add what a session has beside its properties; `previous` is the one that is continued. Raises
    `UsageError`."""
    options, kind = request.settings, benchmark.kind
    rows = _read_rows(benchmark, request, properties.model, previous)
    models = options.models or (() if previous and not options.vary else _list_models(previous))
    check_files(request)
    new_arms = build_arms(models, options.vary, kind)
    old_arms = previous.models if previous else ()
    check_arms(new_arms, old_arms)
    sources = find_sources((*old_arms, *new_arms), request)
    first, limit = _parse_limit(options, previous)
    generate_only = previous.generate_only if previous else options.generate_only
    runs_code = benchmark.runs_code(properties.plain, (*old_arms, *new_arms), rows.rows)
    environment = choose_environment(options, previous) if runs_code and not generate_only else None
    setup = Setup(
        arms=old_arms,
        models=new_arms,
        sources=sources,
        rows=rows.rows,
        first=first,
        limit=limit,
        model_context=_build_context(options, previous, rows, sources),
        tools=Tools(environment=environment),
        judge=choose_judge(benchmark, properties.model, options, previous),
        generate_only=generate_only,
        fail_fast=options.fail_fast,
        concurrency=options.concurrency or (previous.requests_at_once if previous else CONCURRENCY),
        seed=_choose_seed(options, previous),
        prices={**read_prices(), **((previous.prices if previous else None) or {})},
    )
    return RowBenchmark(kind, setup), rows


def _read_rows(
    benchmark: RowBenchmark,
    request: CaseRequest,
    configured: ModelBenchmark,
    previous: ModelExperiment | None,
) -> Rows:
    with wrap_benchmark_errors(benchmark.name, "cannot be planned"):
        default = (
            previous.data.name
            if previous
            else resolve_beside(configured.default_dataset(), type(configured))
        )
        schema = configured.row_schema()
    rows = read_rows(request.settings.dataset or default, schema)
    if previous and previous.data.sha256 != rows.data.sha256:
        raise UsageError(
            f"The session was begun with other rows of {previous.data.name}; restore the file, or "
            "start a new session"
        )
    return rows


def _build_context(
    options: RunSettings,
    previous: ModelExperiment | None,
    rows: Rows,
    sources: Mapping[str, ModelSource],
) -> Around:
    timeout = AGENT_TIMEOUT if asks_agents(sources) else TIMEOUT
    return Around(
        variables={**read_dotenv().raw, **os.environ},
        timeout=options.timeout or (previous.request_timeout if previous else timeout),
        seed=_choose_seed(options, previous),
        max_turns=options.max_turns or (previous and previous.max_turns) or MAX_TURNS,
        answers=tuple(paths_of(rows.data.name)),
    )


def _choose_seed(options: RunSettings, previous: ModelExperiment | None) -> int:
    return options.seed or (previous.seed if previous else 0)


def complete_experiment(
    benchmark: RowBenchmark,
    experiment: CaseExperiment,
    properties: CaseProperties[ModelBenchmark],
    rows: Rows,
    *,
    previous: ModelExperiment | None,
    will_run: bool,
) -> tuple[RowBenchmark, ModelExperiment]:
    """Make the experiment of the session, and add to the benchmark what models may learn from.
    `will_run`: something will run, so servers are looked for too. Raises `UsageError`."""
    setup, configured = benchmark.setup, properties.model
    assert setup is not None
    new_arms, setup = setup.models, replace(setup, arms=benchmark.build_arms(configured), models=())
    benchmark = RowBenchmark(benchmark.kind, setup)
    check_properties(benchmark, properties.plain, new_arms, previous.arms if previous else ())
    all_cases = benchmark.load_cases(configured)
    context = replace(
        setup.model_context,
        every=tuple(case.id for case in all_cases),
        groups=tuple(case.group for case in all_cases),
        lessons=tuple(configured.lesson(case) for case in all_cases),
        one_word=configured.one_word,
    )
    grown = _extend_experiment(benchmark, experiment, configured)
    context = replace(context, cases=tuple(case.id for case in grown.cases), runs=grown.runs)
    ways = _find_ways(benchmark, setup, properties.plain)
    if will_run:
        check_agents(setup.sources, context)
    model_facts = _collect_model_facts(
        benchmark, rows, context, properties, ways if will_run else {}
    )
    names = {word: program.name for word, program in model_facts.programs.items()}
    judge = complete_judge(setup, context, names)
    setup = replace(setup, model_context=context, names=names, judge=judge)
    benchmark = RowBenchmark(benchmark.kind, setup)
    model_experiment = _build_model_experiment(grown, model_facts, previous)
    check_cases(benchmark, model_experiment.models, properties.plain)
    return benchmark, model_experiment


def _build_model_experiment(
    grown: CaseExperiment, model_facts: RequestSettings, previous: ModelExperiment | None
) -> ModelExperiment:
    if previous is None:
        experiment = ModelExperiment(**vars(grown), **vars(model_facts))
    else:
        model_facts = model_facts.keep_notes(previous.programs)
        experiment = previous.model_copy(update={**vars(grown), **vars(model_facts)})
    try:
        experiment.check()
    except ValueError as error:
        raise UsageError(f"The session {error}; ask for less, or for others") from error
    return experiment


def _collect_model_facts(
    benchmark: RowBenchmark,
    rows: Rows,
    context: Around,
    properties: CaseProperties[ModelBenchmark],
    ways: Mapping[str, frozenset[Way]],
) -> RequestSettings:
    """`ways`: those of each model; empty where nothing will run."""
    setup, configured = benchmark.setup, properties.model
    assert setup is not None
    will_run, environment = bool(ways), setup.tools.environment
    judge = {setup.judge.word: setup.judge.source} if setup.judge else {}
    models = {**judge, **setup.sources}
    sources = [(word, source) for word, source in models.items() if will_run or _is_local(source)]
    contexts = {
        word: replace(
            context,
            ways=ways.get(word, frozenset()),
            prompts=partial(benchmark.find_prompts, properties.plain, word),
        )
        for word, _ in sources
    }
    return RequestSettings(
        models=setup.arms,
        data=rows.data,
        data_notes=tuple(configured.notes(rows.rows)),
        data_faults=tuple(configured.faults([case.row for case in benchmark.select(configured)])),
        first=setup.first,
        programs={word: source.program(contexts[word]) for word, source in sources},
        environment=environment.program() if environment and will_run else None,
        confinement=environment.confinement if environment else None,
        confined=environment.confines if environment else None,
        judge=setup.judge.word if setup.judge else None,
        generate_only=setup.generate_only,
        request_timeout=context.timeout,
        max_turns=context.max_turns if asks_agents(setup.sources) else None,
        requests_at_once=setup.concurrency,
        prices=dict(setup.prices),
    )


def _is_local(source: ModelSource) -> bool:
    """Tell whether a plan can look up the program that answers: it is no server, and costs no
    money."""
    return source.free and source.address is None


def _find_ways(
    benchmark: RowBenchmark, setup: Setup, properties: Mapping[str, Any]
) -> dict[str, frozenset[Way]]:
    """Return in which ways each model is asked. Raises `UsageError` where it cannot be."""
    ways = dict[str, frozenset[Way]]()
    if setup.judge:
        ways[setup.judge.word] = frozenset({"chat"})
    for arm in setup.arms:
        way = choose_way(benchmark.configure(properties, arm), setup.sources[arm.model])
        ways[arm.model] = ways.get(arm.model, frozenset()) | {way}
    return ways


def _list_models(previous: ModelExperiment | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(arm.model for arm in previous.models)) if previous else MODELS


def _parse_limit(options: RunSettings, previous: ModelExperiment | None) -> tuple[int, int | None]:
    if options.limit is None:
        return (previous.first, len(previous.cases)) if previous else (0, None)
    match = _LIMIT.fullmatch(options.limit)
    if match is None or int(match[2]) == 0:
        raise UsageError(f"--limit {options.limit} must be N or START:N, with N at least 1")
    first, limit = int(match[1] or 0), int(match[2])
    if previous and (first != previous.first or limit < len(previous.cases)):
        raise UsageError(
            f"--limit {options.limit}: the session has the cases "
            f"{previous.first}:{len(previous.cases)}; give more of them"
        )
    return first, limit


def _extend_experiment(
    benchmark: RowBenchmark, experiment: CaseExperiment, properties: ModelBenchmark
) -> CaseExperiment:
    """Add the arms and cases that a session has not had yet."""
    arms = tuple(benchmark.arms(properties))
    cases: tuple[Case, ...] = tuple(benchmark.cases(properties))
    order = draw_order(arms, experiment.runs, experiment.seed, experiment.order)
    return experiment.model_copy(update={"arms": arms, "cases": cases, "order": order})


async def add_next_arms(
    benchmark: RowBenchmark,
    properties: CaseProperties[ModelBenchmark],
    records: Sequence[ModelRecord],
    judge: CountedJudge | None,
) -> RowBenchmark:
    """Add the arms that the benchmark wants next to it."""
    grown = await benchmark.add_next_arms(properties.model, records, judge)
    assert grown.setup is not None
    _find_ways(grown, grown.setup, properties.plain)
    check_cases(grown, grown.setup.arms, properties.plain)
    return grown


def find_sources(arms: Sequence[Arm], request: CaseRequest) -> dict[str, ModelSource]:
    """Return the sources that are asked, by the word of a model. Raises `UsageError`, also for a
    limit of turns where no agent program is asked."""
    sources = {arm.model: create_source(arm.model) for arm in arms}
    if request.is_typed("max_turns") and not asks_agents(sources):
        raise UsageError("--max-turns: no agent program is asked (agent:NAME); omit it")
    return sources


def asks_agents(sources: Mapping[str, ModelSource]) -> bool:
    """Tell whether one of them is an agent program."""
    return any(isinstance(source, AgentSource) for source in sources.values())


def check_agents(sources: Mapping[str, ModelSource], context: Around) -> None:
    """Refuse what an adapter refuses, and a program without a key that it cannot do without. Raises
    `UsageError`."""
    for word, source in sources.items():
        if isinstance(source, AgentSource):
            _check(word, source, context)


def _check(word: str, source: AgentSource, context: Around) -> None:
    agent, model = source.agent, source.model
    settings = Settings(agent=source.spec, model=model, max_turns=context.max_turns)
    build_trial_launch(agent, Mode(name="none", source=""), settings, context.variables)
    if model == REHEARSAL or not isinstance(agent, Described):
        return
    abilities = agent.abilities
    if not abilities.keys or abilities.keyless:
        return
    if find_authentication(abilities, settings, context.variables) is None:
        raise UsageError(
            f"{word} has no key for its provider; set {' or '.join(abilities.keys[:2])}, or "
            f"rehearse with agent:{source.spec}:{REHEARSAL}"
        )


_EARLIER = {
    "local": "bubblewrap: no network, no files but an own folder and the Python installation "
    "(read-only)"
}
"""Older descriptions of environments, by name."""


def choose_environment(
    options: RunSettings, previous: ModelExperiment | None
) -> Environment | None:
    """Return what the options name; `None` for a plan without permission to run code, which runs
    none. Raises `UsageError` without permission otherwise, and for another one than that of the
    session that is continued."""
    if not options.allow_code_execution and options.plan:
        return None
    if not options.allow_code_execution:
        raise UsageError(
            "This benchmark runs code that models wrote; allow it with --allow-code-execution, or "
            "give --generate-only and score the answers later"
        )
    name = options.environment or ENVIRONMENT
    environment: Environment = entry_points.make("environments", name)
    if previous and previous.confinement not in (environment.confinement, _EARLIER.get(name)):
        raise UsageError(
            f"--environment {name}: the session ran its code otherwise ({previous.confinement}); "
            "give the same environment"
        )
    return environment

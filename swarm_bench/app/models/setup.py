"""From the options of a call to models that can be asked, and to the experiment of a session."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from swarm_bench.app.models.agents import asks_agents, check_agents, sources_of
from swarm_bench.app.models.arms import arms_of
from swarm_bench.app.models.checking import (
    check_arms,
    check_cases,
    check_files,
    check_properties,
)
from swarm_bench.app.models.code_environment import environment_of
from swarm_bench.app.models.judge import judge_of, named_judge
from swarm_bench.app.setup.case_experiment import CaseRequest
from swarm_bench.app.setup.case_properties import CaseProperties, resolve_properties
from swarm_bench.benchmarks.cases.benchmark import RowBenchmark, Setup
from swarm_bench.benchmarks.cases.judging import CountedJudge
from swarm_bench.benchmarks.cases.role import ModelBenchmark, Tools
from swarm_bench.benchmarks.cases.running import way_of
from swarm_bench.config.dotenv_file import read_dotenv
from swarm_bench.config.run_options import (
    AGENT_TIMEOUT,
    CONCURRENCY,
    MAX_TURNS,
    MODELS,
    RUN_SCOPES,
    TIMEOUT,
    RunSettings,
)
from swarm_bench.core.errors import UsageError
from swarm_bench.core.roles.language_model import Around, ModelSource, Way
from swarm_bench.core.session.cases import Case, CaseExperiment, CaseRecord
from swarm_bench.core.session.models import Asking, ModelExperiment, ModelRecord
from swarm_bench.datasets.rows import Rows, paths_of, read_rows, resolve_beside
from swarm_bench.engine.benchmark import blaming
from swarm_bench.engine.continuing import check_benchmark
from swarm_bench.engine.plan import draw_order
from swarm_bench.models.own_prices import read_prices

_LIMIT = re.compile(r"(?:(\d{1,9}):)?(\d{1,9})")


def check_none(request: CaseRequest) -> None:
    """Refuse options on models for a benchmark that asks none. Raises `UsageError`."""
    if typed := [
        name for name, it in RUN_SCOPES.items() if it.of_models and request.is_typed(name)
    ]:
        raise UsageError(
            f"--{typed[0].replace('_', '-')}: the benchmark {request.benchmark} has arms of its "
            "own, and asks no models; omit it"
        )
    if request.settings.report == "json":
        raise UsageError(
            f"--report json: the benchmark {request.benchmark} asks no models; omit it"
        )


def with_setup(
    benchmark: RowBenchmark, request: CaseRequest, old: CaseExperiment | None
) -> tuple[RowBenchmark, Rows]:
    """Add what a session has beside its properties; `old` is the one that is continued. Raises
    `UsageError`."""
    held = old if isinstance(old, ModelExperiment) else None
    options, kind = request.settings, benchmark.kind
    if held:
        check_benchmark(held, benchmark.name, benchmark.version)
    properties = resolve_properties(
        benchmark, request.properties, held.properties if held else None, request.config
    )
    rows = _rows(benchmark, request, properties, held)
    typed_models = options.models or (() if held and not options.vary else _named(held))
    check_files(request)
    typed = arms_of(typed_models, options.vary, kind)
    before = held.models if held else ()
    check_arms(typed, before)
    sources = sources_of((*before, *typed), request)
    first, limit = _limits(options, held)
    generate_only = held.generate_only if held else options.generate_only
    runs_code = benchmark.runs_code(properties.plain, (*before, *typed), rows.rows)
    environment = environment_of(options, held) if runs_code and not generate_only else None
    setup = Setup(
        arms=before,
        models=typed,
        sources=sources,
        rows=rows.rows,
        first=first,
        limit=limit,
        around=_around(options, held, rows, sources),
        tools=Tools(environment=environment),
        judge=judge_of(benchmark, properties, options, held),
        generate_only=generate_only,
        fail_fast=options.fail_fast,
        concurrency=options.concurrency or (held.requests_at_once if held else CONCURRENCY),
        seed=_seed(options, held),
        prices={**read_prices(), **((held.prices if held else None) or {})},
    )
    return RowBenchmark(kind, setup), rows


def _rows(
    benchmark: RowBenchmark,
    request: CaseRequest,
    properties: CaseProperties,
    held: ModelExperiment | None,
) -> Rows:
    own = properties.model
    assert isinstance(own, ModelBenchmark)
    with blaming(benchmark.name, "cannot be planned"):
        default = held.data.name if held else resolve_beside(own.default_dataset(), type(own))
        schema = own.row_schema()
    rows = read_rows(request.settings.dataset or default, schema)
    if held and held.data.sha256 != rows.data.sha256:
        raise UsageError(
            f"The session was begun with other rows of {held.data.name}; restore the file, or "
            "start a new session"
        )
    return rows


def _around(
    options: RunSettings,
    held: ModelExperiment | None,
    rows: Rows,
    sources: Mapping[str, ModelSource],
) -> Around:
    timeout = AGENT_TIMEOUT if asks_agents(sources) else TIMEOUT
    return Around(
        variables={**read_dotenv().written, **os.environ},
        timeout=options.timeout or (held.request_timeout if held else timeout),
        seed=_seed(options, held),
        max_turns=options.max_turns or (held and held.max_turns) or MAX_TURNS,
        answers=tuple(paths_of(rows.data.name)),
    )


def _seed(options: RunSettings, held: ModelExperiment | None) -> int:
    return options.seed or (held.seed if held else 0)


def completed(
    benchmark: RowBenchmark,
    experiment: CaseExperiment,
    properties: CaseProperties,
    rows: Rows,
    *,
    asks: bool,
) -> tuple[RowBenchmark, ModelExperiment]:
    """Make the experiment of the session, and add to the benchmark what models may learn from.
    `asks`: something will run, so servers are looked for too. Raises `UsageError`."""
    setup, own = benchmark.setup, properties.model
    assert setup is not None
    assert isinstance(own, ModelBenchmark)
    typed, setup = setup.models, replace(setup, arms=benchmark.all_arms(own), models=())
    benchmark = RowBenchmark(benchmark.kind, setup)
    check_properties(benchmark, properties.plain, typed, experiment)
    every = benchmark.every(own)
    around = replace(
        setup.around,
        every=tuple(case.id for case in every),
        groups=tuple(case.group for case in every),
        lessons=tuple(own.lesson(case) for case in every),
        one_word=own.one_word,
    )
    grown = _grown(benchmark, experiment, own)
    around = replace(around, cases=tuple(case.id for case in grown.cases), runs=grown.runs)
    ways = _ways(benchmark, setup, properties.plain)
    if asks:
        check_agents(setup.sources, around)
    asking = _asking(benchmark, rows, around, properties, ways if asks else {})
    names = {word: program.name for word, program in asking.programs.items()}
    judge = named_judge(setup, around, names)
    setup = replace(setup, around=around, names=names, judge=judge)
    benchmark = RowBenchmark(benchmark.kind, setup)
    whole = _whole(grown, asking)
    check_cases(benchmark, whole.models, properties.plain)
    return benchmark, whole


def _whole(grown: CaseExperiment, asking: Asking) -> ModelExperiment:
    if isinstance(grown, ModelExperiment):
        whole = grown.asking(asking)
    else:
        whole = ModelExperiment(**vars(grown), **vars(asking))
    try:
        whole.check()
    except ValueError as error:
        raise UsageError(f"The session {error}; ask for less, or for others") from error
    return whole


def _asking(
    benchmark: RowBenchmark,
    rows: Rows,
    around: Around,
    properties: CaseProperties,
    ways: Mapping[str, frozenset[Way]],
) -> Asking:
    """`ways`: those of each model; empty where nothing will run."""
    setup, own = benchmark.setup, properties.model
    assert setup is not None
    assert isinstance(own, ModelBenchmark)
    asks, environment = bool(ways), setup.tools.environment
    judge = {setup.judge.word: setup.judge.source} if setup.judge else {}
    every = {**judge, **setup.sources}
    sources = [(it, source) for it, source in every.items() if asks or _is_here(source)]
    places = {
        word: replace(
            around,
            ways=ways.get(word, frozenset()),
            prompts=partial(benchmark.prompts, properties.plain, word),
        )
        for word, _ in sources
    }
    return Asking(
        models=setup.arms,
        data=rows.data,
        data_notes=tuple(own.notes(rows.rows)),
        data_faults=tuple(own.faults([case.row for case in benchmark.chosen(own)])),
        first=setup.first,
        programs={word: source.program(places[word]) for word, source in sources},
        environment=environment.program() if environment and asks else None,
        confinement=environment.confinement if environment else None,
        confined=environment.confines if environment else None,
        judge=setup.judge.word if setup.judge else None,
        generate_only=setup.generate_only,
        request_timeout=around.timeout,
        max_turns=around.max_turns if asks_agents(setup.sources) else None,
        requests_at_once=setup.concurrency,
        prices=dict(setup.prices),
    )


def _is_here(source: ModelSource) -> bool:
    """Tell whether a plan can look for who answers: no server, and nobody who wants money."""
    return source.free and source.address is None


def _ways(
    benchmark: RowBenchmark, setup: Setup, properties: Mapping[str, Any]
) -> dict[str, frozenset[Way]]:
    """Return in which ways each model is asked. Raises `UsageError` where it cannot be."""
    ways = dict[str, frozenset[Way]]()
    if setup.judge:
        ways[setup.judge.word] = frozenset({"chat"})
    for arm in setup.arms:
        way = way_of(benchmark.with_properties(properties, arm), setup.sources[arm.model])
        ways[arm.model] = ways.get(arm.model, frozenset()) | {way}
    return ways


def _named(held: ModelExperiment | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(arm.model for arm in held.models)) if held else MODELS


def _limits(options: RunSettings, held: ModelExperiment | None) -> tuple[int, int | None]:
    if options.limit is None:
        return (held.first, len(held.cases)) if held else (0, None)
    match = _LIMIT.fullmatch(options.limit)
    if match is None or int(match[2]) == 0:
        raise UsageError(f"--limit {options.limit} must be N or START:N, with N at least 1")
    first, limit = int(match[1] or 0), int(match[2])
    if held and (first != held.first or limit < len(held.cases)):
        raise UsageError(
            f"--limit {options.limit}: the session has the cases {held.first}:{len(held.cases)}; "
            "give more of them"
        )
    return first, limit


def _grown(
    benchmark: RowBenchmark, experiment: CaseExperiment, properties: ModelBenchmark
) -> CaseExperiment:
    """Add the arms and cases that a session has not had yet."""
    arms = tuple(benchmark.arms(properties))
    cases: tuple[Case, ...] = tuple(benchmark.cases(properties))
    order = draw_order(arms, experiment.runs, experiment.seed, experiment.order)
    return experiment.model_copy(update={"arms": arms, "cases": cases, "order": order})


async def with_next_arms(
    benchmark: RowBenchmark,
    properties: CaseProperties,
    records: Sequence[CaseRecord],
    judge: CountedJudge | None,
) -> RowBenchmark:
    """Add the arms that the benchmark wants next to it."""
    own = properties.model
    assert isinstance(own, ModelBenchmark)
    asked = [record for record in records if isinstance(record, ModelRecord)]
    grown = await benchmark.with_next_arms(own, asked, judge)
    assert grown.setup is not None
    _ways(grown, grown.setup, properties.plain)
    check_cases(grown, grown.setup.arms, properties.plain)
    return grown

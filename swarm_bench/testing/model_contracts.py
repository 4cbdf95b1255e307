"""What every benchmark of rows, data set, language model and environment must keep. For tests of
plugins as of our own.

Each check raises `AssertionError` with a sentence that names what was broken.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import date
from hashlib import sha256
from typing import Any

from swarm_bench.core.metric import fault
from swarm_bench.core.roles.dataset import Dataset
from swarm_bench.core.roles.execution import PYTHON, Code, Environment
from swarm_bench.core.roles.language_model import (
    Around,
    Ask,
    Gap,
    ModelSource,
    Sampling,
    Turn,
    Way,
)
from swarm_bench.core.session.models import Arm, ModelRecord
from swarm_bench.testing.answer_contracts import Answers, check_keys, check_reading
from swarm_bench.testing.contracts import expect
from swarm_bench.testing.hostile_programs import check_hostile

_SECONDS = 3.0
"""That code may take which never ends."""
_PROMPTS: Mapping[Way, Any] = {
    "chat": (Turn(role="user", text="How much is 1 + 1?"),),
    "text": "1 + 1 =",
    "gap": Gap(prefix="1 + ", suffix=" = 2"),
}


async def check_model_benchmark(
    kind: Any, rows: Sequence[Any], tools: Any, prompts: Mapping[int, str] | None = None
) -> None:
    """Check that a benchmark (a class that is a `ModelBenchmark`) asks alike each time, reads
    whatever a model writes, and scores it where that runs no code; that the answer of its data set
    is better than an empty one, and than one that is the same for all cases; and that metrics read
    what is scored. `rows` are some of its schema, and `tools` what scoring may use (`Tools`); three
    cases are scored. `prompts` has the hash of what is asked of these rows by the version of the
    benchmark (`hash_of_prompts`), so that nobody changes the one without the other."""
    expect(bool(kind.name), "a benchmark has a name")
    benchmark = kind()
    cases = tuple(benchmark.cases(rows))
    expect(bool(cases), "it has cases")
    ids = [case.id for case in cases]
    expect(len(set(ids)) == len(ids) and all(ids), "ids of cases are distinct, and not empty")
    _check_metrics(kind)
    _check_arms(benchmark)
    expect(isinstance(benchmark.default_dataset(), str), "the data set that it uses has a word")
    runs_code = benchmark.runs_code(rows)
    expect(isinstance(runs_code, bool), "it says whether scoring runs code")
    records = list[ModelRecord]()
    for style in _ordered_ways(benchmark):
        for case in cases[:3]:
            check_reading(benchmark, case, style)
            checked = Answers(own=benchmark, case=case, way=style, tools=tools)
            records += await checked.check(runs_code=runs_code, others=cases)
    check_keys(benchmark, records)
    if prompts is not None:
        digest, stored_hash = hash_of_prompts(kind, rows), prompts.get(kind.version)
        expect(
            stored_hash == digest,
            f"what version {kind.version} asks has the hash {digest!r}, not {stored_hash!r}: where "
            "prompts changed, raise the version, and add its hash to `prompts`, or put it there in "
            "the place of the old one while nobody has run this version",
        )


def _ordered_ways(benchmark: Any) -> tuple[Way, ...]:
    styles: tuple[Way, ...] = benchmark.asks_by()
    ordered = isinstance(styles, tuple) and 0 < len(set(styles)) == len(styles)
    expect(ordered, "the ways in which it asks are in order, each once")
    return styles


def hash_of_prompts(kind: Any, rows: Sequence[Any]) -> str:
    """Hash what a benchmark asks of rows, in all of its ways."""
    benchmark, digest = kind(), sha256()
    for case in benchmark.cases(rows):
        for style in benchmark.asks_by():
            digest.update(
                json.dumps([case.id, style, benchmark.ask(case, style).texts]).encode() + b"\n"
            )
    return digest.hexdigest()[:16]


def check_dataset(dataset: Dataset) -> None:
    """Check that a data set says what it is, and has the same rows in every reading."""
    expect(dataset.about.isprintable() and bool(dataset.about), "what it is about is a sentence")
    for text in (dataset.licence, dataset.source):
        expect(text is None or bool(text), "its licence and its source are named, or missing")
    published = dataset.published
    expect(published is None or isinstance(published, date), "when it was published is a date")
    first, second = dataset.load(), dataset.load()
    rows = [row.content for row in first.rows]
    expect(bool(rows), "it has rows")
    expect(len({first.sha256, second.sha256}) == 1 and len(first.sha256) == 64, "its hash is one")
    expect(rows == [row.content for row in second.rows], "the same rows come in every reading")
    expect(json.loads(json.dumps(rows)) == rows, "rows are JSON")


async def check_language_model(source: ModelSource, ask: Ask | None = None) -> None:
    """Check that a model says what it is, and answers in each of its ways; `ask` is what it is
    asked in place of a sum."""
    expect(source.about.isprintable() and bool(source.about), "what it is about is a sentence")
    expect(bool(source.ways), "it can be asked in some way")
    expect(isinstance(source.free, bool), "it says whether asking costs nothing")
    for flag in (source.sampled, source.repeats):
        expect(isinstance(flag, bool), "it says what decides its answers")
    expect(source.address is None or "://" in source.address, "its address is one")
    context = Around(cases=("1",), every=("1",), groups=("g",), lessons=("1 + 1 = 2",))
    expect(bool(source.program(context).name), "whoever answers has a name")
    async with source.opened(context) as model:
        for style in sorted(source.ways):
            request = ask or Ask(
                prompt=_PROMPTS[style], sampling=Sampling(max_tokens=8), reference="2", case="1"
            )
            answer = await model.complete(request)
            expect(isinstance(answer.text, str), "an answer is a text")
            expect(answer.finish in (None, "stop", "length", "refused"), "why it ended is said")
            expect(
                answer.requests is None or answer.requests >= 1, "it says how many requests it took"
            )
            counts = [answer.usage.input, answer.usage.output]
            expect(
                all(token_count is None or token_count >= 0 for token_count in counts),
                "tokens are counted, or missing",
            )


async def check_environment(environment: Environment) -> None:
    """Check that an environment says what it is, runs Python, keeps the limits, and that of ten
    hostile programs none gets more than it may or leaves anything. Takes up to a minute."""
    expect(bool(environment.name), "an environment has a name")
    expect(environment.confinement.isprintable(), "what confines code is a clause on one line")
    expect(isinstance(environment.confines, bool), "it says whether anything confines code")
    expect(bool(environment.program().name), "what runs code has a name")
    echo = "import sys; print(sys.stdin.read()); sys.exit(3)"
    done = await environment.run(_code(echo, stdin="words"))
    expect(
        (done.returncode, done.stdout) == (3, "words\n"), "it hands on input, output and the end"
    )
    stopped = (await environment.run(_code("while True: pass"))).stopped
    expect(stopped == "time", "code that never ends is stopped by the limit of time")
    await check_hostile(environment)


def _code(text: str, stdin: str = "") -> Code:
    return Code(
        argv=(PYTHON, "-I", "-c", text), stdin=stdin, timeout=_SECONDS, output_bytes=100_000
    )


def _check_metrics(kind: Any) -> None:
    metrics = tuple(kind.metrics())
    keys = [metric.key for metric in metrics]
    expect(len(set(keys)) == len(keys) and all(keys), "keys of metrics are distinct")
    for metric in metrics:
        clause = fault(metric)
        expect(clause is None, f"the metric {metric.key} can be shown: it {clause}")
    expect(any(metric.compared and metric.better for metric in metrics), "a metric is compared")


def _check_arms(benchmark: Any) -> None:
    arms = benchmark.arms([Arm(name=name, model=name) for name in ("a", "b")])
    names = [arm.name for arm in arms]
    expect(len(set(names)) == len(names) > 0, "names of arms are distinct")
    against = {arm.against for arm in arms} - {None}
    expect(against <= set(names), "an arm is held against one of them")

"""What a session of models says of its set-up: who was asked, on what, and where code ran."""

from collections.abc import Iterator, Sequence

from swarm_bench.analysis.cases.models import ModelSession
from swarm_bench.analysis.wording import amount, joined
from swarm_bench.config.addresses import without_logins
from swarm_bench.core.report.document import Fact
from swarm_bench.core.session.models import Greeting, Judged, ModelExperiment, ModelRecord


def asked_facts(experiment: ModelExperiment) -> Iterator[list[Fact]]:
    """Yield the lines of the set-up."""
    data, first = experiment.data, experiment.first
    last = first + len(experiment.cases)
    texts = [data.name, f"{data.rows} rows", f"cases {first} to {last - 1}"]
    texts += [f"licence {data.licence}"] if data.licence else []
    yield [Fact(label="Data", value=f"{', '.join(texts)} (sha256 {data.sha256[:12]})")]
    if data.source:
        yield [Fact(label="Source", value=data.source)]
    names = (f"{word}: {it.label}" for word, it in experiment.programs.items() if it.label != word)
    if named := ", ".join(names):
        yield [Fact(label="Models", value=named)]
    if experiment.judge:
        yield [Fact(label="Judge", value=without_logins(experiment.judge))]
    if experiment.confinement:
        program = f"{experiment.environment.label}; " if experiment.environment else ""
        yield [Fact(label="Code", value=f"{program}{experiment.confinement}")]


def unconfined(session: ModelSession) -> str | None:
    """Return what stands above the summary of a session whose code nothing confined, or not when it
    was scored again."""
    experiment = session.experiment
    if experiment.confined is False:
        return f"The code that the models wrote was {experiment.confinement}."
    if again := [it.environment for it in session.rescored if it.confines is False]:
        return f"When it was scored again, the code that the models wrote was {again[-1]}."
    return None


def omitted_parts(records: Sequence[ModelRecord]) -> Iterator[str]:
    """Say in a clause which parts of its requests a provider refuses: an arm may differ in nothing
    else."""
    names = sorted({name for record in records for name in record.omitted})
    if names:
        number = sum(bool(record.omitted) for record in records)
        yield (
            f"its provider refuses {', '.join(names)}, without which "
            f"{amount(number, 'request')} of {len(records)} were sent"
        )


def is_empty(record: ModelRecord) -> bool:
    """Tell whether the answer of a server is empty, wherever it put its text."""
    blank = record.answer is not None and not record.answer.strip()
    return bool(record.elsewhere) or (blank and not record.whole)


def asked_notes(session: ModelSession) -> Iterator[str]:
    """Yield what a reader of the figures must know."""
    experiment = session.experiment
    yield from experiment.data_notes
    if experiment.data.published:
        yield (
            f"The data set was published on {experiment.data.published}: models that were trained "
            "later may have read its answers."
        )
    yield from (
        f"{word} {program.note}." for word, program in experiment.programs.items() if program.note
    )
    if experiment.greetings:
        yield _before_trials(experiment.greetings)
    if experiment.judged.judge_requests:
        yield _for_arms(experiment.judged)
    if not any(record.scores for record in session.records):
        yield "No answer was scored; swarm-bench rescore scores those of --generate-only."


def _before_trials(greetings: Sequence[Greeting]) -> str:
    """Say what it took to ask whether the models answer."""
    tokens, costs = ([getattr(it, key) for it in greetings] for key in ("tokens", "cost"))
    took = [amount(sum(it.requests or 0 for it in greetings), "request")]
    took.append(
        "tokens that nobody knows" if None in tokens else amount(sum(map(int, tokens)), "token")
    )
    took += [] if None in costs else [f"${sum(costs):,.4f}"]
    return (
        f"Asking each model once whether it answers, before the trials, took {joined(took)}, which "
        "are in no table."
    )


def _for_arms(judged: Judged) -> str:
    tokens, cost = judged.judge_tokens, judged.judge_cost
    took = [
        amount(judged.judge_requests or 0, "request"),
        "tokens that nobody knows" if tokens is None else amount(tokens, "token"),
        *([] if cost is None else [f"${cost:,.4f}"]),
    ]
    return f"For new arms the judge took {joined(took)}, which are in no table."

"""What `run` would do, for a person to look at before it does: requests, tokens, time and money."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from swarm_bench.analysis.planning.planned import SHOWN, entry, hours
from swarm_bench.analysis.planning.spending import Span, sum_of, written_span
from swarm_bench.analysis.wording import amount, listed
from swarm_bench.core.report.document import Grid
from swarm_bench.core.report.plan import Entry, Plan
from swarm_bench.core.session.cases import CaseExperiment, CaseTrial
from swarm_bench.core.session.models import ModelExperiment


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What the trials of a model that are still to run would take. `None` where nobody knows."""

    model: str
    trials: int
    requests: int | None
    """0 for what is asked nowhere, such as `copy`; `None` of an agent program."""
    sent: Span | None = None
    """Tokens."""
    written: Span | None = None
    """Tokens."""
    seconds: Span | None = None
    """As if one request were made at a time."""
    dollars: Span | None = None
    measured: str | None = None
    """The session that shows what its answers take; `None` for assumptions."""
    unpriced: str = ""
    """Why nobody knows the dollars, as a clause."""


def describe(
    experiment: CaseExperiment,
    trials: Sequence[CaseTrial],
    finished: Collection[str | None],
    expected: Sequence[Expected] = (),
    notes: Sequence[str] = (),
) -> Plan:
    """Describe the trials in the order they run; `expected` is empty for a benchmark that asks no
    models, and `notes` are what else a person should know before."""
    rows = tuple(
        (str(trial.run), trial.arm, trial.case.title, "yes" if trial.id in finished else "no")
        for trial in trials
    )
    headers = ("Run", "Arm", "Case", "Done")
    done = sum(row[-1] == "yes" for row in rows)
    return Plan(
        title="",
        entries=(
            *_entries(experiment, len(rows) - done, done),
            *(_of_models(experiment, expected) if expected else ()),
            *(entry("Note", note) for note in notes),
        ),
        trials=Grid(headers=headers, labels=len(headers), rows=rows[:SHOWN]),
        omitted=f"and {len(rows) - SHOWN:,} more in the same way" if len(rows) > SHOWN else "",
    )


def _entries(experiment: CaseExperiment, remaining: int, done: int) -> Iterator[Entry]:
    yield entry("Benchmark", f"{experiment.benchmark}, version {experiment.benchmark_version}")
    if isinstance(experiment, ModelExperiment):
        yield entry("Data set", f"{experiment.data.name}, {amount(experiment.data.rows, 'row')}")
    sizes = [
        amount(len(experiment.cases), "case"),
        amount(len(experiment.arms), "arm"),
        amount(experiment.runs, "run"),
    ]
    whole = len(experiment.cases) * len(experiment.arms) * experiment.runs
    once = "" if remaining + done == whole else ", but one of an arm that always answers alike"
    yield entry("Trials", f"{remaining:,} to run ({' × '.join(sizes)}{once}), {done:,} done")
    yield entry("Arms", listed(experiment.arms))


def _of_models(experiment: CaseExperiment, expected: Sequence[Expected]) -> Iterator[Entry]:
    assert isinstance(experiment, ModelExperiment)
    asked = [it for it in expected if it.requests != 0 and it.trials]
    yield Entry(label="Requests", texts=tuple(map(_requests, expected)))
    if not asked:
        yield entry("Expected", "no tokens, no dollars, and a few minutes at most")
        return
    yield Entry(label="Tokens", texts=tuple(map(_tokens, asked)))
    yield Entry(label="Time", texts=tuple(_time(experiment, asked)))
    yield Entry(label="Cost", texts=tuple(_cost(asked)))


def _requests(it: Expected) -> str:
    trials = amount(it.trials, "trial")
    if it.requests is None:
        return f"{it.model}: {trials}, each with as many requests as the agent program makes"
    if it.requests == 0:
        return f"{it.model}: none for its {trials}: no server is asked"
    return f"{it.model}: {it.requests:,}, one for each trial; more where one has to be repeated"


def _tokens(it: Expected) -> str:
    sent = "sent: not known" if it.sent is None else f"{written_span(it.sent, '{:,.0f}')} sent"
    written = "written: not known"
    if it.written is not None:
        limit = "" if it.measured else ", by how long an answer may be"
        written = f"{written_span(it.written, '{:,.0f}')} written{limit}"
    return f"{it.model}: {sent}, {written}" + (f" ({_basis(it)})" if it.sent else "")


def _basis(it: Expected) -> str:
    return f"as in {it.measured}" if it.measured else "by the prompts, 4 bytes to a token"


def _time(experiment: ModelExperiment, asked: Sequence[Expected]) -> Iterator[str]:
    at_once, spans = experiment.requests_at_once, [it.seconds for it in asked if it.seconds]
    unknown = [it for it in asked if it.seconds is None]
    if spans:
        low, high = (max(1, seconds / at_once / 60) for seconds in sum_of(spans))
        minutes = written_span((low, high), "{:,.0f}")
        sources = {it.measured for it in asked if it.seconds and it.measured}
        yield f"about {minutes} min ({at_once} at once, as in {', '.join(sorted(sources))})"
    if unknown:
        limit = sum(-(-it.trials // at_once) for it in unknown) * experiment.request_timeout
        names = listed([it.model for it in unknown])
        yield (
            f"{names}: not known, as no earlier session of the benchmark below results/ shows it; "
            f"at most {hours(limit)}, if every request takes the {experiment.request_timeout:g} s "
            "of --timeout"
        )


def _cost(asked: Sequence[Expected]) -> Iterator[str]:
    """Yield the sum only where each of its parts is known."""
    spans = [it.dollars for it in asked if it.dollars is not None]
    if len(spans) == len(asked) > 1:
        yield f"{written_span(sum_of(spans), '${:,.2f}')} in all"
    for it in asked:
        if it.dollars is None:
            yield f"{it.model}: not known, as {it.unpriced}"
        else:
            dollars = written_span(it.dollars, "${:,.2f}")
            yield f"{it.model}: {dollars if it.dollars[1] else 'nobody is billed'}"

"""What `run` and `retrieve` would do, for a person to look at before they do: requests, tokens,
time and money."""

import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from swarm_bench.analysis.planning.session_plan import MAX_TRIALS, format_hours, make_entry
from swarm_bench.analysis.planning.spending import Span, add_spans, format_span
from swarm_bench.analysis.wording import list_few, quantify
from swarm_bench.core.report.document import Grid
from swarm_bench.core.report.plan import Entry, Plan
from swarm_bench.core.session.cases import CaseExperiment, CaseTrial
from swarm_bench.core.session.experiment import Mode
from swarm_bench.core.session.models import ModelExperiment
from swarm_bench.core.session.retrieving import RetrieveExperiment
from swarm_bench.retrieval.modes.started import write_server_lines
from swarm_bench.runtime.workspaces.omissions import sentences_on


@dataclass(frozen=True, kw_only=True)
class Expected:
    """Expected use of the trials of a model that are still to run; `None` where that is unknown."""

    model: str
    trials: int
    requests: int | None
    """0 for what is asked nowhere, such as `copy`; `None` of an agent program."""
    sent: Span | None = None
    """Tokens."""
    received: Span | None = None
    """Tokens."""
    seconds: Span | None = None
    """Duration of the requests in seconds, if they were made one at a time."""
    dollars: Span | None = None
    source: str | None = None
    """The session that shows what its answers take; `None` for assumptions."""
    unpriced: str = ""
    """Reason why the dollars are unknown, as a clause."""


def describe_requests(
    experiment: ModelExperiment,
    trials: Sequence[CaseTrial],
    finished: Collection[str | None],
    expected: Sequence[Expected],
    notes: Sequence[str],
) -> Plan:
    """Describe the trials of models in the order they run; `notes` are what else a person should
    know before."""
    plan = describe_trials(experiment, trials, finished)
    benchmark, *entries = plan.entries
    data = f"{experiment.data.name}, {quantify(experiment.data.rows, 'row')}"
    return replace(
        plan,
        entries=(
            benchmark,
            make_entry("Data set", data),
            *entries,
            *_describe_models(experiment, expected),
            *(make_entry("Note", note) for note in notes),
        ),
    )


def describe_trials(
    experiment: CaseExperiment, trials: Sequence[CaseTrial], finished: Collection[str | None]
) -> Plan:
    """Describe the trials in the order they run."""
    rows = tuple(
        (str(trial.run), trial.arm, trial.case.title, "yes" if trial.id in finished else "no")
        for trial in trials
    )
    headers = ("Run", "Arm", "Case", "Done")
    done = sum(row[-1] == "yes" for row in rows)
    return Plan(
        title="",
        entries=tuple(_list_entries(experiment, len(rows) - done, done)),
        trials=Grid(headers=headers, labels=len(headers), rows=rows[:MAX_TRIALS]),
        omitted=f"and {len(rows) - MAX_TRIALS:,} more in the same way"
        if len(rows) > MAX_TRIALS
        else "",
    )


def _list_entries(experiment: CaseExperiment, remaining: int, done: int) -> Iterator[Entry]:
    cases = experiment.cut_to_slice().cases
    yield make_entry("Benchmark", f"{experiment.benchmark}, version {experiment.benchmark_version}")
    sizes = [
        quantify(len(cases), "case"),
        quantify(len(experiment.arms), "arm"),
        quantify(experiment.runs, "run"),
    ]
    all_trials = len(cases) * len(experiment.arms) * experiment.runs
    once = "" if remaining + done == all_trials else ", but one of an arm that always answers alike"
    yield make_entry("Trials", f"{remaining:,} to run ({' × '.join(sizes)}{once}), {done:,} done")
    yield make_entry("Arms", list_few(experiment.arms))
    yield from (make_entry("Slice", note) for note in experiment.slice_notes)


def _describe_models(experiment: ModelExperiment, expected: Sequence[Expected]) -> Iterator[Entry]:
    requesting = [estimate for estimate in expected if estimate.requests != 0 and estimate.trials]
    yield Entry(label="Requests", texts=tuple(map(_describe_requests, expected)))
    if not requesting:
        yield make_entry("Expected", "no tokens, no dollars, and a few minutes at most")
        return
    yield Entry(label="Tokens", texts=tuple(map(_describe_tokens, requesting)))
    yield Entry(label="Time", texts=tuple(_describe_time(experiment, requesting)))
    yield Entry(label="Cost", texts=tuple(_describe_cost(requesting)))


def _describe_requests(estimate: Expected) -> str:
    trials = quantify(estimate.trials, "trial")
    if estimate.requests is None:
        return f"{estimate.model}: {trials}, each with as many requests as the agent program makes"
    if estimate.requests == 0:
        return f"{estimate.model}: none for its {trials}: no server is asked"
    return (
        f"{estimate.model}: {estimate.requests:,}, one for each trial; more where one has to be "
        f"repeated"
    )


def _describe_tokens(estimate: Expected) -> str:
    sent = (
        "sent: not known"
        if estimate.sent is None
        else f"{format_span(estimate.sent, '{:,.0f}')} sent"
    )
    received = "written: not known"
    if estimate.received is not None:
        limit = "" if estimate.source else ", by how long an answer may be"
        received = f"{format_span(estimate.received, '{:,.0f}')} written{limit}"
    return f"{estimate.model}: {sent}, {received}" + (
        f" ({_describe_basis(estimate)})" if estimate.sent else ""
    )


def _describe_basis(estimate: Expected) -> str:
    return f"as in {estimate.source}" if estimate.source else "by the prompts, 4 bytes to a token"


def _describe_time(experiment: ModelExperiment, requesting: Sequence[Expected]) -> Iterator[str]:
    at_once, spans = (
        experiment.requests_at_once,
        [estimate.seconds for estimate in requesting if estimate.seconds],
    )
    unknown = [estimate for estimate in requesting if estimate.seconds is None]
    if spans:
        low, high = (max(1, seconds / at_once / 60) for seconds in add_spans(spans))
        minutes = format_span((low, high), "{:,.0f}")
        sources = {
            estimate.source for estimate in requesting if estimate.seconds and estimate.source
        }
        yield f"about {minutes} min ({at_once} at once, as in {', '.join(sorted(sources))})"
    if unknown:
        limit = (
            sum(-(-estimate.trials // at_once) for estimate in unknown) * experiment.request_timeout
        )
        names = list_few([estimate.model for estimate in unknown])
        yield (
            f"{names}: not known, as no earlier session of the benchmark below results/ shows it; "
            f"at most {format_hours(limit)}, if every request takes the "
            f"{experiment.request_timeout:g} s of --timeout"
        )


def _describe_cost(requesting: Sequence[Expected]) -> Iterator[str]:
    """Yield the sum only where each of its parts is known."""
    spans = [estimate.dollars for estimate in requesting if estimate.dollars is not None]
    if len(spans) == len(requesting) > 1:
        yield f"{format_span(add_spans(spans), '${:,.2f}')} in all"
    for estimate in requesting:
        if estimate.dollars is None:
            yield f"{estimate.model}: not known, as {estimate.unpriced}"
        else:
            dollars = format_span(estimate.dollars, "${:,.2f}")
            yield f"{estimate.model}: {dollars if estimate.dollars[1] else 'nobody is billed'}"


def describe_questions(
    experiment: RetrieveExperiment,
    trials: Sequence[CaseTrial],
    finished: Collection[str | None],
    unapproved: Sequence[str],
) -> Plan:
    """Describe the questions in the order they are put; `unapproved` is what would be started and
    is not approved."""
    rows = tuple(
        (str(trial.run), trial.arm, trial.case.title, "yes" if trial.id in finished else "no")
        for trial in trials
    )
    headers = ("Run", "Mode", "Question", "Done")
    done = sum(row[-1] == "yes" for row in rows)
    return Plan(
        title="",
        entries=(
            *_list_question_entries(experiment),
            make_entry("Questions", f"{len(rows) - done} to put, {done} answered"),
            *(make_entry("Not approved", text) for text in unapproved),
        ),
        trials=Grid(headers=headers, labels=len(headers), rows=rows[:MAX_TRIALS]),
        omitted=f"and {len(rows) - MAX_TRIALS} more in the same way"
        if len(rows) > MAX_TRIALS
        else "",
    )


def _list_question_entries(experiment: RetrieveExperiment) -> Iterator[Entry]:
    repository = experiment.repository
    yield make_entry("Repository", f"{repository.path} ({quantify(repository.files, 'file')})")
    yield from (make_entry("Left out", sentence) for sentence in sentences_on(repository))
    omitted = experiment.omitted_tasks
    omission = f"; {omitted} without a key are omitted" if omitted else ""
    yield make_entry("Tasks", f"{experiment.suite}, {len(experiment.tasks)} with keys{omission}")
    commits = {task.commit for task in experiment.tasks}
    index_text = "with an index" if len(commits) == 1 else "each with an index"
    spaces = quantify(len(commits), "workspace")
    yield make_entry("Workspaces", f"{spaces}, {index_text}, per mode and run")
    yield make_entry("Runs", str(experiment.runs))
    yield make_entry(
        "Limits", f"{experiment.timeout:g} s per question, {experiment.index_timeout:g} s per index"
    )
    for mode in experiment.modes:
        parts = [Entry(label=label, texts=(text,)) for label, text in _list_requests(mode)]
        yield Entry(label="Mode", texts=(mode.name,), parts=tuple(parts))


def _list_requests(mode: Mode) -> Iterator[tuple[str, str]]:
    for name, line in write_server_lines(mode).items():
        yield f"server {name}", line
    if mode.prepare is not None and mode.can_be_prepared:
        step = mode.prepare
        yield "prepare", shlex.join(step.command) if step.command else f"the tool {step.tool}"
    yield "search", mode.search.tool if mode.search else "recognised by its schema"

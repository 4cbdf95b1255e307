"""What `retrieve` would do, for a person to look at before it does."""

import shlex
from collections.abc import Collection, Iterator, Sequence

from swarm_bench.analysis.planning.planned import MAX_TRIALS, make_entry
from swarm_bench.analysis.wording import quantify
from swarm_bench.core.report.document import Grid
from swarm_bench.core.report.plan import Entry, Plan
from swarm_bench.core.session.cases import CaseTrial
from swarm_bench.core.session.experiment import Mode
from swarm_bench.core.session.retrieving import RetrieveExperiment
from swarm_bench.retrieval.modes.started import write_server_lines
from swarm_bench.runtime.workspaces.omissions import sentences_on


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
            *_list_entries(experiment),
            make_entry("Questions", f"{len(rows) - done} to put, {done} answered"),
            *(make_entry("Not approved", text) for text in unapproved),
        ),
        trials=Grid(headers=headers, labels=len(headers), rows=rows[:MAX_TRIALS]),
        omitted=f"and {len(rows) - MAX_TRIALS} more in the same way"
        if len(rows) > MAX_TRIALS
        else "",
    )


def _list_entries(experiment: RetrieveExperiment) -> Iterator[Entry]:
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

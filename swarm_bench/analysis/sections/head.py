"""What a reader must know before the first figure: what was measured, with what, and how."""

from collections.abc import Iterable

from swarm_bench.analysis.caveats.censoring import describe_later_end
from swarm_bench.analysis.caveats.declaration import (
    describe_changed_tasks,
    describe_declaration,
    describe_exploratory,
    describe_extension,
    describe_looks,
)
from swarm_bench.analysis.caveats.integrity import describe_audit
from swarm_bench.analysis.comparison.correctness import describe_constant_rule
from swarm_bench.analysis.planning.forecast import count_independent
from swarm_bench.analysis.planning.outlook import describe_hard
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.statistics.changes import explain_worth
from swarm_bench.analysis.wording import join, list_few, quantify
from swarm_bench.core.report.document import Fact
from swarm_bench.core.session.experiment import Experiment, Program, Repository
from swarm_bench.core.session.records import Treatment
from swarm_bench.retrieval.canopy.backends import is_stand_in
from swarm_bench.runtime.workspaces.omissions import sentences_on

_SHOWN_ORDERS = 8
_INDEX = {
    "cold": "cold (a standalone server indexes in its agents' time)",
    "warm": "warm (a standalone index is built before its agents start)",
}


def make_head(selection: Selection) -> tuple[tuple[Fact, ...], ...]:
    experiment = selection.data.experiment
    lines = _list_foreign(experiment) if experiment.origin else _list_lines(experiment, selection)
    return tuple(tuple(Fact(label=label, value=value) for label, value in line) for line in lines)


def _list_lines(experiment: Experiment, selection: Selection) -> list[list[tuple[str, str]]]:
    limits = experiment.limits
    lines = [
        [("Repository", describe_repository(experiment.repository))],
        [
            ("Agents", _describe_agents(experiment)),
            ("Runs", str(experiment.runs)),
            ("Max turns", str(limits.max_turns)),
            ("Time limit", f"{limits.timeout:g} s"),
        ],
        [
            ("Agent", _describe_program(experiment.agent, _list_versions(selection))),
            ("Model", _describe_model(experiment, selection)),
            ("Tasks", _describe_tasks(experiment)),
        ],
    ]
    if experiment.made:
        lines.append([("Tasks made", experiment.made)])
    if options := _list_options(experiment):
        lines.append(options)
    back_ends = [
        f"{mode}: {_describe_program(program)}" for mode, program in experiment.retrieval.items()
    ]
    if back_ends:
        lines.append([("Retrieval", "; ".join(back_ends))])
    if any(mode.servers for mode in experiment.modes):
        lines.append([("Index", _describe_index(experiment))])
    lines.append([("Order", _describe_order(experiment)), ("Seed", str(experiment.seed))])
    lines.append(
        [
            ("Session", experiment.session),
            ("Date", experiment.created_at.strftime("%Y-%m-%d %H:%M:%S %Z").strip()),
        ]
    )
    if not selection.rehearsal and (
        declaration := describe_declaration(experiment, selection.metrics)
    ):
        lines.append([("Named beforehand", declaration)])
    return lines


def _describe_index(experiment: Experiment) -> str:
    needed = [
        mode.name
        for mode in experiment.modes
        if experiment.index == "cold" and experiment.prepares(mode)
    ]
    built = f"; {list_few(needed)}: prepared before its agents start" if needed else ""
    return _INDEX[experiment.index] + built


def _list_foreign(experiment: Experiment) -> list[list[tuple[str, str]]]:
    """Say what another program recorded of its options, in its own words."""
    label_lines = (
        (("Repository", "repository"),),
        (("Agents", "agents"), ("Max turns", "max_turns"), ("Model", "model")),
        (("Date", "date"),),
    )
    options = {name: str(setting.value) for name, setting in experiment.settings.items()}
    return [
        [(label, options.get(name, "not recorded")) for label, name in line] for line in label_lines
    ]


def describe_repository(repository: Repository) -> str:
    """Say which repository it is, and in which state."""
    size = quantify(repository.files, "file")
    if repository.commit is None:
        return f"{repository.path} (a plain folder, {size}, content {repository.tree[:12]})"
    changes = " with uncommitted changes" if repository.dirty else ""
    return f"{repository.path} at {repository.commit[:12]}{changes} ({size})"


def _describe_agents(experiment: Experiment) -> str:
    if experiment.design.agent_at_a_time:
        return f"1 at a time, {quantify(len(experiment.tasks), 'task')}"
    parts = [str(experiment.trials_per_mode)]
    if experiment.swarm_size:
        parts.append(f"in swarms of {experiment.swarm_size}")
    elif experiment.orders_per_run > 1:
        parts.append(f"in {experiment.orders_per_run} blocks")
    if experiment.at_once < experiment.trials_per_mode:
        parts.append(f"at most {experiment.at_once} at a time")
    if experiment.all_tasks:
        parts[0] += " (every task)"
    return ", ".join(parts)


def _describe_tasks(experiment: Experiment) -> str:
    asked_tasks, all_tasks = experiment.tasks_asked, len(experiment.tasks)
    count_text = (
        str(all_tasks) if asked_tasks == all_tasks else f"{asked_tasks} of {all_tasks} asked"
    )
    if hard := describe_hard(experiment):
        count_text += f": {hard}"
    if any(task.commit for task in experiment.tasks):
        count_text += f", on {quantify(len(experiment.agents_by_commit), 'commit')}"
    return f"{experiment.suite} ({count_text})"


def _describe_program(program: Program, versions: Iterable[str] = ()) -> str:
    version = program.version or ", ".join(versions)
    return f"{program.name} {version}".strip()


def _list_versions(selection: Selection) -> list[str]:
    return sorted({trial.program_version for trial in selection.various if trial.program_version})


def _describe_model(experiment: Experiment, selection: Selection) -> str:
    used = sorted({trial.model for trial in selection.various if trial.model})
    return ", ".join(used) or experiment.model_label


def _list_options(experiment: Experiment) -> list[tuple[str, str]]:
    options = (
        ("Agent arguments", " ".join(experiment.agent_args)),
        ("Agent variables", ", ".join(experiment.agent_env)),
        ("Faults played", ", ".join(experiment.faults)),
    )
    return [(label, value) for label, value in options if value]


def _describe_order(experiment: Experiment) -> str:
    orders_per_run, order_texts = experiment.orders_per_run, []
    for number, modes in enumerate(experiment.order[:_SHOWN_ORDERS]):
        run, block = divmod(number, orders_per_run)
        of_block = f", block {block + 1}" if orders_per_run > 1 else ""
        order_texts.append(f"run {run + 1}{of_block}: {', '.join(modes)}")
    if len(experiment.order) > _SHOWN_ORDERS:
        order_texts.append("the others in experiment.json")
    return "; ".join(order_texts)


def write_banner(selection: Selection) -> str | None:
    """Say what a reader must know before anything else."""
    replayed = sorted({trial.replayed for trial in selection.various if trial.replayed})
    sentences = [*filter(None, [describe_exploratory(selection)])]
    if replayed:
        sentences.append(
            f"Replay: what the agents printed comes from the recording of session "
            f"{', '.join(replayed)}; their times, their memory and the tool's counters too."
        )
    if selection.rehearsal:
        sentences.append(
            "Rehearsal: the agents are the real program with the real tools, but fixed rules "
            "answered in the place of a model. Nobody was billed; answers, tokens, turns and times "
            "say nothing about a model."
        )
    return " ".join(sentences) or None


def write_notes(selection: Selection) -> tuple[str, ...]:
    """Say what a reader must know to read the figures, where nothing went wrong."""
    experiment, trials = selection.data.experiment, selection.various
    sentences = []
    if omitted := sentences_on(experiment.repository):
        omissions = " ".join(f"{sentence[:1].upper()}{sentence[1:]}." for sentence in omitted)
        sentences.append(f"Of the repository: {omissions}")
    if selection.fixed_rules and not selection.rehearsal:
        sentences.append(
            "The agent thinks with fixed rules and asks no language model. The figures show that "
            "the tool is connected and called, what it sends and how long that takes; they do not "
            "show what a model would make of it, nor that it saves anything."
        )
    embedded = list(filter(is_stand_in, {trial.backend for trial in trials}))
    if embedded:
        part = "is in part" if any(" with " in (name or "") for name in embedded) else "is"
        sentences.append(
            f"The retrieval tool {part} the embedded canopy, a stand-in that speaks canopy's "
            "protocols: these are no figures of canopy itself."
        )
    sentences += _describe_agents_used(selection)
    counters = sorted({trial.token_counter for trial in trials if trial.token_counter})
    if counters:
        sentences.append(f"Tokens were counted by {', '.join(counters)}, not by a provider.")
    if any(trial.cost_estimated for trial in trials) and not selection.fixed_rules:
        sentences.append(_describe_estimates(selection))
    if experiment.tasks and len(selection.modes) > 1:
        sentences += explain_worth(count_independent(experiment), experiment.beforehand)
        sentences += describe_later_end(selection)
    sentences += [*describe_looks(experiment), *describe_constant_rule(selection)]
    sentences += [
        *_describe_age(experiment),
        *describe_extension(experiment),
        *describe_changed_tasks(experiment),
    ]
    sentences += describe_audit(selection)
    return tuple(filter(None, [*sentences, experiment.origin]))


def _describe_estimates(selection: Selection) -> str:
    priced = [trial for trial in selection.various if trial.cost_estimated]
    tables = sorted({trial.price_table for trial in priced if trial.price_table})
    source = f" with the price table {', '.join(tables)}" if tables else ""
    return f"Cost is an estimate{source}: tokens times list prices, and a bill may differ."


def _describe_age(experiment: Experiment) -> list[str]:
    """Count the tasks whose answer a model may have seen in its training."""
    if experiment.since is None:
        return []
    dates = [task.written for task in experiment.tasks]
    older = sum(date is not None and date < experiment.since for date in dates)
    unknown = dates.count(None)
    counts = [f"{older} older than {experiment.since}"] if older else []
    counts += [f"{unknown} of unknown age"] if unknown else []
    if not counts:
        return []
    tasks = quantify(len(dates), "task")
    return [
        f"Of {tasks}, {join(counts)}: the model may have seen the answers in its training, in "
        "every mode alike."
    ]


def _describe_agents_used(selection: Selection) -> list[str]:
    experiment, sentences = selection.data.experiment, []
    if experiment.inherit_settings:
        sentences.append(
            "The agents used the user's own settings, memory files and hooks (--inherit-settings): "
            "the figures are of this set-up, and another user's will differ."
        )
    tested = experiment.agent.tested
    other_versions = sorted(
        {
            trial.program_version
            for trial in selection.various
            if trial.program_version and tested and trial.program_version != tested
        }
    )
    if other_versions:
        sentences.append(
            f"{experiment.agent.name} {', '.join(other_versions)} ran, and its adapter was "
            f"verified with {tested}: look whether tokens, turns and tool calls are plausible."
        )
    # Where the mode was not used, a warning says it.
    unused_tools = {
        tool
        for trial in selection.trials
        if trial.retrieval is Treatment.USED
        for tool in trial.unusable_tools or ()
    }
    if unused_tools:
        sentences.append(
            f"The agent had no way to use {quantify(len(unused_tools), 'tool')} of the modes' "
            f"servers ({list_few(sorted(unused_tools))}), and used others of them."
        )
    if any(trial.turns_counted for trial in selection.various):
        sentences.append(
            "The agent's program keeps no turn budget: swarm-bench counts the turns in its output "
            "and stops it at the last, which can come one request late."
        )
    return sentences

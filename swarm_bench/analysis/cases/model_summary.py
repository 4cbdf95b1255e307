"""The summary of a session that compares models: who was asked, on what, where code ran, what each
model came to, and which arm of those that the benchmark made to take."""

import json
from collections.abc import Iterator, Sequence
from statistics import fmean

from swarm_bench.analysis.cases.caveats import MODEL_KINDS
from swarm_bench.analysis.cases.models import ModelSession
from swarm_bench.analysis.cases.results import make_definition_section, make_result_section
from swarm_bench.analysis.cases.summary import Extras, make_case_document
from swarm_bench.analysis.cases.verdicts import answer_cases, find_primary_metric, find_verdicts
from swarm_bench.analysis.documents.blocks import paragraph
from swarm_bench.analysis.wording import join, list_few, quantify
from swarm_bench.config.addresses import remove_logins
from swarm_bench.core.metric import Better
from swarm_bench.core.report.document import Answer, Block, Document, Fact, Section, Verbatim
from swarm_bench.core.session.models import Arm, Greeting, JudgeFields, ModelExperiment


class ComparedModels(ModelSession):
    """A session that compares models."""

    kinds = MODEL_KINDS

    @property
    def answers(self) -> tuple[Answer, ...]:
        return tuple(answer_cases(self))

    @property
    def document(self) -> Document:
        return make_model_document(self)


def make_model_document(session: ModelSession) -> Document:
    """Lay out what the session says: what each model came to, before how they compare."""
    recommendation = _recommend(session)
    extras = Extras(
        banner=_write_banner(session),
        facts=[*_list_facts(session.experiment)],
        notes=[*_write_notes(session)],
        sections=[make_result_section(session), *([recommendation] if recommendation else ())],
        details=[make_definition_section(session)],
    )
    return make_case_document(session, extras)


def _list_facts(experiment: ModelExperiment) -> Iterator[list[Fact]]:
    """Yield the lines of the set-up."""
    data, first = experiment.data, experiment.first
    last = first + len(experiment.cases)
    texts = [data.name, f"{data.rows} rows", f"cases {first} to {last - 1}"]
    texts += [f"licence {data.licence}"] if data.licence else []
    yield [Fact(label="Data", value=f"{', '.join(texts)} (sha256 {data.sha256[:12]})")]
    if data.source:
        yield [Fact(label="Source", value=data.source)]
    names = (
        f"{word}: {program.label}"
        for word, program in experiment.programs.items()
        if program.label != word
    )
    if labels := ", ".join(names):
        yield [Fact(label="Models", value=labels)]
    if experiment.judge:
        yield [Fact(label="Judge", value=remove_logins(experiment.judge))]
    if experiment.confinement:
        program = f"{experiment.environment.label}; " if experiment.environment else ""
        yield [Fact(label="Code", value=f"{program}{experiment.confinement}")]


def _write_banner(session: ModelSession) -> str | None:
    """Return what stands above the summary of a session whose code nothing confined, or not when it
    was scored again."""
    experiment = session.experiment
    if experiment.confined is False:
        return f"The code that the models wrote was {experiment.confinement}."
    if environments := [
        reread.environment for reread in session.rescored if reread.confines is False
    ]:
        return f"When it was scored again, the code that the models wrote was {environments[-1]}."
    return None


def _write_notes(session: ModelSession) -> Iterator[str]:
    """Yield what a reader of the figures must know."""
    experiment = session.experiment
    yield from experiment.data_notes
    once = [model.name for model in experiment.models if model.once]
    if once and experiment.runs > 1:
        names = list_few(once)
        yield f"Asked in the first run alone, as the answers are the same in each: {names}."
    if experiment.data.published:
        yield (
            f"The data set was published on {experiment.data.published}: models that were trained "
            "later may have read its answers."
        )
    yield from (
        f"{word} {program.note}." for word, program in experiment.programs.items() if program.note
    )
    if experiment.greetings:
        yield _describe_greetings(experiment.greetings)
    if experiment.judged.judge_requests:
        yield _describe_judge_costs(experiment.judged)
    if not any(record.scores for record in session.records):
        yield "No answer was scored; swarm-bench rescore scores those of --generate-only."


def _describe_greetings(greetings: Sequence[Greeting]) -> str:
    """Say what it took to ask whether the models answer."""
    tokens, costs = (
        [getattr(greeting, key) for greeting in greetings] for key in ("tokens", "cost")
    )
    took = [quantify(sum(greeting.requests or 0 for greeting in greetings), "request")]
    took.append(
        "tokens that nobody knows" if None in tokens else quantify(sum(map(int, tokens)), "token")
    )
    took += [] if None in costs else [f"${sum(costs):,.4f}"]
    return (
        f"Asking each model once whether it answers, before the trials, took {join(took)}, which "
        "are in no table."
    )


def _describe_judge_costs(costs: JudgeFields) -> str:
    tokens, cost = costs.judge_tokens, costs.judge_cost
    took = [
        quantify(costs.judge_requests or 0, "request"),
        "tokens that nobody knows" if tokens is None else quantify(tokens, "token"),
        *([] if cost is None else [f"${cost:,.4f}"]),
    ]
    return f"For new arms the judge took {join(took)}, which are in no table."


def _recommend(session: ModelSession) -> Section | None:
    """Make the section on them; `None` where there are none."""
    models, blocks = session.experiment.models, list[Block]()
    for first in models:
        new_arms = [arm for arm in models if arm.follows and arm.against == first.name]
        blocks += _recommend_arm(session, first, new_arms) if new_arms else ()
    return Section(title="What to take", blocks=tuple(blocks)) if blocks else None


def _recommend_arm(session: ModelSession, first: Arm, new_arms: list[Arm]) -> Iterator[Block]:
    """Say which of the arms is to be taken, and show it; where none is shown to be better, the one
    with the best figure."""
    verdicts = find_verdicts(session)
    better = [arm for arm in new_arms if verdicts.get(arm.name) == "better"]
    best = max(better or [first, *new_arms], key=lambda arm: _compute_figure(session, arm.name))
    if better:
        yield paragraph(f"Take {best.name}: it is better than {first.name}.")
    else:
        none = f"Keep {first.name}: no arm that was made of it is shown to be better."
        yield paragraph(none if best is first else f"{none} The best figure has {best.name}.")
    for name, value in best.properties.items():
        if best is not first and value != first.properties.get(name):
            yield paragraph(f"{name} of {best.name}:")
            yield Verbatim(text=value if isinstance(value, str) else json.dumps(value))


def _compute_figure(session: ModelSession, arm: str) -> float:
    """Return the figure of the verdict, higher where it is better."""
    metric = find_primary_metric(session)
    figures = [fmean(values) for values in session.figures(arm, metric).values()] if metric else []
    sign = 1 if metric and metric.better is Better.HIGHER else -1
    return sign * fmean(figures) if figures else float("-inf")

"""The summary of `retrieve`, as a document: what each mode found, beside plain searches."""

from collections.abc import Iterator

from swarm_bench.analysis.case_summary import CaseSession, case_trials, case_warnings
from swarm_bench.analysis.documents.blocks import definitions, paragraph, warned
from swarm_bench.analysis.retrieve.figures import Answers, Difference, middle, p95, values
from swarm_bench.analysis.wording import amount, listed
from swarm_bench.core.metric import Style
from swarm_bench.core.report.document import (
    Bullets,
    Cell,
    Document,
    Fact,
    Grid,
    Scale,
    Section,
    Span,
    Text,
    Value,
)
from swarm_bench.core.session.designs import RETRIEVE
from swarm_bench.core.session.retrieving import FORMS, PLAIN, Form, RetrieveExperiment

_SCORES = ("recall_1", "recall_5", "recall_10", "reciprocal_rank", "ndcg_10")
_MAIN = "recall_5"
"""The figure that modes are compared by."""
_COMPARED = (_MAIN, "recall_10", "reciprocal_rank", "ndcg_10")
_HEADERS = (
    *("Mode", "recall@1", "recall@5", "recall@10", "MRR", "nDCG@10", "Files", "Tokens"),
    *("Recall per 1,000 tokens", "Empty", "Failed", "First call", "Median", "p95"),
    *("Index", "Index MB"),
)
_TITLES: dict[Form, str] = {"sentence": "Asked in a sentence", "keywords": "Asked in keywords"}


def document(session: CaseSession) -> Document:
    """Lay out what the session says. Any session has a summary, an empty one too."""
    answers = Answers(session)
    return Document(
        title=f"{RETRIEVE.title} Summary",
        banner=None,
        head=_head(answers.experiment),
        sections=tuple(_sections(answers)),
    )


def _head(experiment: RetrieveExperiment) -> tuple[tuple[Fact, ...], ...]:
    repository = experiment.repository
    commit = f" at {repository.commit[:12]}" if repository.commit else ", a plain folder"
    programs = [f"{name}: {it.label}" for name, it in experiment.retrieval.items()]
    order = [f"run {run}: {', '.join(arms)}" for run, arms in enumerate(experiment.order, start=1)]
    lines = [
        [("Repository", f"{repository.path}{commit} ({repository.files} files)")],
        [
            ("Tasks", f"{experiment.suite}, {len(experiment.tasks)} with keys"),
            ("Questions", str(len(experiment.cases))),
            ("Runs", str(experiment.runs)),
        ],
        [("Tools", "; ".join(programs) or "none")],
        [("Order", listed(order)), ("Seed", str(experiment.seed))],
        [
            ("Session", experiment.session),
            ("Date", experiment.created_at.strftime("%Y-%m-%d %H:%M:%S %Z").strip()),
        ],
    ]
    return tuple(tuple(Fact(label=label, value=value) for label, value in line) for line in lines)


def _sections(answers: Answers) -> Iterator[Section]:
    if items := tuple(_headline(answers)):
        yield Section(title="Headline", blocks=(Bullets(items=items),))
    yield from warned(case_warnings(answers.session), _notes(answers.experiment))
    for form in FORMS:
        if any(form == asked for _, asked in answers.asked.values()):
            yield _table(answers, form)
    yield from _differences(answers)
    yield case_trials(answers.session)


def _headline(answers: Answers) -> Iterator[Text]:
    arms = answers.experiment.arms
    for arm in arms:
        recall = answers.mean(answers.of(arm), _MAIN)
        compared = answers.difference(arm, PLAIN, _MAIN) if PLAIN in arms and arm != PLAIN else None
        if recall is None:
            yield Span(text=arm, strong=True), ": no answer was measured."
        elif compared is None:
            yield Span(text=arm, strong=True), f": recall@5 {recall:.2f}."
        else:
            yield Span(text=arm, strong=True), f" {_verdict(compared)}"
    if PLAIN not in arms:
        yield (
            f"{PLAIN} is not among the modes, so nothing shows whether a plain search finds as "
            f"much; add it with --continue and --modes."
        )


def _verdict(compared: Difference) -> str:
    """Say of a mode whether it beats the plain search: a clause that follows its name."""
    if compared.low is None or compared.high is None or compared.low <= 0 <= compared.high:
        verdict = f"is not shown to find more than {PLAIN}, a plain search"
        if compared.mean > 0:
            verdict = f"may find more than {PLAIN}, a plain search, or not"
    elif compared.mean < 0:
        verdict = f"finds less than {PLAIN}, a plain search"
    else:
        verdict = f"finds more than {PLAIN}, a plain search"
    ends = (
        f", 95 % interval {compared.low:+.2f} to {compared.high:+.2f}"
        if compared.low is not None and compared.high is not None
        else ""
    )
    return (
        f"{verdict}: recall@5 {compared.own:.2f} against {compared.other:.2f}, "
        f"over {amount(compared.questions, 'task')} ({compared.mean:+.2f}{ends})."
    )


def _notes(experiment: RetrieveExperiment) -> Iterator[str]:
    for name, searching in experiment.searching.items():
        if searching.recognised:
            yield (
                f"{name}: its mode file does not say how it is searched; the tool "
                f"{searching.tool} was recognised by its schema and asked."
            )
    if experiment.omitted_tasks:
        yield (
            f"{amount(experiment.omitted_tasks, 'task')} of {experiment.suite} without files in "
            "an answer key: not asked, since nothing could be scored."
        )
    if without := sum(not task.keywords for task in experiment.tasks):
        yield f"{amount(without, 'task')} without keywords: asked in a sentence only."
    if commits := {task.commit for task in experiment.tasks if task.commit}:
        yield (
            f"Tasks of {amount(len(commits), 'commit')} of their own were asked in workspaces of "
            "those commits, each with its own index."
        )


def _table(answers: Answers, form: Form) -> Section:
    rows = tuple(_row(answers, arm, form) for arm in answers.experiment.arms)
    grid = Grid(headers=_HEADERS, labels=1, rows=rows)
    how = (
        "Means over the questions, by the weights of their tasks. Times are medians over both "
        "forms, those of the first call to each server apart. Recall per 1,000 tokens "
        "is the mean recall of all files that are named, divided by the mean tokens. Index "
        "is what preparing the tool took, the median over runs and commits; - where nothing is "
        "prepared."
    )
    metrics = answers.session.metrics if form == FORMS[0] else ()
    return Section(title=_TITLES[form], blocks=(grid, paragraph(how), *definitions(metrics)))


def _row(answers: Answers, arm: str, form: Form) -> tuple[Cell, ...]:
    records = answers.of(arm, form)
    recall, tokens = answers.mean(records, "recall"), answers.mean(records, "tokens")
    dense = recall / tokens * 1000 if recall is not None and tokens else None
    every = answers.of(arm)
    later = values(every, "later_seconds")
    index, size = values(every, "index_seconds"), values(every, "index_bytes")
    return (
        arm,
        *(_value(answers.mean(records, key), Style.SCORE) for key in _SCORES),
        _value(answers.mean(records, "files"), Style.AVERAGE),
        _value(tokens if tokens is None else round(tokens), Style.WHOLE),
        _value(dense, Style.SCORE),
        *(_value(sum(values(records, key)), Style.WHOLE) for key in ("empty", "failed")),
        _value(middle(values(every, "first_seconds")), Style.MILLISECONDS),
        _value(middle(later), Style.MILLISECONDS),
        _value(p95(later), Style.MILLISECONDS),
        _value(middle(index), Style.SECONDS) if index or not every else None,
        _value(_megabytes(size), Style.AVERAGE) if size or not every else None,
    )


def _megabytes(sizes: list[float]) -> float | None:
    size = middle(sizes)
    return None if size is None else size / 1e6


def _value(value: float | None, style: Style) -> Value:
    return Value(scale=style, value=value)


def _differences(answers: Answers) -> Iterator[Section]:
    """Make the section that holds each mode against the plain search."""
    arms = answers.experiment.arms
    others = [arm for arm in arms if arm != PLAIN]
    if PLAIN not in arms or not others:
        return
    metrics = answers.session.metrics.named(_COMPARED)
    rows = tuple(
        (metric.title, *(_compared(answers.difference(arm, PLAIN, metric.key)) for arm in others))
        for metric in metrics
    )
    headers = ("Difference (95 % interval)", *others)
    legend = (
        f"Each mode minus {PLAIN}, task by task: the mean over the tasks that both answered, in "
        "whatever forms and runs, each task once. Where the interval includes 0, the tasks do not "
        "tell the two apart."
    )
    blocks = (Grid(headers=headers, labels=1, rows=rows), paragraph(legend))
    yield Section(title=f"Against {PLAIN}", blocks=blocks)


def _compared(difference: Difference | None) -> Cell:
    if difference is None:
        return Value(scale=Scale.DIFFERENCE, value=None)
    return Value(
        scale=Scale.DIFFERENCE, value=difference.mean, low=difference.low, high=difference.high
    )

"""The summary of `retrieve`, as a document: what each mode found, beside plain searches."""

from collections.abc import Iterator, Sequence

from swarm_bench.analysis.cases.beforehand import exploratory, extended
from swarm_bench.analysis.cases.summary import case_clauses, case_warnings, facts_of
from swarm_bench.analysis.comparison.ratios import subtract
from swarm_bench.analysis.documents.blocks import definitions, difference, paragraph
from swarm_bench.analysis.documents.opening import About, Opening, summary
from swarm_bench.analysis.missed import missed, missed_section, most_missed
from swarm_bench.analysis.retrieve.caveats import ASKED
from swarm_bench.analysis.retrieve.figures import Answers, middle, p95, values
from swarm_bench.analysis.retrieve.headline import SEARCHES, about_plain, headline
from swarm_bench.analysis.statistics.changes import about_worth
from swarm_bench.analysis.statistics.pairing import cases_of
from swarm_bench.analysis.wording import amount, listed
from swarm_bench.core.metric import Metric, Style
from swarm_bench.core.report.document import Answers as AnswersBlock
from swarm_bench.core.report.document import (
    Cell,
    Document,
    Fact,
    Grid,
    Section,
    Text,
    Value,
)
from swarm_bench.core.report.report import Missed
from swarm_bench.core.session.cases import CaseRecord
from swarm_bench.core.session.designs import RETRIEVE
from swarm_bench.core.session.retrieving import (
    PLAIN,
    Form,
    RetrieveExperiment,
    get_figure,
)
from swarm_bench.runtime.workspaces.omissions import sentences_on

_SCORES = ("recall_1", "recall_5", "recall_10", "reciprocal_rank", "ndcg_10")
_SHOWN = (*_SCORES, "files", "tokens", "empty", "failed")
_COMPARED = ("recall_5", "recall_10", "reciprocal_rank", "ndcg_10")
_HEADERS = (
    *("Mode", "recall@1", "recall@5", "recall@10", "MRR", "nDCG@10", "Files", "Tokens"),
    *("Recall per 1,000 tokens", "Empty", "Failed", "Median time", "p95 time"),
)
_ON_TERMINAL = ("recall@5", "recall@10", "MRR", "Tokens", "Median time")
_IN_FORM: dict[Form, str] = {"sentence": "sentences", "keywords": "keywords"}
_TITLES: dict[Form, str] = {"sentence": "Asked in a sentence", "keywords": "Asked in keywords"}


def document(answers: Answers) -> Document:
    """Lay out what the session says. Any session has a summary, an empty one too."""
    about = About(title=f"{RETRIEVE.title} Summary", banner=None, head=_head(answers.experiment))
    items = tuple(headline(answers))
    warned = tuple(case_warnings(answers))
    tables = [_table(answers, form) for form in answers.forms]
    opening = Opening(
        headline=(
            *map(paragraph, exploratory(answers.experiment)),
            *((AnswersBlock(items=items),) if items else ()),
            *map(paragraph, about_plain(answers)),
        ),
        warnings=warned,
        gravest=(*extended(answers), *warned, *case_clauses(answers)),
        table=tables[0] if tables else None,
        more=tuple(tables[1:]),
        tables=(_both_forms(answers),) if tables else (),
        aside=_of_the_best(answers),
        notes=(*_notes(answers.experiment), *extended(answers)),
    )
    return summary(about, opening, _details(answers))


def _head(experiment: RetrieveExperiment) -> tuple[tuple[Fact, ...], ...]:
    repository = experiment.repository
    commit = f" at {repository.commit[:12]}" if repository.commit else ", a plain folder"
    programs = [f"{name}: {it.label}" for name, it in experiment.retrieval.items()]
    order = [f"run {run}: {', '.join(arms)}" for run, arms in enumerate(experiment.order, start=1)]
    lines = [
        [("Repository", f"{repository.path}{commit} ({amount(repository.files, 'file')})")],
        [
            ("Tasks", f"{experiment.suite}, {len(experiment.tasks)} with keys"),
            ("Questions", str(len(experiment.cases))),
            ("Runs", str(experiment.runs)),
        ],
        *([("Tasks made", made)] for made in [experiment.made] if made),
        [("Tools", "; ".join(programs) or "none")],
    ]
    return facts_of(experiment, lines, listed(order))


def _details(answers: Answers) -> Iterator[Section]:
    yield from filter(None, [missed_section(_missed_tasks(answers))])
    yield from _differences(answers)
    yield _preparation(answers)
    yield from _by_tag(answers)
    yield _reading(answers)


def _notes(experiment: RetrieveExperiment) -> Iterator[str]:
    for sentence in sentences_on(experiment.repository):
        yield f"Of the repository: {sentence}."
    for name, searching in experiment.searching.items():
        if searching.recognised:
            yield (
                f"{name}: its mode file does not say how it is searched; the tool "
                f"{searching.tool} was recognised by its schema and asked, and every path in its "
                "answers counts."
            )
    if experiment.omitted_tasks:
        yield (
            f"{amount(experiment.omitted_tasks, 'task')} of {experiment.suite} without files in "
            "an answer key: not asked, since nothing could be scored."
        )
    if without := sum(not task.keywords for task in experiment.tasks):
        yield f"{amount(without, 'task')} without keywords: asked in a sentence only."
    tasks = cases_of(experiment.tasks, experiment.repository.clean_commit).size
    yield from about_worth(tasks, experiment.beforehand)
    if commits := {task.commit for task in experiment.tasks if task.commit}:
        yield (
            f"{sum(bool(task.commit) for task in experiment.tasks)} of "
            f"{amount(len(experiment.tasks), 'task')} name a commit, "
            f"{'the same one' if len(commits) == 1 else f'{len(commits)} in all'}: they were asked "
            "in a workspace of it, with an index of its own."
        )


def _table(answers: Answers, form: Form) -> Section:
    rows = tuple(_row(answers, arm, form) for arm in answers.experiment.arms)
    grid = Grid(headers=_HEADERS, labels=1, rows=rows, about=_over(answers, form))
    return Section(title=_TITLES[form], blocks=(grid,))


def _both_forms(answers: Answers) -> Grid:
    """Make the table of a terminal: the modes in each form, with the figures that fit there."""
    shown = tuple(dict.fromkeys((answers.main.title, *_ON_TERMINAL)))
    rows = tuple(
        (arm, _IN_FORM[form], *(row[_HEADERS.index(header)] for header in shown))
        for arm in answers.experiment.arms
        for form in answers.forms
        for row in [_row(answers, arm, form)]
    )
    overs = {form: _over(answers, form) for form in answers.forms}
    several = len({*overs.values()}) > 1
    parts = (f"{over} in {_IN_FORM[form]}" if several else over for form, over in overs.items())
    over = "; ".join(dict.fromkeys(parts))
    tools = frozenset(at for at, (arm, *_) in enumerate(rows) if arm not in SEARCHES)
    headers = ("Mode", "Asked in", *shown)
    return Grid(headers=headers, labels=2, rows=rows, about=over, marked=tools)


def _over(answers: Answers, form: Form) -> str:
    """Say what the figures are means over."""
    tasks = amount(answers.number_of_tasks(form), "task")
    return f"Means over {tasks} and {amount(answers.experiment.runs, 'run')}"


def _reading(answers: Answers) -> Section:
    how = (
        "Means over all questions, by the weights of their tasks: an answer that is empty or "
        "failed has found nothing, and its recall is 0. Recall per 1,000 tokens is the mean recall "
        "of all files that are named, divided by the mean tokens. Median and p95 are the times of "
        "calls that did not fail, without the first one to each server. metrics.jsonl has a line "
        "for each answer."
    )
    shown = definitions(answers.metrics.named(_SHOWN))
    return Section(title="How to read the tables", blocks=(paragraph(how), *shown))


def _row(answers: Answers, arm: str, form: Form) -> tuple[Cell, ...]:
    records = answers.of(arm, form)
    recall, tokens = answers.mean(records, "recall"), answers.mean(records, "tokens")
    dense = recall / tokens * 1000 if recall is not None and tokens else None
    answered = [record for record in records if not get_figure(record, "failed")]
    later = values(answered, "later_seconds")
    return (
        arm,
        *(_value(answers.mean(records, key), Style.FRACTION) for key in _SCORES),
        _value(answers.mean(records, "files"), Style.AVERAGE),
        _value(tokens if tokens is None else round(tokens), Style.WHOLE),
        _value(dense, Style.FRACTION),
        *(_value(_number(records, key), Style.WHOLE) for key in ("empty", "failed")),
        _value(middle(later), Style.MILLISECONDS),
        _value(p95(later), Style.MILLISECONDS),
    )


def _number(records: Sequence[CaseRecord], key: str) -> float | None:
    counted = values(records, key)
    return sum(counted) if counted else None


def _preparation(answers: Answers) -> Section:
    """Make the section of what comes before the answers."""
    rows = []
    for arm in answers.experiment.arms:
        records = answers.of(arm)
        index, size = values(records, "index_seconds"), values(records, "index_bytes")
        rows.append(
            (
                arm,
                _value(middle(index), Style.SECONDS) if index or not records else None,
                _value(_megabytes(size), Style.AVERAGE) if size or not records else None,
                _value(middle(values(records, "first_seconds")), Style.MILLISECONDS),
            )
        )
    how = (
        "Index is what preparing the tool took, and MB what that added to the workspace and to the "
        "home of the servers; - where nothing is prepared. First call is the first one to a server "
        "after its start, whatever became of it. All are medians over runs, commits and starts."
    )
    grid = Grid(headers=("Mode", "Index", "Index MB", "First call"), labels=1, rows=tuple(rows))
    return Section(title="Index and first call", blocks=(grid, paragraph(how)))


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
    metrics = answers.metrics.named(dict.fromkeys([answers.main.key, *_COMPARED]))
    rows = tuple(
        (
            f"{metric.title} {ASKED[form]}",
            *(_against_plain(answers, arm, metric, form) for arm in others),
        )
        for form in answers.forms
        for metric in metrics
    )
    headers = ("Difference (95 % interval)", *others)
    legend = (
        f"Each mode minus {PLAIN}, task by task: the mean over the tasks that both answered, in "
        f"whatever runs, each task once. Only {answers.main.title} has a verdict; everything else "
        "is exploratory: among so many intervals, some lie on one side of 0 by chance."
    )
    blocks = (Grid(headers=headers, labels=1, rows=rows), paragraph(legend))
    yield Section(title=f"Against {PLAIN}", blocks=blocks)


def _against_plain(answers: Answers, arm: str, metric: Metric, form: Form) -> Cell:
    pairs = answers.pairs_in(arm, PLAIN, metric.key, form)
    change = subtract(pairs, answers.experiment.margin)
    return difference(change, answers.number_of_tasks(form))


def _by_tag(answers: Answers) -> Iterator[Section]:
    """Make the section of what was found of each kind of task, where they differ."""
    arms = answers.experiment.arms
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            f"{', '.join(tags)} {ASKED[form]}",
            _value(len(tasks), Style.WHOLE),
            *(
                _value(answers.mean(answers.of(arm, form, tasks), answers.main.key), Style.FRACTION)
                for arm in arms
            ),
        )
        for form in answers.forms
        for tasks, tags in answers.by_tag().items()
    )
    if rows:
        grid = Grid(headers=("Tag", "Tasks", *arms), labels=1, rows=rows)
        yield Section(title=f"{answers.main.title} by tag", blocks=(grid,))


def _missed_tasks(answers: Answers) -> tuple[Missed, ...]:
    """Return what each mode missed in each form, by what modes are compared by."""
    return tuple(_missed(answers))


def _of_the_best(answers: Answers) -> Text:
    """Say what was missed most by the mode that finds most beside the plain search."""
    arms = answers.experiment.arms
    means = {
        arm: mean
        for arm in arms
        if arm != PLAIN and (mean := answers.mean(answers.of(arm), answers.main.key)) is not None
    }
    best = max(means, key=lambda arm: means[arm], default=None)
    return most_missed(_missed_tasks(answers), [arm for arm in arms if arm != best])


def _missed(answers: Answers) -> Iterator[Missed]:
    several = len(answers.forms) > 1
    arms = sorted(answers.experiment.arms, key=lambda arm: arm == PLAIN)
    for form in answers.forms:
        asked = (task for task, of in answers.questions.values() if of == form)
        titles = {task.id: task.title or task.id for task in asked}
        figures = {arm: answers.by_task(arm, answers.main.key, form) for arm in arms}
        yield from missed(figures, titles, ASKED[form] if several else "")

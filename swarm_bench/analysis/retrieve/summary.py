"""The summary of `retrieve`, as a document: what each mode found, beside plain searches."""

from collections.abc import Iterator, Sequence

from swarm_bench.analysis.cases.caveats import describe_extension, warn_exploratory
from swarm_bench.analysis.cases.summary import list_case_warnings, make_facts
from swarm_bench.analysis.comparison.ratios import subtract
from swarm_bench.analysis.documents.blocks import make_definitions, make_difference, paragraph
from swarm_bench.analysis.documents.opening import Opening, make_summary
from swarm_bench.analysis.documents.shown_trials import mark_named
from swarm_bench.analysis.missed_tasks import describe_most_missed, find_missed, make_missed_section
from swarm_bench.analysis.retrieve.caveats import FORM_PHRASES, KINDS
from swarm_bench.analysis.retrieve.figures import Answers, compute_middle, compute_p95, list_values
from swarm_bench.analysis.retrieve.headline import SEARCHES, describe_missing_plain, make_headline
from swarm_bench.analysis.retrieve.pictures import make_rank_chart, make_recall_chart
from swarm_bench.analysis.statistics.changes import explain_worth
from swarm_bench.analysis.statistics.pairing import make_cases
from swarm_bench.analysis.wording import list_few, lowercase, quantify
from swarm_bench.core.metric import Metric, Style
from swarm_bench.core.report.document import (
    Answer,
    Cell,
    Document,
    Fact,
    Grid,
    Picture,
    Section,
    Text,
    Value,
)
from swarm_bench.core.report.document import Answers as AnswersBlock
from swarm_bench.core.report.pictures import make_picture
from swarm_bench.core.report.report import Missed
from swarm_bench.core.report.standing import list_clauses
from swarm_bench.core.session.cases import CaseRecord
from swarm_bench.core.session.designs import RETRIEVE
from swarm_bench.core.session.retrieving import (
    PLAIN,
    Form,
    RetrieveExperiment,
    get_figure,
)
from swarm_bench.core.session.tasks import relevant_files
from swarm_bench.runtime.workspaces.omissions import sentences_on

_SCORES = ("recall_1", "recall_5", "recall_10", "reciprocal_rank", "ndcg_10")
_DEFINED_METRICS = (*_SCORES, "files", "tokens", "empty", "failed")
_COMPARED_METRICS = ("recall_5", "recall_10", "reciprocal_rank", "ndcg_10")
_HEADERS = (
    *("Mode", "recall@1", "recall@5", "recall@10", "MRR", "nDCG@10", "Files", "Tokens"),
    *("Recall per 1,000 tokens", "Empty", "Failed", "Median time", "p95 time"),
)
_ON_TERMINAL = ("recall@5", "recall@10", "MRR", "Tokens", "Median time")
_IN_FORM: dict[Form, str] = {"sentence": "sentences", "keywords": "keywords"}
_TITLES: dict[Form, str] = {"sentence": "Asked in a sentence", "keywords": "Asked in keywords"}


class ComparedSearches(Answers):
    """A session of `retrieve`."""

    kinds = KINDS

    @property
    def answers(self) -> tuple[Answer, ...]:
        return tuple(make_headline(self))

    @property
    def document(self) -> Document:
        return make_document(self)

    def list_facts(self, record: CaseRecord) -> Iterator[tuple[str, str]]:
        """Yield the rank of the first right file."""
        share = get_figure(record, "reciprocal_rank")
        if share is not None:
            yield "rank of the first right file", f"{1 / share:.0f}" if share else "none is named"

    def check_key(self, record: CaseRecord) -> Iterator[tuple[str, bool]]:
        """Yield the right files. The answer is read as one of an agent: patterns of a mode file are
        not run, as whoever made the session wrote them."""
        task, _ = self.questions[record.case]
        recall = get_figure(record, "recall")
        return mark_named(relevant_files(task), recall, record.answer or "")


def make_document(answers: Answers) -> Document:
    """Lay out what the session says. Any session has a summary, an empty one too."""
    items = tuple(make_headline(answers))
    warnings = tuple(list_case_warnings(answers))
    tables = [_make_table(answers, form) for form in answers.forms]
    opening = Opening(
        title=f"{RETRIEVE.title} Summary",
        head=_make_head(answers),
        headline=(
            *map(paragraph, warn_exploratory(answers)),
            *((AnswersBlock(items=items, size=answers.size),) if items else ()),
            *map(paragraph, describe_missing_plain(answers)),
        ),
        warnings=warnings,
        gravest=(*describe_extension(answers), *warnings, *list_clauses(answers.all_caveats)),
        table=tables[0] if tables else None,
        further_sections=tuple(tables[1:]),
        tables=(_make_terminal_table(answers),) if tables else (),
        aside=_describe_best(answers),
        notes=(*_list_notes(answers.experiment), *describe_extension(answers)),
    )
    return make_summary(opening, _make_details(answers))


def _make_head(answers: Answers) -> tuple[tuple[Fact, ...], ...]:
    experiment = answers.experiment
    repository = experiment.repository
    commit = f" at {repository.commit[:12]}" if repository.commit else ", a plain folder"
    programs = [f"{name}: {program.label}" for name, program in experiment.retrieval.items()]
    order = [f"run {run}: {', '.join(arms)}" for run, arms in enumerate(experiment.order, start=1)]
    lines = [
        [("Repository", f"{repository.path}{commit} ({quantify(repository.files, 'file')})")],
        [
            ("Tasks", f"{experiment.suite}, {len(experiment.tasks)} with keys"),
            ("Questions", str(len(experiment.cases))),
            ("Runs", str(experiment.runs)),
        ],
        *([("Tasks made", recipe)] for recipe in [experiment.made] if recipe),
        [("Tools", "; ".join(programs) or "none")],
    ]
    return make_facts(answers, lines, list_few(order))


def _make_details(answers: Answers) -> Iterator[Section]:
    yield from filter(None, [make_missed_section(_list_missed(answers))])
    yield from _make_differences(answers)
    yield _make_preparation(answers)
    yield from _make_tags(answers)
    yield _explain_tables(answers)


def _list_notes(experiment: RetrieveExperiment) -> Iterator[str]:
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
            f"{quantify(experiment.omitted_tasks, 'task')} of {experiment.suite} without files in "
            "an answer key: not asked, since nothing could be scored."
        )
    if without := sum(not task.keywords for task in experiment.tasks):
        yield f"{quantify(without, 'task')} without keywords: asked in a sentence only."
    tasks = make_cases(experiment.tasks, experiment.repository.clean_commit).size
    yield from explain_worth(tasks, experiment.beforehand)
    if commits := {task.commit for task in experiment.tasks if task.commit}:
        yield (
            f"{sum(bool(task.commit) for task in experiment.tasks)} of "
            f"{quantify(len(experiment.tasks), 'task')} name a commit, "
            f"{'the same one' if len(commits) == 1 else f'{len(commits)} in all'}: they were asked "
            "in a workspace of it, with an index of its own."
        )


def _make_table(answers: Answers, form: Form) -> Section:
    rows = tuple(_make_row(answers, arm, form) for arm in answers.experiment.arms)
    grid = Grid(headers=_HEADERS, labels=1, rows=rows, about=_describe_cases(answers, form))
    return Section(title=_TITLES[form], blocks=(grid, *_draw_form(answers, form)))


def _draw_form(answers: Answers, form: Form) -> Iterator[Picture]:
    """Yield the pictures of what was asked in a form."""
    number = answers.forms.index(form) + 1
    phrase = lowercase(_TITLES[form])
    if ranks := make_rank_chart(answers, form, phrase):
        yield make_picture(f"ranks-{number}", ranks)
    if recall := make_recall_chart(answers, form, phrase):
        yield make_picture(f"recall-{number}", recall)


def _make_terminal_table(answers: Answers) -> Grid:
    """Make the table of a terminal: the modes in each form, with the figures that fit there."""
    columns = tuple(dict.fromkeys((answers.main.title, *_ON_TERMINAL)))
    rows = tuple(
        (arm, _IN_FORM[form], *(row[_HEADERS.index(header)] for header in columns))
        for arm in answers.experiment.arms
        for form in answers.forms
        for row in [_make_row(answers, arm, form)]
    )
    overs = {form: _describe_cases(answers, form) for form in answers.forms}
    has_several = len({*overs.values()}) > 1
    parts = (f"{over} in {_IN_FORM[form]}" if has_several else over for form, over in overs.items())
    over = "; ".join(dict.fromkeys(parts))
    tools = frozenset(at for at, (arm, *_) in enumerate(rows) if arm not in SEARCHES)
    headers = ("Mode", "Asked in", *columns)
    return Grid(headers=headers, labels=2, rows=rows, about=over, marked=tools)


def _describe_cases(answers: Answers, form: Form) -> str:
    """Say what the figures are means over."""
    tasks = quantify(answers.count_tasks(form), "task")
    return f"Means over {tasks} and {quantify(answers.experiment.runs, 'run')}"


def _explain_tables(answers: Answers) -> Section:
    how = (
        "Means over all questions, by the weights of their tasks: an answer that is empty or "
        "failed has found nothing, and its recall is 0. Recall per 1,000 tokens is the mean recall "
        "of all files that are named, divided by the mean tokens. Median and p95 are the times of "
        "calls that did not fail, without the first one to each server. metrics.jsonl has a line "
        "for each answer."
    )
    metric_definitions = make_definitions(answers.metrics.named(_DEFINED_METRICS))
    return Section(title="How to read the tables", blocks=(paragraph(how), *metric_definitions))


def _make_row(answers: Answers, arm: str, form: Form) -> tuple[Cell, ...]:
    records = answers.select_records(arm, form)
    recall, tokens = (
        answers.compute_mean(records, "recall"),
        answers.compute_mean(records, "tokens"),
    )
    dense = recall / tokens * 1000 if recall is not None and tokens else None
    successful = [record for record in records if not get_figure(record, "failed")]
    later = list_values(successful, "later_seconds")
    return (
        arm,
        *(_make_value(answers.compute_mean(records, key), Style.FRACTION) for key in _SCORES),
        _make_value(answers.compute_mean(records, "files"), Style.AVERAGE),
        _make_value(tokens if tokens is None else round(tokens), Style.WHOLE),
        _make_value(dense, Style.FRACTION),
        *(_make_value(_add_up(records, key), Style.WHOLE) for key in ("empty", "failed")),
        _make_value(compute_middle(later), Style.MILLISECONDS),
        _make_value(compute_p95(later), Style.MILLISECONDS),
    )


def _add_up(records: Sequence[CaseRecord], key: str) -> float | None:
    figures = list_values(records, key)
    return sum(figures) if figures else None


def _make_preparation(answers: Answers) -> Section:
    """Make the section of what comes before the answers."""
    rows = []
    for arm in answers.experiment.arms:
        records = answers.select_records(arm)
        index, size = list_values(records, "index_seconds"), list_values(records, "index_bytes")
        rows.append(
            (
                arm,
                _make_value(compute_middle(index), Style.SECONDS) if index or not records else None,
                _make_value(_format_megabytes(size), Style.AVERAGE)
                if size or not records
                else None,
                _make_value(
                    compute_middle(list_values(records, "first_seconds")), Style.MILLISECONDS
                ),
            )
        )
    how = (
        "Index is what preparing the tool took, and MB what that added to the workspace and to the "
        "home of the servers; - where nothing is prepared. First call is the first one to a server "
        "after its start, whatever became of it. All are medians over runs, commits and starts."
    )
    grid = Grid(headers=("Mode", "Index", "Index MB", "First call"), labels=1, rows=tuple(rows))
    return Section(title="Index and first call", blocks=(grid, paragraph(how)))


def _format_megabytes(sizes: list[float]) -> float | None:
    size = compute_middle(sizes)
    return None if size is None else size / 1e6


def _make_value(value: float | None, style: Style) -> Value:
    return Value(scale=style, value=value)


def _make_differences(answers: Answers) -> Iterator[Section]:
    """Make the section that holds each mode against the plain search."""
    arms = answers.experiment.arms
    other_arms = [arm for arm in arms if arm != PLAIN]
    if PLAIN not in arms or not other_arms:
        return
    metrics = answers.metrics.named(dict.fromkeys([answers.main.key, *_COMPARED_METRICS]))
    rows = tuple(
        (
            f"{metric.title} {FORM_PHRASES[form]}",
            *(_compare_with_plain(answers, arm, metric, form) for arm in other_arms),
        )
        for form in answers.forms
        for metric in metrics
    )
    headers = ("Difference (95 % interval)", *other_arms)
    legend = (
        f"Each mode minus {PLAIN}, task by task: the mean over the tasks that both answered, in "
        f"whatever runs, each task once. Only {answers.main.title} has a verdict; everything else "
        "is exploratory: among so many intervals, some lie on one side of 0 by chance."
    )
    blocks = (Grid(headers=headers, labels=1, rows=rows), paragraph(legend))
    yield Section(title=f"Against {PLAIN}", blocks=blocks)


def _compare_with_plain(answers: Answers, arm: str, metric: Metric, form: Form) -> Cell:
    pairs = answers.pair_modes(arm, PLAIN, metric.key, form)
    change = subtract(pairs, answers.experiment.margin)
    return make_difference(change, answers.count_tasks(form))


def _make_tags(answers: Answers) -> Iterator[Section]:
    """Make the section of what was found of each kind of task, where they differ."""
    arms = answers.experiment.arms
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            f"{', '.join(tags)} {FORM_PHRASES[form]}",
            _make_value(len(tasks), Style.WHOLE),
            *(
                _make_value(
                    answers.compute_mean(
                        answers.select_records(arm, form, tasks), answers.main.key
                    ),
                    Style.FRACTION,
                )
                for arm in arms
            ),
        )
        for form in answers.forms
        for tasks, tags in answers.group_by_tag().items()
    )
    if rows:
        grid = Grid(headers=("Tag", "Tasks", *arms), labels=1, rows=rows)
        yield Section(title=f"{answers.main.title} by tag", blocks=(grid,))


def _list_missed(answers: Answers) -> tuple[Missed, ...]:
    """Return what each mode missed in each form, by what modes are compared by."""
    return tuple(_find_missed(answers))


def _describe_best(answers: Answers) -> Text:
    """Say what was missed most by the mode that finds most beside the plain search."""
    arms = answers.experiment.arms
    means = {
        arm: mean
        for arm in arms
        if arm != PLAIN
        and (mean := answers.compute_mean(answers.select_records(arm), answers.main.key))
        is not None
    }
    best = max(means, key=lambda arm: means[arm], default=None)
    return describe_most_missed(_list_missed(answers), [arm for arm in arms if arm != best])


def _find_missed(answers: Answers) -> Iterator[Missed]:
    has_several = len(answers.forms) > 1
    arms = sorted(answers.experiment.arms, key=lambda arm: arm == PLAIN)
    for form in answers.forms:
        tasks = (
            task for task, question_form in answers.questions.values() if question_form == form
        )
        titles = {task.id: task.title or task.id for task in tasks}
        figures = {arm: answers.group_by_task(arm, answers.main.key, form) for arm in arms}
        yield from find_missed(figures, titles, FORM_PHRASES[form] if has_several else "")

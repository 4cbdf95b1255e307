"""Makes a task file of a repository, and says what became of what was looked at."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from math import ceil
from pathlib import Path
from shlex import quote

from swarm_bench.analysis.documents.blocks import paragraph
from swarm_bench.analysis.wording import quantify
from swarm_bench.app.tasks.checking import (
    SAME_FILE,
    build_kind_table,
    build_omitted_section,
    describe_shortage,
    describe_worth,
    find_commit,
    is_shallow,
    measure_difficulties,
    suggest_remedy,
    tells_nothing,
)
from swarm_bench.app.tasks.questions import Writer, create_writer, plan_questions, write_questions
from swarm_bench.config.addresses import remove_logins
from swarm_bench.core.errors import UsageError
from swarm_bench.core.report.document import Block, Document, Fact, RenderedDocument, Section
from swarm_bench.core.session.tasks import Task
from swarm_bench.datasets.difficulty import Difficulty
from swarm_bench.datasets.making.kinds import (
    ANSWER_FORMAT,
    CHANGES,
    KINDS,
    Source,
    count_excluded_by_files,
    count_unnamed,
    make,
    passages_of,
)
from swarm_bench.datasets.making.made import POOL, GeneratedTasks, hard_first, interleave, pick
from swarm_bench.datasets.making.passages import QUESTIONS
from swarm_bench.datasets.suites import LARGEST, TaskFile, write_suite
from swarm_bench.reports.markdown import write_document, write_lines
from swarm_bench.runtime.files import find_writable_path, remove, write_whole
from swarm_bench.runtime.workspaces.checkout import (
    FETCHING,
    count_missing_objects,
    refuse_missing_objects,
)
from swarm_bench.runtime.workspaces.objects import Objects

Tell = Callable[[str], None]
_OPTIONS = "Add the options of your session: --modes, --agent, --model."
PER_KIND = 30
ALL_KINDS = "all"
"""Word for all kinds."""


@dataclass(frozen=True, kw_only=True)
class TaskRequest:
    """Options of a call of `tasks make`."""

    repo: Path
    kind: str
    count: int | None = None
    """Number in all; `None`: thirty of each kind."""
    seed: int
    since: date | None = None
    commit: str | None = None
    parents: bool = False
    per_file: int = 1
    output: Path | None = None
    force: bool
    model: str | None = None
    """Model that writes questions."""
    max_cost: float | None = None
    plan: bool = False

    @property
    def kinds(self) -> tuple[str, ...]:
        return KINDS if self.kind == ALL_KINDS else (self.kind,)

    @property
    def number(self) -> int:
        """How many tasks are wanted, of all kinds."""
        return self.count or PER_KIND * len(self.kinds)

    @property
    def pool(self) -> int:
        """Number of tasks of each kind to choose from: one kind may have to give them all."""
        return max(self.number, POOL * ceil(self.number / len(self.kinds)))

    @property
    def file(self) -> Path:
        return self.output or Path("tasks") / f"{self.repo.resolve().name or 'made'}.yaml"


def make_tasks(request: TaskRequest, tell: Tell, count: Tell) -> RenderedDocument:
    """Make the tasks, write their file, and return what was made and omitted. `count` is told
    how far it is, which changes often. Raises `UsageError` when nothing can be made, or the
    file exists; `HarnessError` for a repository that git cannot read."""
    target = find_writable_path(request.output) if request.output else request.file
    _check_file(request, target)
    writer = _create_writer(request, target)
    commit = find_commit(request.repo, request.commit)
    refuse_missing_objects(request.repo, [commit])
    with Objects(request.repo) as objects:
        source = Source(
            objects=objects,
            repository=request.repo,
            commit=commit,
            tree=objects.tree(commit),
            count=request.pool,
            seed=request.seed,
            since=request.since,
            on_commit=not request.parents,
        )
        if writer and request.plan:
            return write_lines(plan_questions(writer, passages_of(source), request.number))
        pools, hard = _make_pools(request, source, writer, tell, count)
        notes = tuple(_note_gaps(request, source))
        file = _build_file(request, commit, pools)
        if not file.tasks:
            raise UsageError(_describe_failure(request, pools, notes))
        cure = suggest_remedy(request.number, pools)
        worth_blocks = (*describe_worth(objects, file.tasks, commit, hard, cure),)
    text = write_suite(file).encode()
    if len(text) > LARGEST:
        raise UsageError(
            f"{len(file.tasks):,} tasks make a file larger than {LARGEST // 1024} KiB, which is "
            "not read; lower --count"
        )
    write_whole(target, text)
    if writer:
        remove(writer.journal)
    return write_document(_build_page(request, commit, pools, worth_blocks, notes))


def _check_options(request: TaskRequest) -> None:
    """Refuse options of a kind that is not asked for. Raises `UsageError`."""
    of_changes = {"since": request.since, "parents": request.parents}
    of_questions = {"model": request.model, "max-cost": request.max_cost, "plan": request.plan}
    for kind, does, options in (
        (CHANGES, "is about commits", of_changes),
        (QUESTIONS, "asks a model that may cost something", of_questions),
    ):
        flags = [f"--{name}" for name, value in options.items() if value]
        if flags and kind not in request.kinds:
            raise UsageError(
                f"{flags[0]}: only --kind {kind} {does}; omit it, or give --kind {kind}"
            )


def _create_writer(request: TaskRequest, target: Path) -> Writer | None:
    """Return who writes questions; `None` where fixed rules make the tasks. Raises `UsageError`."""
    _check_options(request)
    if request.kind != QUESTIONS:
        return None
    journal = target.with_name(f"{target.name}.asked")
    return create_writer(request.model, request.max_cost, journal, is_asked=not request.plan)


def _make_pools(
    request: TaskRequest, source: Source, writer: Writer | None, tell: Tell, count: Tell
) -> tuple[dict[str, GeneratedTasks], dict[str, Difficulty]]:
    """Make tasks of each kind, hard ones first, and say how hard they are."""
    tasks_per_file, pools, hard = (
        Counter[str](),
        dict[str, GeneratedTasks](),
        dict[str, Difficulty](),
    )
    ordered = dict[str, list[Task]]()
    for kind in request.kinds:
        tell(f"{kind}: reading {request.repo}")
        if writer:
            pool = write_questions(writer, passages_of(source), request.number, tell)
        else:
            pool = make(kind, replace(source, looked=partial(_count, count, kind)))
        tasks = list(pool.tasks)
        if request.parents:  # an index for each commit: of those only that are asked about
            tasks = pick(tasks, request.number, tasks_per_file.copy(), request.per_file)
        count(f"{kind}: searching for the answers of {quantify(len(tasks), 'task')}")
        hard.update(measure_difficulties(source.objects, tasks, source.commit))
        pools[kind], ordered[kind] = pool, hard_first(tasks, lambda task: hard[task.id].is_hard)
    picked = pick(interleave(ordered.values()), request.number, tasks_per_file, request.per_file)
    is_short, ids = len(picked) < request.number, {task.id for task in picked}
    for kind, kind_tasks in ordered.items():
        kept_tasks = tuple(task for task in kind_tasks if task.id in ids)
        pools[kind] = _keep_only(pools[kind], kept_tasks, is_short=is_short)
    return pools, hard


def _keep_only(pool: GeneratedTasks, tasks: tuple[Task, ...], *, is_short: bool) -> GeneratedTasks:
    """Keep what was picked, and count why there are no more, where there are too few."""
    dropped = dict(pool.dropped)
    if is_short and len(tasks) < len(pool.tasks):
        dropped[SAME_FILE] = len(pool.tasks) - len(tasks)
    return replace(pool, tasks=tasks, dropped=dropped)


def _count(count: Tell, kind: str, number: int, total: int) -> None:
    count(f"{kind}: {number:,} of at most {total:,} looked at")


def _check_file(request: TaskRequest, target: Path) -> None:
    if target.is_dir():
        raise UsageError(f"{request.file} is a folder; give a file with --output")
    if target.exists() and not request.force:
        raise UsageError(
            f"{request.file} exists, and may have been corrected by hand; give another file with "
            "--output, or replace it with --force"
        )


def _note_gaps(request: TaskRequest, source: Source) -> Iterator[str]:
    """Yield what the repository does not give, as clauses."""
    other_languages, nameless = count_excluded_by_files(source), count_unnamed(source.tree)
    if other_languages:
        names = ", ".join(
            f"{language} ({count:,})" for language, count in sorted(other_languages.items())
        )
        yield (
            "functions and classes are read of Python, JavaScript, TypeScript, Go and Rust; source "
            f"files in other languages are asked for as files only: {names}"
        )
    if nameless:
        yield (
            "source files whose names are no UTF-8, or not on one line, are not asked about, as no "
            f"answer can write them: {nameless:,}"
        )
    if CHANGES in request.kinds and count_missing_objects(
        request.repo, [source.commit], history=True
    ):
        yield (
            f"{request.repo} is a partial clone, which lacks files of its history, so that no "
            f"changes are asked about; {FETCHING}"
        )
    if CHANGES in request.kinds and is_shallow(request.repo):
        yield (
            f"{request.repo} is a shallow clone, whose history ends early; 'git fetch --unshallow' "
            "there brings the rest"
        )


def _describe_failure(
    request: TaskRequest, pools: Mapping[str, GeneratedTasks], notes: Sequence[str]
) -> str:
    reasons = [
        f"of {kind}, {reason} ({count:,})"
        for kind, pool in pools.items()
        for reason, count in list(pool.dropped.items())[:2]
    ]
    return (
        f"No task of the kind {request.kind} could be made from {str(request.repo)!r}; "
        f"{'; '.join([*reasons, *notes]) or 'there is no source file to ask about'}; give another "
        "--kind, --since or --commit, or write tasks by hand (swarm-bench docs tasks)"
    )


def _build_file(request: TaskRequest, commit: str, pools: Mapping[str, GeneratedTasks]) -> TaskFile:
    numbers = [f"{len(pool.tasks)} {kind}" for kind, pool in pools.items() if pool.tasks]
    return TaskFile(
        description=f"Made from {request.repo.resolve().name}: {', '.join(numbers)}.",
        answer_format=ANSWER_FORMAT,
        made="; ".join(
            [_describe_command(request, commit), *(pool.how for pool in pools.values() if pool.how)]
        ),
        since=request.since,
        tasks=[task for pool in pools.values() for task in pool.tasks],
    )


def _describe_command(request: TaskRequest, commit: str) -> str:
    """Say how the tasks were made, so that the same can be made again."""
    parts = [f"--kind {request.kind} --count {request.number} --seed {request.seed}"]
    parts += [f"--since {request.since}"] if request.since else []
    parts += [f"--per-file {request.per_file}"] if request.per_file > 1 else []
    parts += ["--parents"] if request.parents else []
    parts += [f"--model {remove_logins(request.model)}"] if request.model else []
    parts += [f"--commit {commit}"] if request.commit else []
    at = "" if request.commit else f", at commit {commit}"
    return f"swarm-bench tasks make {' '.join(parts)}{at}"


def _build_page(
    request: TaskRequest,
    commit: str,
    pools: Mapping[str, GeneratedTasks],
    worth_blocks: tuple[Block, ...],
    notes: Sequence[str],
) -> Document:
    number = sum(len(pool.tasks) for pool in pools.values())
    repo, file = quote(str(request.repo)), quote(str(request.file))
    steps = [f"swarm-bench tasks check {file} --repo {repo}"]
    if not tells_nothing([task for pool in pools.values() for task in pool.tasks]):
        compare = f"swarm-bench compare --repo {repo} --tasks {file}"
        steps += [f"{compare} --plan", compare, _OPTIONS]
    remarks = describe_shortage(pools, request.number, request.per_file)
    return Document(
        title=f"{quantify(number, 'task')} in {request.file}",
        banner=None,
        head=((Fact(label="Commit", value=commit),),),
        sections=(
            Section(
                title="Made", blocks=(build_kind_table(pools), *remarks, *map(_build_remark, notes))
            ),
            Section(title="Difficulty", blocks=worth_blocks),
            *build_omitted_section(pools),
            Section(title="Next", blocks=(paragraph(*steps),)),
        ),
    )


def _build_remark(note: str) -> Block:
    return paragraph(f"{note[:1].upper()}{note[1:]}.")

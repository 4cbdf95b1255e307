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
from swarm_bench.analysis.wording import amount
from swarm_bench.app.tasks.questions import Writer, plan_questions, write_questions, writer_of
from swarm_bench.app.tasks.repository import find_commit, is_shallow
from swarm_bench.app.tasks.telling import (
    SAME_FILE,
    difficulties,
    numbers,
    omitted,
    remedy,
    shortage,
    tells_nothing,
    what_tells,
)
from swarm_bench.config.addresses import without_logins
from swarm_bench.core.errors import UsageError
from swarm_bench.core.report.document import Block, Document, Fact, Section, Written
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
from swarm_bench.datasets.making.made import GeneratedTasks
from swarm_bench.datasets.making.mixture import POOL, hard_first, interleave, pick
from swarm_bench.datasets.making.passages import QUESTIONS
from swarm_bench.datasets.suites import LARGEST
from swarm_bench.datasets.writing import TaskFile, write_suite
from swarm_bench.reports.markdown import as_lines, written
from swarm_bench.runtime.files import remove, writable_place, write_whole
from swarm_bench.runtime.workspaces.lacking import FETCHING, objects_lacking, refuse_lacking
from swarm_bench.runtime.workspaces.objects import Objects

Tell = Callable[[str], None]
_OPTIONS = "Add the options of your session: --modes, --agent, --model."
EACH = 30
EVERY = "all"
"""What a person calls all kinds."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What a person asks for."""

    repo: Path
    kind: str
    count: int | None = None
    """In all; `None`: thirty of each kind."""
    seed: int
    since: date | None = None
    commit: str | None = None
    parents: bool = False
    per_file: int = 1
    output: Path | None = None
    force: bool
    model: str | None = None
    """Who writes questions."""
    max_cost: float | None = None
    plan: bool = False

    @property
    def kinds(self) -> tuple[str, ...]:
        return KINDS if self.kind == EVERY else (self.kind,)

    @property
    def number(self) -> int:
        """How many tasks are wanted, of all kinds."""
        return self.count or EACH * len(self.kinds)

    @property
    def pool(self) -> int:
        """Of how many tasks of each kind some are chosen. One kind may have to give them all."""
        return max(self.number, POOL * ceil(self.number / len(self.kinds)))

    @property
    def file(self) -> Path:
        return self.output or Path("tasks") / f"{self.repo.resolve().name or 'made'}.yaml"


def make_tasks(wanted: Wanted, tell: Tell, count: Tell) -> Written:
    """Make the tasks, write their file, and return what was made and omitted. `count` is told
    how far it is, which changes often. Raises `UsageError` when nothing can be made, or the
    file exists; `HarnessError` for a repository that git cannot read."""
    target = writable_place(wanted.output) if wanted.output else wanted.file
    _check_file(wanted, target)
    writer = _writer(wanted, target)
    commit = find_commit(wanted.repo, wanted.commit)
    refuse_lacking(wanted.repo, [commit])
    with Objects(wanted.repo) as objects:
        source = Source(
            objects=objects,
            repository=wanted.repo,
            commit=commit,
            tree=objects.tree(commit),
            count=wanted.pool,
            seed=wanted.seed,
            since=wanted.since,
            on_commit=not wanted.parents,
        )
        if writer and wanted.plan:
            return as_lines(plan_questions(writer, passages_of(source), wanted.number))
        made, hard = _made(wanted, source, writer, tell, count)
        notes = tuple(
            _notes(wanted, count_excluded_by_files(source), count_unnamed(source.tree), commit)
        )
        file = _file(wanted, commit, made)
        if not file.tasks:
            raise UsageError(_nothing(wanted, made, notes))
        telling = (*what_tells(objects, file.tasks, commit, hard, remedy(wanted.number, made)),)
    text = write_suite(file).encode()
    if len(text) > LARGEST:
        raise UsageError(
            f"{len(file.tasks):,} tasks make a file larger than {LARGEST // 1024} KiB, which is "
            "not read; lower --count"
        )
    write_whole(target, text)
    if writer:
        remove(writer.journal)
    return written(_page(wanted, commit, made, telling, notes))


def _check_options(wanted: Wanted) -> None:
    """Refuse options of a kind that is not asked for. Raises `UsageError`."""
    of_changes = {"since": wanted.since, "parents": wanted.parents}
    of_questions = {"model": wanted.model, "max-cost": wanted.max_cost, "plan": wanted.plan}
    for kind, does, options in (
        (CHANGES, "is about commits", of_changes),
        (QUESTIONS, "asks a model that may cost something", of_questions),
    ):
        typed = [f"--{name}" for name, value in options.items() if value]
        if typed and kind not in wanted.kinds:
            raise UsageError(
                f"{typed[0]}: only --kind {kind} {does}; omit it, or give --kind {kind}"
            )


def _writer(wanted: Wanted, target: Path) -> Writer | None:
    """Return who writes questions; `None` where fixed rules make the tasks. Raises `UsageError`."""
    _check_options(wanted)
    if wanted.kind != QUESTIONS:
        return None
    journal = target.with_name(f"{target.name}.asked")
    return writer_of(wanted.model, wanted.max_cost, journal, is_asked=not wanted.plan)


def _made(
    wanted: Wanted, source: Source, writer: Writer | None, tell: Tell, count: Tell
) -> tuple[dict[str, GeneratedTasks], dict[str, Difficulty]]:
    """Make tasks of each kind, hard ones first, and say how hard they are."""
    asked, made, hard = Counter[str](), dict[str, GeneratedTasks](), dict[str, Difficulty]()
    ordered = dict[str, list[Task]]()
    for kind in wanted.kinds:
        tell(f"{kind}: reading {wanted.repo}")
        if writer:
            pool = write_questions(writer, passages_of(source), wanted.number, tell)
        else:
            pool = make(kind, replace(source, looked=partial(_count, count, kind)))
        tasks = list(pool.tasks)
        if wanted.parents:  # an index for each commit: of those only that are asked about
            tasks = pick(tasks, wanted.number, asked.copy(), wanted.per_file)
        count(f"{kind}: searching for the answers of {amount(len(tasks), 'task')}")
        hard.update(difficulties(source.objects, tasks, source.commit))
        made[kind], ordered[kind] = pool, hard_first(tasks, lambda task: hard[task.id].is_hard)
    picked = pick(interleave(ordered.values()), wanted.number, asked, wanted.per_file)
    is_short, ids = len(picked) < wanted.number, {task.id for task in picked}
    for kind, some in ordered.items():
        kept = tuple(task for task in some if task.id in ids)
        made[kind] = _with_only(made[kind], kept, is_short=is_short)
    return made, hard


def _with_only(pool: GeneratedTasks, kept: tuple[Task, ...], *, is_short: bool) -> GeneratedTasks:
    """Keep what was picked, and count why there are no more, where there are too few."""
    dropped = dict(pool.dropped)
    if is_short and len(kept) < len(pool.tasks):
        dropped[SAME_FILE] = len(pool.tasks) - len(kept)
    return replace(pool, tasks=kept, dropped=dropped)


def _count(count: Tell, kind: str, number: int, total: int) -> None:
    count(f"{kind}: {number:,} of at most {total:,} looked at")


def _check_file(wanted: Wanted, target: Path) -> None:
    if target.is_dir():
        raise UsageError(f"{wanted.file} is a folder; give a file with --output")
    if target.exists() and not wanted.force:
        raise UsageError(
            f"{wanted.file} exists, and may have been corrected by hand; give another file with "
            "--output, or replace it with --force"
        )


def _notes(wanted: Wanted, others: Mapping[str, int], nameless: int, commit: str) -> Iterator[str]:
    """Yield what the repository does not give, as clauses."""
    if others:
        names = ", ".join(f"{language} ({count:,})" for language, count in sorted(others.items()))
        yield (
            "functions and classes are read of Python, JavaScript, TypeScript, Go and Rust; source "
            f"files in other languages are asked for as files only: {names}"
        )
    if nameless:
        yield (
            "source files whose names are no UTF-8, or not on one line, are not asked about, as no "
            f"answer can write them: {nameless:,}"
        )
    if CHANGES in wanted.kinds and objects_lacking(wanted.repo, [commit], history=True):
        yield (
            f"{wanted.repo} is a partial clone, which lacks files of its history, so that no "
            f"changes are asked about; {FETCHING}"
        )
    if CHANGES in wanted.kinds and is_shallow(wanted.repo):
        yield (
            f"{wanted.repo} is a shallow clone, whose history ends early; 'git fetch --unshallow' "
            "there brings the rest"
        )


def _nothing(wanted: Wanted, made: Mapping[str, GeneratedTasks], notes: Sequence[str]) -> str:
    reasons = [
        f"of {kind}, {why} ({count:,})"
        for kind, some in made.items()
        for why, count in list(some.dropped.items())[:2]
    ]
    return (
        f"No task of the kind {wanted.kind} could be made from {str(wanted.repo)!r}; "
        f"{'; '.join([*reasons, *notes]) or 'there is no source file to ask about'}; give another "
        "--kind, --since or --commit, or write tasks by hand (swarm-bench docs tasks)"
    )


def _file(wanted: Wanted, commit: str, made: Mapping[str, GeneratedTasks]) -> TaskFile:
    numbers = [f"{len(some.tasks)} {kind}" for kind, some in made.items() if some.tasks]
    return TaskFile(
        description=f"Made from {wanted.repo.resolve().name}: {', '.join(numbers)}.",
        answer_format=ANSWER_FORMAT,
        made="; ".join([_how(wanted, commit), *(it.how for it in made.values() if it.how)]),
        since=wanted.since,
        tasks=[task for some in made.values() for task in some.tasks],
    )


def _how(wanted: Wanted, commit: str) -> str:
    """Say how the tasks were made, so that the same can be made again."""
    parts = [f"--kind {wanted.kind} --count {wanted.number} --seed {wanted.seed}"]
    parts += [f"--since {wanted.since}"] if wanted.since else []
    parts += [f"--per-file {wanted.per_file}"] if wanted.per_file > 1 else []
    parts += ["--parents"] if wanted.parents else []
    parts += [f"--model {without_logins(wanted.model)}"] if wanted.model else []
    parts += [f"--commit {commit}"] if wanted.commit else []
    at = "" if wanted.commit else f", at commit {commit}"
    return f"swarm-bench tasks make {' '.join(parts)}{at}"


def _page(
    wanted: Wanted,
    commit: str,
    made: Mapping[str, GeneratedTasks],
    telling: tuple[Block, ...],
    notes: Sequence[str],
) -> Document:
    number = sum(len(some.tasks) for some in made.values())
    repo, file = quote(str(wanted.repo)), quote(str(wanted.file))
    steps = [f"swarm-bench tasks check {file} --repo {repo}"]
    if not tells_nothing([task for some in made.values() for task in some.tasks]):
        compare = f"swarm-bench compare --repo {repo} --tasks {file}"
        steps += [f"{compare} --plan", compare, _OPTIONS]
    remarks = shortage(made, wanted.number, wanted.per_file)
    return Document(
        title=f"{amount(number, 'task')} in {wanted.file}",
        banner=None,
        head=((Fact(label="Commit", value=commit),),),
        sections=(
            Section(title="Made", blocks=(numbers(made), *remarks, *map(_remark, notes))),
            Section(title="Difficulty", blocks=telling),
            *omitted(made),
            Section(title="Next", blocks=(paragraph(*steps),)),
        ),
    )


def _remark(note: str) -> Block:
    return paragraph(f"{note[:1].upper()}{note[1:]}.")

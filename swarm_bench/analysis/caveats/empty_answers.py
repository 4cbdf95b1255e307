"""Answers with nothing in them: empty ones, error texts, and the same for every question; and those
that nobody can look at."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from swarm_bench.analysis.adherence.treated import Treated
from swarm_bench.analysis.readings import ANSWERS, TASK, column
from swarm_bench.analysis.wording import amount, places
from swarm_bench.core.report.standing import Caveat
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.treatment.tool_answers import ToolAnswers
from swarm_bench.retrieval.witnesses.treatment import is_of_server

_TELLING = 2
"""Answers of one tool of several, or different questions, from which on equal ones say something:
one search that finds nothing is a search."""
_MOST, _MANY = 0.8, 4
"""The share of different questions, and their number, from which on one answer to them says
something."""


@dataclass(frozen=True, kw_only=True)
class _Pooled:
    """The answers of one tool in all trials of a mode that count."""

    answers: int
    empty: int
    errors: int
    hidden: int
    questions: int
    """Different ones, of answers with something in them."""
    different: int
    tasks: frozenset[str]
    """In which it was asked."""

    @property
    def all_empty(self) -> bool:
        return 0 < self.answers == self.empty

    @property
    def often_empty(self) -> bool:
        """From one half on."""
        return 0 < self.answers <= 2 * self.empty

    @property
    def all_same(self) -> bool:
        """Whether all answers with something in them are equal, and were to different questions."""
        return self.different == 1 and self.questions >= _TELLING and not self.hidden


def hollow_answers(treated: Treated) -> Iterator[Caveat]:
    """Yield a caveat for each way in which the mode's tools answered without saying anything."""
    names = _retrieving(treated)
    tools = _pooled(treated, names)
    answers = sum(pooled.answers for pooled in tools.values())
    errors = sum(pooled.errors for pooled in tools.values())
    hollow = [*_empty(treated, tools), *_alike(treated, tools)]
    if errors:
        hollow.insert(0, _error_texts(treated, tools, errors, answers))
    is_void = _said_nothing(treated, names, tools)
    yield from (replace(caveat, is_void=is_void) for caveat in hollow)
    for tool, pooled in tools.items():
        if not pooled.all_same:
            yield from _mostly_alike(treated, tool)
    yield from _hidden_answers(treated, names)


def _error_texts(
    treated: Treated, tools: Mapping[str, _Pooled], errors: int, answers: int
) -> Caveat:
    """Count them, and name a file that has one: their texts are in no record."""
    of_tools = "of the tool" if len(tools) == 1 else "of its tools"
    some = f"{errors} of {amount(answers, 'answer')}"
    verb = "are error texts" if errors > 1 else "is an error text"
    erring = next(trial for trial in treated.counted if _has_error_text(trial, tools))
    run = f"run-{erring.run}/" if treated.selection.runs > 1 else ""
    file = f"{run}{erring.mode}/agent-{erring.agent}.stream.jsonl"
    return Caveat(
        qualification=f"{some} {verb}",
        warning=f"{treated.mode}: {some} {of_tools} {verb}, as in {file}.",
    )


def _has_error_text(trial: TrialRecord, tools: Collection[str]) -> bool:
    answered = trial.tool_answers or {}
    return any(answers.errors for tool, answers in answered.items() if tool in tools)


def _said_nothing(treated: Treated, names: Collection[str], tools: Mapping[str, _Pooled]) -> bool:
    """Tell whether all answers of the mode's tools are shown, and nothing is in any of them, or the
    same whatever was asked. A placebo is meant so."""
    if not tools or any(_hides_answers(trial, names) for trial in treated.used):
        return False
    telling = [it for it in tools.values() if it.answers > it.empty + it.errors]
    fixed = all(it.different == 1 and not it.hidden for it in telling)
    asked = not telling or any(
        it.all_same and len(it.tasks) >= _TELLING and not treated.ask_the_same(it.tasks)
        for it in telling
    )
    return fixed and asked and not treated.selection.is_placebo(treated.mode)


def _empty(treated: Treated, tools: Mapping[str, _Pooled]) -> Iterator[Caveat]:
    """Report empty answers of all tools together, or of each tool of several that was asked more
    than once: where it sometimes answered, of one that was asked in half of the tasks."""
    answered = {tool: pooled for tool, pooled in tools.items() if pooled.answers > pooled.errors}
    together = sum(pooled.answers for pooled in answered.values())
    empty = sum(pooled.empty for pooled in answered.values())
    tasks = frozenset[str]().union(*(pooled.tasks for pooled in answered.values()))
    some = {
        tool: pooled
        for tool, pooled in answered.items()
        if pooled.often_empty and pooled.answers >= _TELLING and len(answered) > 1
        if pooled.all_empty or 2 * len(pooled.tasks) >= len(tasks)
    }
    if answered and empty == together:
        what = f"all results were empty ({amount(together, 'answer')})"
        yield _caveat(treated, what, "the tool gave its agents nothing")
    elif some:
        for tool, pooled in some.items():
            yield _of_one(treated, tool, pooled)
    elif together and 2 * empty >= together:
        what = f"{empty} of {together} results were empty"
        yield _caveat(treated, what, "the tool often gave its agents nothing")


def _of_one(treated: Treated, tool: str, pooled: _Pooled) -> Caveat:
    if pooled.all_empty:
        what = f"all results of {tool} were empty ({amount(pooled.answers, 'answer')})"
        return _caveat(treated, what, "it gave its agents nothing")
    what = f"{pooled.empty} of {pooled.answers} results of {tool} were empty"
    return _caveat(treated, what, "it often gave its agents nothing")


def _alike(treated: Treated, tools: Mapping[str, _Pooled]) -> Iterator[Caveat]:
    for tool, pooled in tools.items():
        if pooled.all_same:
            some = f"{amount(pooled.answers, 'answer')} to different questions"
            what = f"every call of {tool} got the same answer ({some})"
            if pooled.empty or pooled.errors:
                what = f"all answers of {tool} with something in them were the same ({some})"
            yield _caveat(treated, what, "it did not answer what it was asked")


def _mostly_alike(treated: Treated, tool: str) -> Iterator[Caveat]:
    """Find one and the same answer to most of the different questions that a tool was asked in
    all trials. An answer beside others in its trial may be of a question that all ask."""
    each = ((task, of_trial.get(tool)) for task, of_trial in _shown(treated))
    shown = [(task, answers) for task, answers in each if answers and answers.different]
    alone = Counter(it.different for _, it in shown if len(it.different) == 1)
    most = alone.most_common(1)[0][0] if alone else ()
    same = [(task, it) for task, it in shown if it.different == most]
    alike = {question for _, it in same for question in it.questions}
    asked = {question for _, it in shown for question in it.questions}
    if len(alike) < max(_MANY, _MOST * len(asked)):
        return
    if not treated.ask_the_same({task for task, _ in same}):
        what = f"{len(alike)} of {len(asked)} different questions to {tool} got the same answer"
        yield _caveat(treated, what, "it hardly answered what it was asked")


def _hidden_answers(treated: Treated, names: Collection[str]) -> Iterator[Caveat]:
    """Report trials that used the tool, without an answer of it that is shown, or whose answers
    were images."""
    hidden = [trial for trial in treated.used if _hides_answers(trial, names)]
    images = [number for trial in hidden if (number := _images(trial, names))]
    unshown = [trial for trial in hidden if not _images(trial, names)]

    def some(number: int) -> str:
        all_ = len(treated.used)
        return f" in {number} of {amount(all_, 'trial')} that used them" if number < all_ else ""

    if unshown:
        what = f"what its tools answered cannot be told{some(len(unshown))}"
        meaning = "the agent does not show the results of its calls"
        yield _caveat(treated, what, f"{meaning} {places(unshown, treated.selection)}")
    if images:
        answers = amount(sum(images), "answer")
        what = f"all results{some(len(images))} were images only ({answers})"
        yield _caveat(treated, what, "nobody has looked at what is in them")


def _images(trial: TrialRecord, names: Collection[str]) -> int:
    """Count the answers of a trial, if all were images alone."""
    answered = [answers for tool, answers in (trial.tool_answers or {}).items() if tool in names]
    number = sum(answers.answers for answers in answered)
    return number if number == sum(answers.images for answers in answered) else 0


def _hides_answers(trial: TrialRecord, names: Collection[str]) -> bool:
    if trial.tool_answers is None:
        return True
    answered = [answers for tool, answers in trial.tool_answers.items() if tool in names]
    number = sum(answers.answers for answers in answered)
    if not number:  # although its transcript has calls that were answered
        return bool(trial.evidence and trial.evidence.retrieved)
    return number == sum(answers.hidden for answers in answered)


def _caveat(treated: Treated, what: str, meaning: str) -> Caveat:
    return Caveat(qualification=what, warning=f"{treated.mode}: {what}: {meaning}.")


def _pooled(treated: Treated, names: Collection[str]) -> dict[str, _Pooled]:
    by_tool: dict[str, list[ToolAnswers]] = {}
    tasks: dict[str, set[str]] = {}
    for task, of_trial in _shown(treated) if names else ():
        for tool, answers in of_trial.items():
            if tool in names:
                by_tool.setdefault(tool, []).append(answers)
                tasks.setdefault(tool, set()).add(task)
    return {tool: _sum(each, frozenset(tasks[tool])) for tool, each in sorted(by_tool.items())}


def _shown(treated: Treated) -> Iterator[tuple[str, Mapping[str, ToolAnswers]]]:
    """Yield the task and the answers, by tool, of each trial that shows any."""
    selection, mode = treated.selection, treated.mode
    columns = (column(selection, mode, read) for read in (TASK, ANSWERS))
    return ((task, answers) for task, answers in zip(*columns, strict=True) if answers)


def _retrieving(treated: Treated) -> frozenset[str]:
    """Name the tools of the mode's servers that answered, without those that do not retrieve: a
    status may well be the same in every call."""
    selection = treated.selection
    servers, experiment = selection.servers(treated.mode), selection.data.experiment
    purposes = experiment.tool_purposes.get(treated.mode, {})
    names = {tool for _, of_trial in _shown(treated) for tool in of_trial}
    return frozenset(
        tool for tool in names if is_of_server(tool, servers) and purposes.get(tool) != "other"
    )


def _sum(answers: Sequence[ToolAnswers], tasks: frozenset[str]) -> _Pooled:
    counts = ((each.answers, each.empty, each.errors, each.hidden) for each in answers)
    number, empty, errors, hidden = map(sum, zip(*counts, strict=True))
    return _Pooled(
        answers=number,
        empty=empty,
        errors=errors,
        hidden=hidden,
        questions=len(set().union(*(answer.questions for answer in answers))),
        different=len(set().union(*(answer.different for answer in answers))),
        tasks=tasks,
    )

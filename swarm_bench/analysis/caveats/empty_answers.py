"""Answers with nothing in them: empty ones, error texts, and the same for every question; and those
that cannot be examined."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from swarm_bench.analysis.mode_trials import ModeTrials
from swarm_bench.analysis.readings import ANSWERS, TASK, read_column
from swarm_bench.analysis.wording import format_places, quantify
from swarm_bench.core.report.standing import Caveat, make_caveat
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.treatment.tool_answers import ToolAnswers
from swarm_bench.retrieval.witnesses.treatment import is_of_server

_LEAST_ANSWERS = 2
"""Answers of one tool of several, or different questions, from which on equal ones say something:
one search that finds nothing is a search."""
_LEAST_SHARE, _MANY = 0.8, 4
"""The share of different questions, and their number, from which on one answer to them says
something."""


@dataclass(frozen=True, kw_only=True)
class _ToolSums:
    """The answers of one tool in all trials of a mode that count."""

    answers: int
    empty: int
    errors: int
    hidden_answers: int
    questions: int
    """Different ones, of answers with something in them."""
    different: int
    tasks: frozenset[str]
    """Tasks in which the tool was asked."""

    @property
    def all_empty(self) -> bool:
        return 0 < self.answers == self.empty

    @property
    def often_empty(self) -> bool:
        """Return whether at least half of the answers are empty."""
        return 0 < self.answers <= 2 * self.empty

    @property
    def all_same(self) -> bool:
        """Whether all answers with something in them are equal, and were to different questions."""
        return self.different == 1 and self.questions >= _LEAST_ANSWERS and not self.hidden_answers


def find_hollow_answers(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Yield a caveat for each way in which the mode's tools answered without saying anything."""
    names = _find_retrieving_tools(mode_trials)
    tools = _sum_tools(mode_trials, names)
    answers = sum(tool_sums.answers for tool_sums in tools.values())
    errors = sum(tool_sums.errors for tool_sums in tools.values())
    hollow = [*_report_empty(mode_trials, tools), *_report_same(mode_trials, tools)]
    if errors:
        hollow.insert(0, _report_error_texts(mode_trials, tools, errors, answers))
    is_void = _has_no_content(mode_trials, names, tools)
    yield from (replace(caveat, is_void=is_void) for caveat in hollow)
    for tool, tool_sums in tools.items():
        if not tool_sums.all_same:
            yield from _report_mostly_same(mode_trials, tool)
    yield from _report_hidden(mode_trials, names)


def _report_error_texts(
    mode_trials: ModeTrials, tools: Mapping[str, _ToolSums], errors: int, answers: int
) -> Caveat:
    """Count them, and name a file that has one: their texts are in no record."""
    of_tools = "of the tool" if len(tools) == 1 else "of its tools"
    count_text = f"{errors} of {quantify(answers, 'answer')}"
    verb = "are error texts" if errors > 1 else "is an error text"
    erring = next(trial for trial in mode_trials.counted_trials if _has_error_text(trial, tools))
    run = f"run-{erring.run}/" if mode_trials.selection.runs > 1 else ""
    file = f"{run}{erring.mode}/agent-{erring.agent}.stream.jsonl"
    return Caveat(
        qualification=f"{count_text} {verb}",
        warning=f"{mode_trials.mode}: {count_text} {of_tools} {verb}, as in {file}.",
    )


def _has_error_text(trial: TrialRecord, tools: Collection[str]) -> bool:
    by_tool = trial.tool_answers or {}
    return any(answers.errors for tool, answers in by_tool.items() if tool in tools)


def _has_no_content(
    mode_trials: ModeTrials, names: Collection[str], tools: Mapping[str, _ToolSums]
) -> bool:
    """Tell whether all answers of the mode's tools are shown, and nothing is in any of them, or the
    same whatever was asked. A placebo is meant so."""
    if not tools or any(_hides_answers(trial, names) for trial in mode_trials.used_trials):
        return False
    informative = [
        tool_sums
        for tool_sums in tools.values()
        if tool_sums.answers > tool_sums.empty + tool_sums.errors
    ]
    fixed = all(
        tool_sums.different == 1 and not tool_sums.hidden_answers for tool_sums in informative
    )
    has_questions = not informative or any(
        tool_sums.all_same
        and len(tool_sums.tasks) >= _LEAST_ANSWERS
        and not mode_trials.has_same_answer(tool_sums.tasks)
        for tool_sums in informative
    )
    return fixed and has_questions and not mode_trials.selection.is_placebo(mode_trials.mode)


def _report_empty(mode_trials: ModeTrials, tools: Mapping[str, _ToolSums]) -> Iterator[Caveat]:
    """Report empty answers of all tools together, or of each tool of several that was asked more
    than once: where it sometimes answered, of one that was asked in half of the tasks."""
    answered_tools = {
        tool: tool_sums for tool, tool_sums in tools.items() if tool_sums.answers > tool_sums.errors
    }
    together = sum(tool_sums.answers for tool_sums in answered_tools.values())
    empty = sum(tool_sums.empty for tool_sums in answered_tools.values())
    tasks = frozenset[str]().union(*(tool_sums.tasks for tool_sums in answered_tools.values()))
    empty_tools = {
        tool: tool_sums
        for tool, tool_sums in answered_tools.items()
        if tool_sums.often_empty and tool_sums.answers >= _LEAST_ANSWERS and len(answered_tools) > 1
        if tool_sums.all_empty or 2 * len(tool_sums.tasks) >= len(tasks)
    }
    if answered_tools and empty == together:
        clause = f"all results were empty ({quantify(together, 'answer')})"
        yield make_caveat(mode_trials.mode, clause, ": the tool gave its agents nothing.")
    elif empty_tools:
        for tool, tool_sums in empty_tools.items():
            yield _report_tool(mode_trials, tool, tool_sums)
    elif together and 2 * empty >= together:
        clause = f"{empty} of {together} results were empty"
        yield make_caveat(mode_trials.mode, clause, ": the tool often gave its agents nothing.")


def _report_tool(mode_trials: ModeTrials, tool: str, tool_sums: _ToolSums) -> Caveat:
    if tool_sums.all_empty:
        clause = f"all results of {tool} were empty ({quantify(tool_sums.answers, 'answer')})"
        return make_caveat(mode_trials.mode, clause, ": it gave its agents nothing.")
    clause = f"{tool_sums.empty} of {tool_sums.answers} results of {tool} were empty"
    return make_caveat(mode_trials.mode, clause, ": it often gave its agents nothing.")


def _report_same(mode_trials: ModeTrials, tools: Mapping[str, _ToolSums]) -> Iterator[Caveat]:
    for tool, tool_sums in tools.items():
        if tool_sums.all_same:
            count_text = f"{quantify(tool_sums.answers, 'answer')} to different questions"
            clause = f"every call of {tool} got the same answer ({count_text})"
            if tool_sums.empty or tool_sums.errors:
                clause = (
                    f"all answers of {tool} with something in them were the same ({count_text})"
                )
            yield make_caveat(mode_trials.mode, clause, ": it did not answer what it was asked.")


def _report_mostly_same(mode_trials: ModeTrials, tool: str) -> Iterator[Caveat]:
    """Find one and the same answer to most of the different questions that a tool was asked in
    all trials. An answer beside others in its trial may be of a question that all ask."""
    trial_answers = ((task, of_trial.get(tool)) for task, of_trial in _read_answers(mode_trials))
    tool_answers = [
        (task, answers) for task, answers in trial_answers if answers and answers.different
    ]
    digest_counts = Counter(
        answers.different for _, answers in tool_answers if len(answers.different) == 1
    )
    most_common = digest_counts.most_common(1)[0][0] if digest_counts else ()
    same = [(task, answers) for task, answers in tool_answers if answers.different == most_common]
    same_questions = {question for _, answers in same for question in answers.questions}
    all_questions = {question for _, answers in tool_answers for question in answers.questions}
    if len(same_questions) < max(_MANY, _LEAST_SHARE * len(all_questions)):
        return
    if not mode_trials.has_same_answer({task for task, _ in same}):
        clause = (
            f"{len(same_questions)} of {len(all_questions)} different questions to {tool} got the "
            f"same answer"
        )
        yield make_caveat(mode_trials.mode, clause, ": it hardly answered what it was asked.")


def _report_hidden(mode_trials: ModeTrials, names: Collection[str]) -> Iterator[Caveat]:
    """Report trials that used the tool, without an answer of it that is shown, or whose answers
    were images."""
    hiding_trials = [trial for trial in mode_trials.used_trials if _hides_answers(trial, names)]
    images = [number for trial in hiding_trials if (number := _count_images(trial, names))]
    unshown = [trial for trial in hiding_trials if not _count_images(trial, names)]

    def describe_share(number: int) -> str:
        all_ = len(mode_trials.used_trials)
        return f" in {number} of {quantify(all_, 'trial')} that used them" if number < all_ else ""

    if unshown:
        clause = f"what its tools answered cannot be told{describe_share(len(unshown))}"
        places = format_places(unshown, mode_trials.selection)
        remark = f": the agent does not show the results of its calls {places}."
        yield make_caveat(mode_trials.mode, clause, remark)
    if images:
        answers = quantify(sum(images), "answer")
        clause = f"all results{describe_share(len(images))} were images only ({answers})"
        yield make_caveat(mode_trials.mode, clause, ": nobody has looked at what is in them.")


def _count_images(trial: TrialRecord, names: Collection[str]) -> int:
    """Count the answers of a trial, if all were images alone."""
    tool_answers = [
        answers for tool, answers in (trial.tool_answers or {}).items() if tool in names
    ]
    number = sum(answers.answers for answers in tool_answers)
    return number if number == sum(answers.images for answers in tool_answers) else 0


def _hides_answers(trial: TrialRecord, names: Collection[str]) -> bool:
    if trial.tool_answers is None:
        return True
    tool_answers = [answers for tool, answers in trial.tool_answers.items() if tool in names]
    number = sum(answers.answers for answers in tool_answers)
    if not number:  # although its transcript has calls that were answered
        return bool(trial.evidence and trial.evidence.retrieved)
    return number == sum(answers.hidden for answers in tool_answers)


def _sum_tools(mode_trials: ModeTrials, names: Collection[str]) -> dict[str, _ToolSums]:
    by_tool: dict[str, list[ToolAnswers]] = {}
    tasks: dict[str, set[str]] = {}
    for task, of_trial in _read_answers(mode_trials) if names else ():
        for tool, answers in of_trial.items():
            if tool in names:
                by_tool.setdefault(tool, []).append(answers)
                tasks.setdefault(tool, set()).add(task)
    return {
        tool: _add_answers(tool_answers, frozenset(tasks[tool]))
        for tool, tool_answers in sorted(by_tool.items())
    }


def _read_answers(mode_trials: ModeTrials) -> Iterator[tuple[str, Mapping[str, ToolAnswers]]]:
    """Yield the task and the answers, by tool, of each trial that shows any."""
    selection, mode = mode_trials.selection, mode_trials.mode
    columns = (read_column(selection, mode, read) for read in (TASK, ANSWERS))
    return ((task, answers) for task, answers in zip(*columns, strict=True) if answers)


def _find_retrieving_tools(mode_trials: ModeTrials) -> frozenset[str]:
    """Name the tools of the mode's servers that answered, without those that do not retrieve: a
    status may well be the same in every call."""
    selection = mode_trials.selection
    servers, experiment = selection.list_servers(mode_trials.mode), selection.data.experiment
    purposes = experiment.tool_purposes.get(mode_trials.mode, {})
    names = {tool for _, of_trial in _read_answers(mode_trials) for tool in of_trial}
    return frozenset(
        tool for tool in names if is_of_server(tool, servers) and purposes.get(tool) != "other"
    )


def _add_answers(answers: Sequence[ToolAnswers], tasks: frozenset[str]) -> _ToolSums:
    counts = ((answer.answers, answer.empty, answer.errors, answer.hidden) for answer in answers)
    number, empty, errors, hidden_answers = map(sum, zip(*counts, strict=True))
    return _ToolSums(
        answers=number,
        empty=empty,
        errors=errors,
        hidden_answers=hidden_answers,
        questions=len(set().union(*(answer.questions for answer in answers))),
        different=len(set().union(*(answer.different for answer in answers))),
        tasks=tasks,
    )

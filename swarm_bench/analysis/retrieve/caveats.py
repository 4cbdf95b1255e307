"""What stands against the answers of a search: every call failed, none names a file, or all are the
same."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from swarm_bench.agents.reading.tool_answers import digest_answer
from swarm_bench.analysis.caching import once
from swarm_bench.analysis.cases.caveats import KINDS as OF_CASES
from swarm_bench.analysis.cases.session import ArmKind
from swarm_bench.analysis.caveats.clones import describe_exposed_keys, had_keys
from swarm_bench.analysis.retrieve.figures import Answers, compute_middle, list_values
from swarm_bench.analysis.wording import quantify
from swarm_bench.core.report.standing import Caveat, make_caveat
from swarm_bench.core.session.cases import CaseRecord
from swarm_bench.core.session.retrieving import Form, get_figure
from swarm_bench.core.session.tasks import AnswerKey, relevant_files
from swarm_bench.source.key_measures import ROOM, constant_recall
from swarm_bench.text.tool_results import locations

_FEW = 3
"""Answers that may begin alike by chance."""
FORM_PHRASES: dict[Form, str] = {"sentence": "in sentences", "keywords": "in keywords"}


@once
def list_form_caveats(answers: Answers, arm: str, form: Form) -> tuple[Caveat, ...]:
    """Collect what stands against the answers of a mode to one form of the questions."""
    return tuple(_find_form_caveats(answers, arm, form))


def explain_unmeasured(answers: Answers, arm: str, form: Form) -> str:
    """Say why nothing can be concluded from the answers of a mode to one form of the questions;
    empty where something can."""
    return "; ".join(
        caveat.qualification for caveat in list_form_caveats(answers, arm, form) if caveat.is_void
    )


def find_search_caveats(answers: Answers, arm: str) -> Iterator[Caveat]:
    """Yield the caveats of a mode. It can be measured where one form of the questions can, unless
    the answers in all forms are the same."""
    forms = [form for form in answers.forms if answers.select_records(arm, form)]
    by_form = {form: list_form_caveats(answers, arm, form) for form in forms}
    is_void = all(any(caveat.is_void for caveat in caveats) for caveats in by_form.values()) or (
        _are_one(answers, arm, answers.select_records(arm))
    )
    by_clause: dict[str, list[tuple[Form, Caveat]]] = {}
    for form, caveats in by_form.items():
        for caveat in caveats:
            by_clause.setdefault(caveat.qualification, []).append((form, caveat))
    for clause, same in by_clause.items():
        forms_text = " and ".join(FORM_PHRASES[form] for form, _ in same)
        yield Caveat(
            qualification=f"{forms_text}, {clause}",
            warning=f"{arm}: {forms_text}, {same[0][1].warning}",
            is_void=is_void and any(caveat.is_void for _, caveat in same),
        )


def _find_form_caveats(answers: Answers, arm: str, form: Form) -> Iterator[Caveat]:
    records = answers.select_records(arm, form)
    failed = [record for record in records if get_figure(record, "failed")]
    empty = [record for record in records if get_figure(record, "empty")]
    calls = quantify(len(records), "call")
    if failed:
        detail = " ".join((failed[0].answer or "").split())
        yield Caveat(
            qualification=f"{len(failed)} of {calls} failed",
            warning=f"{len(failed)} of {calls} failed and found nothing. The first says: {detail}",
            is_void=len(failed) == len(records),
        )
    if empty and len(empty) + len(failed) == len(records):
        questions = quantify(len(empty), "question")
        yield Caveat(
            qualification=f"no answer to {questions} names a file of the repository",
            warning=f"no answer to {questions} names a file of the repository. See "
            "in metrics.jsonl whether the tool found nothing or its mode file asks or reads it "
            "wrongly.",
            is_void=True,
        )
    if is_near_constant(answers, arm, form):
        clause = "it found hardly more than a constant list of what several questions ask for"
        yield Caveat(qualification=clause, warning=f"{clause}.")
    if _are_one(answers, arm, records):
        answer_count = len(records) - len(failed) - len(empty)
        clause = f"different questions got the same answer ({quantify(answer_count, 'answer')})"
        yield Caveat(
            qualification=clause,
            warning=f"{clause}: it did not answer what it was asked.",
            is_void=True,
        )
    elif share_text := _describe_same_start(answers, arm, records):
        clause = f"{share_text} different questions have the same wrong file first"
        yield Caveat(
            qualification=clause,
            warning=f"{clause}. See in metrics.jsonl whether the tool takes what it is asked.",
        )


def _are_one(answers: Answers, arm: str, records: Sequence[CaseRecord]) -> bool:
    """Tell whether all answers that name files name the same ones first, in whatever order, and
    questions with different keys got them. A placebo is meant so, and nothing tells of answers
    whose text is not stored."""
    informative = [
        record
        for record in records
        if not get_figure(record, "failed") and not get_figure(record, "empty")
    ]
    if answers.experiment.mode(arm).is_placebo or not all(record.answer for record in informative):
        return False
    keys, answer_files = set(), set()
    for record in informative:
        task, form = answers.questions[record.case]
        keys.add(relevant_files(task))
        question = task.prompt if form == "sentence" else task.keywords
        answer_files.add(_read_answer_files(question, record.answer or "", _count_files(answers)))
        if len(answer_files) > 1:
            return False
    return len(keys) > 1


def _describe_same_start(answers: Answers, arm: str, records: Sequence[CaseRecord]) -> str:
    """Say how many of a mode's answers name the same file first that none of their keys has; empty
    where they are fewer than half, or too few to tell."""
    first, informative_count = Counter[str](), 0
    for record in records:
        if get_figure(record, "failed") or get_figure(record, "empty"):
            continue
        informative_count += 1
        path = next((location.path for location in locations(record.answer or "", "")), None)
        key = relevant_files(answers.questions[record.case][0])
        if path is not None and not any(f"/{path}".endswith(f"/{file}") for file in key):
            first[path] += 1
    max_count = max(first.values(), default=0)
    is_placebo = answers.experiment.mode(arm).is_placebo
    return (
        f"{max_count} of {informative_count}"
        if _FEW < max_count >= informative_count / 2 and not is_placebo
        else ""
    )


def _read_answer_files(
    question: str | None, answer: str, number: int
) -> frozenset[str] | str | None:
    """Return the files that an answer names first, so many; its digest where none is recognised,
    without what it repeats of its question."""
    files = dict.fromkeys(location.path for location in locations(answer, ""))
    return frozenset(islice(files, number)) or digest_answer("search", question, answer).answer


def _count_files(answers: Answers) -> int:
    """Return how many files of an answer count in what modes are compared by: behind them, a small
    repository is in every answer."""
    cut = answers.main.key.rpartition("_")[2]
    return int(cut) if cut.isdigit() else ROOM


@once
def is_near_constant(answers: Answers, arm: str, form: Form) -> bool:
    """Tell whether a mode found hardly more than a constant list of what several questions ask for,
    of as many files as its answers typically have."""
    if not answers.main.key.startswith("recall") or answers.experiment.mode(arm).is_placebo:
        return False
    records = answers.select_records(arm, form)
    figure, length = (
        answers.compute_mean(records, answers.main.key),
        compute_middle(list_values(records, "files")),
    )
    keys = {
        task: AnswerKey(files=relevant_files(task))
        for task, question_form in answers.questions.values()
        if question_form == form
    }
    tasks = [task.model_copy(update={"key": key}) for task, key in keys.items()]
    max_files = min(_count_files(answers), math.ceil(length or 0))
    same = constant_recall(tasks, "files", shared_only=True, max_names=max_files)
    return bool(
        figure is not None and same and round(figure - same, 9) <= answers.experiment.margin
    )


def find_exposed_keys(answers: Answers, arm: str) -> Iterator[Caveat]:
    """Find searches in workspaces that had files with answer keys."""
    repository, records = answers.experiment.repository, answers.list_records(arm)
    exposed = [record for record in records if had_keys(repository, record.started_at)]
    if exposed:
        clause = describe_exposed_keys(repository, len(exposed), len(records))
        yield make_caveat(arm, clause, "; a new session has none.")


KINDS: tuple[ArmKind, ...] = (*OF_CASES, find_exposed_keys, find_search_caveats)
"""The gravest first."""

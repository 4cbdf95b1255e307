"""What stands against the answers of a search: every call failed, none names a file, or all are the
same."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from swarm_bench.agents.reading.tool_answers import digest_answer
from swarm_bench.analysis.cases.caveats import KINDS as OF_CASES
from swarm_bench.analysis.cases.session import ArmKind
from swarm_bench.analysis.caveats.clones import had_keys, with_keys
from swarm_bench.analysis.once import once
from swarm_bench.analysis.retrieve.figures import Answers, middle, values
from swarm_bench.analysis.wording import amount
from swarm_bench.core.report.standing import Caveat
from swarm_bench.core.session.cases import CaseRecord
from swarm_bench.core.session.retrieving import Form, get_figure
from swarm_bench.core.session.tasks import AnswerKey, relevant_files
from swarm_bench.models.lexical.tool_results import locations
from swarm_bench.source.constant import constant_recall
from swarm_bench.source.key_measures import ROOM

_FEW = 3
"""Answers that may begin alike by chance."""
ASKED: dict[Form, str] = {"sentence": "in sentences", "keywords": "in keywords"}


@once
def of_form(answers: Answers, arm: str, form: Form) -> tuple[Caveat, ...]:
    """Collect what stands against the answers of a mode to one form of the questions."""
    return tuple(_of_form(answers, arm, form))


def unmeasured(answers: Answers, arm: str, form: Form) -> str:
    """Say why nothing can be concluded from the answers of a mode to one form of the questions;
    empty where something can."""
    return "; ".join(it.qualification for it in of_form(answers, arm, form) if it.is_void)


def of_searches(answers: Answers, arm: str) -> Iterator[Caveat]:
    """Yield the caveats of a mode. It can be measured where one form of the questions can, unless
    the answers in all forms are the same."""
    forms = [form for form in answers.forms if answers.of(arm, form)]
    each = {form: of_form(answers, arm, form) for form in forms}
    is_void = all(any(it.is_void for it in caveats) for caveats in each.values()) or (
        _are_one(answers, arm, answers.of(arm))
    )
    alike: dict[str, list[tuple[Form, Caveat]]] = {}
    for form, caveats in each.items():
        for caveat in caveats:
            alike.setdefault(caveat.qualification, []).append((form, caveat))
    for clause, same in alike.items():
        where = " and ".join(ASKED[form] for form, _ in same)
        yield Caveat(
            qualification=f"{where}, {clause}",
            warning=f"{arm}: {where}, {same[0][1].warning}",
            is_void=is_void and any(caveat.is_void for _, caveat in same),
        )


def _of_form(answers: Answers, arm: str, form: Form) -> Iterator[Caveat]:
    records = answers.of(arm, form)
    failed = [record for record in records if get_figure(record, "failed")]
    empty = [record for record in records if get_figure(record, "empty")]
    calls = amount(len(records), "call")
    if failed:
        detail = " ".join((failed[0].answer or "").split())
        yield Caveat(
            qualification=f"{len(failed)} of {calls} failed",
            warning=f"{len(failed)} of {calls} failed and found nothing. The first says: {detail}",
            is_void=len(failed) == len(records),
        )
    if empty and len(empty) + len(failed) == len(records):
        questions = amount(len(empty), "question")
        yield Caveat(
            qualification=f"no answer to {questions} names a file of the repository",
            warning=f"no answer to {questions} names a file of the repository. See "
            "in metrics.jsonl whether the tool found nothing or its mode file asks or reads it "
            "wrongly.",
            is_void=True,
        )
    if hardly_more(answers, arm, form):
        what = "it found hardly more than a constant list of what several questions ask for"
        yield Caveat(qualification=what, warning=f"{what}.")
    if _are_one(answers, arm, records):
        telling = len(records) - len(failed) - len(empty)
        what = f"different questions got the same answer ({amount(telling, 'answer')})"
        yield Caveat(
            qualification=what,
            warning=f"{what}: it did not answer what it was asked.",
            is_void=True,
        )
    elif alike := _begin_alike(answers, arm, records):
        what = f"{alike} different questions have the same wrong file first"
        yield Caveat(
            qualification=what,
            warning=f"{what}. See in metrics.jsonl whether the tool takes what it is asked.",
        )


def _are_one(answers: Answers, arm: str, records: Sequence[CaseRecord]) -> bool:
    """Tell whether all answers that name files name the same ones first, in whatever order, and
    questions with different keys got them. A placebo is meant so, and nothing tells of answers
    whose text is not stored."""
    telling = [it for it in records if not get_figure(it, "failed") and not get_figure(it, "empty")]
    if answers.experiment.mode(arm).is_placebo or not all(record.answer for record in telling):
        return False
    keys, named = set(), set()
    for record in telling:
        task, form = answers.questions[record.case]
        keys.add(relevant_files(task))
        question = task.prompt if form == "sentence" else task.keywords
        named.add(_named(question, record.answer or "", _counted(answers)))
        if len(named) > 1:
            return False
    return len(keys) > 1


def _begin_alike(answers: Answers, arm: str, records: Sequence[CaseRecord]) -> str:
    """Say how many of a mode's answers name the same file first that none of their keys has; empty
    where they are fewer than half, or too few to tell."""
    first, telling = Counter[str](), 0
    for record in records:
        if get_figure(record, "failed") or get_figure(record, "empty"):
            continue
        telling += 1
        path = next((it.path for it in locations(record.answer or "", "")), None)
        key = relevant_files(answers.questions[record.case][0])
        if path is not None and not any(f"/{path}".endswith(f"/{file}") for file in key):
            first[path] += 1
    most = max(first.values(), default=0)
    is_placebo = answers.experiment.mode(arm).is_placebo
    return f"{most} of {telling}" if _FEW < most >= telling / 2 and not is_placebo else ""


def _named(question: str | None, answer: str, number: int) -> frozenset[str] | str | None:
    """Return the files that an answer names first, so many; its digest where none is recognised,
    without what it repeats of its question."""
    files = dict.fromkeys(it.path for it in locations(answer, ""))
    return frozenset(islice(files, number)) or digest_answer("search", question, answer).answer


def _counted(answers: Answers) -> int:
    """Return how many files of an answer count in what modes are compared by: behind them, a small
    repository is in every answer."""
    cut = answers.main.key.rpartition("_")[2]
    return int(cut) if cut.isdigit() else ROOM


@once
def hardly_more(answers: Answers, arm: str, form: Form) -> bool:
    """Tell whether a mode found hardly more than a constant list of what several questions ask for,
    of as many files as its answers typically have."""
    if not answers.main.key.startswith("recall") or answers.experiment.mode(arm).is_placebo:
        return False
    records = answers.of(arm, form)
    own, length = answers.mean(records, answers.main.key), middle(values(records, "files"))
    keys = {
        task: AnswerKey(files=relevant_files(task))
        for task, of in answers.questions.values()
        if of == form
    }
    tasks = [task.model_copy(update={"key": key}) for task, key in keys.items()]
    most = min(_counted(answers), math.ceil(length or 0))
    same = constant_recall(tasks, "files", shared_only=True, max_names=most)
    return bool(own is not None and same and round(own - same, 9) <= answers.experiment.margin)


def held_keys(answers: Answers, arm: str) -> Iterator[Caveat]:
    """Find searches in workspaces that had files with answer keys."""
    repository, records = answers.experiment.repository, answers.records_of(arm)
    exposed = [record for record in records if had_keys(repository, record.started_at)]
    if exposed:
        what = with_keys(repository, len(exposed), len(records))
        yield Caveat(qualification=what, warning=f"{arm}: {what}; a new session has none.")


KINDS: tuple[ArmKind, ...] = (*OF_CASES, held_keys, of_searches)
"""The gravest first."""

"""Has a model compare the answers of a session that is over, and stores what it says."""

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import anyio

from swarm_bench.analysis.comparison.judging import (
    Contestant,
    Judge,
    Match,
    Pair,
    identify_pair,
    make_case_matches,
    make_matches,
)
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.wording import quantify
from swarm_bench.app.stored.agent_trials import read_page_answer
from swarm_bench.app.stored.agents import AgentSession
from swarm_bench.app.stored.models import ModelSession
from swarm_bench.app.stored.pages import report_anew
from swarm_bench.app.stored.session import open_session
from swarm_bench.benchmarks.cases.folder import PROMPTS
from swarm_bench.benchmarks.cases.reasoning import drop_thoughts
from swarm_bench.benchmarks.swarm.artefacts import Artefacts
from swarm_bench.benchmarks.swarm.judging import (
    COMPOUND,
    OF_AGENTS,
    OF_MODELS,
    JudgeClient,
    JudgeQuestion,
    blind,
    find_names,
    make_questions,
)
from swarm_bench.config.addresses import remove_logins
from swarm_bench.core.errors import HarnessError, UsageError
from swarm_bench.core.interruption import cancelling
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Completion
from swarm_bench.core.session.judgements import Verdict
from swarm_bench.core.session.models import ModelExperiment, ModelRecord
from swarm_bench.core.session.prices import find_price
from swarm_bench.models.own_prices import read_prices
from swarm_bench.models.servers.compatible import OPENAI, OPENAI_KEY, compatible_server
from swarm_bench.runtime.files import hold_lock
from swarm_bench.runtime.sink import clean_text
from swarm_bench.runtime.untrusted import open_untrusted
from swarm_bench.text.tokens import count

_MODEL = "the model"
"""Replaces the names of models in answers."""


@dataclass(frozen=True, kw_only=True)
class Answers:
    """Questions on the answers of a session, and the verdicts on them."""

    lock: Path
    questions: tuple[tuple[JudgeQuestion, ...], ...]
    """The questions on each pair that has two answers; none where one of them cannot be read."""
    verdicts: tuple[Verdict, ...]
    """Verdicts that are stored already."""
    keep: Callable[[Verdict], None]
    render: Callable[[], str]
    """Writes the summary again, and returns it."""


def read_agent_answers(session: AgentSession) -> Answers:
    """Read the answers of agents. Raises `UsageError` where there are none to compare."""
    folder = session.folder
    experiment = folder.read_experiment()
    if len(experiment.modes) < 2 or experiment.design.document == "noise":
        raise UsageError(f"{session.path} compares no modes; give a session of compare or ab")
    data = folder.read()
    artefacts, names = folder.artefacts(experiment), find_names(experiment, data.trials)

    def build_questions(pair: Pair) -> tuple[JudgeQuestion, ...]:
        mode_answer = _read_agent_answer(artefacts, pair.of_mode)
        reference_answer = _read_agent_answer(artefacts, pair.of_reference)
        if mode_answer is None or reference_answer is None:
            return ()
        return make_questions(
            OF_AGENTS, pair, blind(mode_answer, names), blind(reference_answer, names)
        )

    return Answers(
        lock=folder.lock,
        questions=_build_questions(make_matches(Selection(data)), build_questions),
        verdicts=data.verdicts,
        keep=folder.append_verdict,
        render=lambda: report_anew(session).markdown,
    )


def _build_questions(
    all_matches: Iterable[Match], build: Callable[[Pair], tuple[JudgeQuestion, ...]]
) -> tuple[tuple[JudgeQuestion, ...], ...]:
    return tuple(build(pair) for match in all_matches for pair in match.pairs if pair.has_answers)


def _read_agent_answer(artefacts: Artefacts, trial: Contestant) -> str | None:
    return read_page_answer(artefacts, trial.run, trial.mode, trial.agent)


def read_model_answers(model_session: ModelSession) -> Answers:
    """Read the answers of models. They are asked about with the request that the reference got:
    arms of prompts have others. Raises `UsageError` where there are none to compare."""
    folder, session, path = model_session.folder, model_session.read(), model_session.path
    if not session.references:
        raise UsageError(f"{path} has one arm, and nothing to compare it with; add a model")
    requests, names = _read_requests(folder.path / PROMPTS), _list_model_names(session.experiment)
    records = {(record.trial, record.attempt): record for record in session.records}

    def build_questions(pair: Pair) -> tuple[JudgeQuestion, ...]:
        mode_record, reference_record = (
            records[side.trial or "", side.attempt] for side in (pair.of_mode, pair.of_reference)
        )
        request = requests.get(reference_record.prompt_sha256 or "")
        if request is None:
            return ()
        first, second = (
            blind(_extract_answer(record), names, _MODEL)
            for record in (mode_record, reference_record)
        )
        return make_questions(OF_MODELS, pair.set_task(request), first, second)

    return Answers(
        lock=folder.lock,
        questions=_build_questions(make_case_matches(session), build_questions),
        verdicts=tuple(session.verdicts),
        keep=folder.append_verdict,
        render=lambda: report_anew(model_session).markdown,
    )


def _read_requests(path: Path) -> Mapping[str, str]:
    """Read what was asked, by the checksum of the request. Raises `UsageError`."""
    requests = dict[str, str]()
    if not path.is_file():
        raise UsageError(f"{path} is missing, which has what was asked; restore it")
    with open_untrusted(path) as file:
        for line in file:
            try:
                content = json.loads(line)
                requests[content["sha256"]] = _render_prompt(content["prompt"])
            except (ValueError, KeyError, TypeError, RecursionError):
                continue  # its answers are counted as those that cannot be read
    return requests


def _render_prompt(prompt: Any) -> str:
    if isinstance(prompt, str):
        return prompt
    if isinstance(prompt, dict):
        return f"{prompt['prefix']}[what is missing here]{prompt['suffix']}"
    return "\n\n".join(turn["text"] for turn in prompt if turn["role"] == "user")


def _extract_answer(record: ModelRecord) -> str:
    completion = Completion(text=record.answer or "", finish=record.finish, usage=Usage())
    return drop_thoughts(completion, record.way or "text").text.strip()


def _list_model_names(experiment: ModelExperiment) -> frozenset[str]:
    """Name the models. A name that is a plain word, as `copy`, gives nothing away and stays."""
    names = {arm.model for arm in experiment.models}
    names |= {program.name for program in experiment.programs.values()}
    parts = {part for word in names for part in word.replace("#", ":").replace("/", ":").split(":")}
    stems = {PurePath(part).stem for part in parts}
    return frozenset(filter(COMPOUND.search, names | parts | stems))


_VARIABLE = re.compile(r"[A-Za-z_]\w*", re.ASCII)
Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class JudgeRequest:
    """Options of a call of `judge`."""

    folder: Path
    model: str
    url: str = OPENAI
    key: str | None = None
    """The variable that holds the key."""
    timeout: float = 120
    """Seconds for a request."""


@dataclass(frozen=True, kw_only=True)
class _Plan:
    """Questions to ask, and counts of the pairs that need none."""

    unjudged: tuple[JudgeQuestion, ...]
    """Questions without a verdict of this judge."""
    stored_verdicts: int
    """Verdicts that are there already."""
    same: int
    """Pairs of equal texts, about which no judge is asked."""
    unread: int
    """Pairs of which an answer is not in the session's folder."""

    @property
    def questions(self) -> list[JudgeQuestion]:
        """Questions about two different texts."""
        return [question for question in self.unjudged if not question.same]

    def describe(self, request: JudgeRequest) -> str:
        """Say what will be asked, and of whom."""
        number, tokens = (
            len(self.questions),
            sum(count(question.text) for question in self.questions),
        )
        clauses = [
            f"{request.model} at {remove_logins(request.url)} is asked "
            f"{quantify(number, 'time')} (about {tokens:,} tokens): each pair of answers in both "
            "orders"
        ]
        if self.stored_verdicts:
            clauses.append(f"{quantify(self.stored_verdicts, 'verdict')} stored already")
        if self.same:
            clauses.append(f"{quantify(self.same, 'pair')} with the same text, a tie")
        if self.unread:
            clauses.append(f"{quantify(self.unread, 'pair')} omitted, as an answer cannot be read")
        return "; ".join(clauses)


@dataclass(frozen=True, kw_only=True)
class JudgeResult:
    """Result of a call of `judge`."""

    summary: str
    unanswered: int
    """Questions without a verdict."""
    reason: str
    """Reason why the last one of them has none."""

    def check(self) -> None:
        """Raise `HarnessError` when questions stay open."""
        if self.unanswered:
            raise HarnessError(
                f"{quantify(self.unanswered, 'question')} got no verdict: {self.reason}; repeat "
                f"the command to ask them again"
            )


def show_plan(request: JudgeRequest) -> str:
    """Say what `judge` would ask. Asks no model."""
    return _make_plan(open_session(request.folder).read_answers(), request).describe(request) + "\n"


def judge(request: JudgeRequest, say: Say) -> JudgeResult:
    """Ask what has no verdict yet, and render the summary again. `say` gets a sentence on what will
    be asked, and on how far that is. Raises `UsageError` and `NotAuthorized`."""
    key, lock = _find_key(request), open_session(request.folder).read_answers().lock
    with hold_lock(lock):
        answers = open_session(request.folder).read_answers()
        plan = _make_plan(answers, request)
        say(plan.describe(request))
        progress = _Progress(total=len(plan.questions), say=say)

        def keep(verdict: Verdict) -> None:
            answers.keep(verdict)
            if verdict.requests:
                progress.step()

        judge_client = JudgeClient(
            judge=_identify_judge(request),
            clean=lambda text: clean_text(text, (key,)),
            keep=keep,
            price=find_price(request.model, read_prices()),
        )
        with cancelling():
            anyio.run(_ask, request, key, judge_client, plan.unjudged)
        summary = answers.render()
    return JudgeResult(
        summary=summary,
        unanswered=len(plan.questions) - progress.done,
        reason=str(judge_client.failures[-1]) if judge_client.failures else "",
    )


async def _ask(
    request: JudgeRequest, key: str, judge_client: JudgeClient, questions: tuple[JudgeQuestion, ...]
) -> None:
    server = compatible_server(request.model, request.url, key=key, timeout=request.timeout)
    async with server as model:
        await judge_client.ask(model, questions)


@dataclass(kw_only=True)
class _Progress:
    """Says at each tenth how many verdicts there are."""

    total: int
    say: Say
    done: int = 0

    def step(self) -> None:
        self.done += 1
        if self.done * 10 // self.total > (self.done - 1) * 10 // self.total:
            self.say(f"{self.done} of {quantify(self.total, 'verdict')}")


def _make_plan(answers: Answers, request: JudgeRequest) -> _Plan:
    """Find what to ask: of pairs with two answers, the orders that this judge has not seen."""
    of_judge = [line for line in answers.verdicts if line.judge == _identify_judge(request)]
    judged_keys = {(identify_pair(line), line.first, line.prompt) for line in of_judge}
    questions = [question for of_pair in answers.questions for question in of_pair]
    distinct = [question for question in questions if not question.same]
    unjudged = tuple(
        question
        for question in questions
        if (question.pair.identity, question.first, question.digest) not in judged_keys
    )
    return _Plan(
        unjudged=unjudged,
        stored_verdicts=len(distinct) - sum(not question.same for question in unjudged),
        same=(len(questions) - len(distinct)) // 2,
        unread=sum(not of_pair for of_pair in answers.questions),
    )


def _identify_judge(request: JudgeRequest) -> Judge:
    return request.model, remove_logins(request.url)


def _find_key(request: JudgeRequest) -> str:
    """Look up the key; empty without one. Raises `UsageError`, and repeats nothing that may be the
    key itself."""
    name = request.key or (OPENAI_KEY if request.url == OPENAI else "")
    if not name:
        return ""
    if not _VARIABLE.fullmatch(name):
        raise UsageError("--key takes the name of a variable that holds the key, not the key")
    if not (key := os.environ.get(name, "")):
        raise UsageError(f"The variable {name} holds no key; set it, or give another --key")
    return key

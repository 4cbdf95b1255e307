"""Has a model compare the answers of a session that is over."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import anyio

from swarm_bench.analysis.comparison.judging import Judge, Pair, identity, pairs
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.wording import amount
from swarm_bench.app.report import report
from swarm_bench.app.stored import case_sessions
from swarm_bench.benchmarks.swarm.artefacts import Artefacts
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.benchmarks.swarm.judging.asking import Asking, Question, questions
from swarm_bench.benchmarks.swarm.judging.blinding import blinded, names_of
from swarm_bench.benchmarks.swarm.series_folder import series_sessions
from swarm_bench.config.addresses import without_logins
from swarm_bench.core.errors import HarnessError, UsageError
from swarm_bench.core.interruption import cancelling
from swarm_bench.core.session.later.verdicts import Verdict
from swarm_bench.core.session.prices import price_of
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.models.own_prices import read_prices
from swarm_bench.models.servers.compatible import OPENAI, OPENAI_KEY, compatible_server
from swarm_bench.models.tokens import count
from swarm_bench.reports.page import answer_in
from swarm_bench.runtime.files import locked
from swarm_bench.runtime.sink import clean_text
from swarm_bench.runtime.untrusted import read_inside

_PAGE_BYTES = 8 * 1024 * 1024
_VARIABLE = re.compile(r"[A-Za-z_]\w*", re.ASCII)
Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class JudgeRequest:
    """What is asked for."""

    folder: Path
    model: str
    url: str = OPENAI
    key: str | None = None
    """The variable that holds the key."""
    timeout: float = 120
    """Seconds for a request."""


@dataclass(frozen=True, kw_only=True)
class _Plan:
    """What there is to ask."""

    unasked: tuple[Question, ...]
    """Those without a verdict of this judge."""
    stored: int
    """Verdicts that are there already."""
    unread: int
    """Pairs of which an answer is not in the session's folder."""

    def sentence(self, request: JudgeRequest) -> str:
        """Say what will be asked, and of whom."""
        asked = [question for question in self.unasked if not question.same]
        tokens = sum(count(question.text) for question in asked)
        same = (len(self.unasked) - len(asked)) // 2
        clauses = [
            f"{request.model} at {without_logins(request.url)} is asked "
            f"{amount(len(asked), 'time')} (about {tokens:,} tokens): each pair of answers in both "
            "orders"
        ]
        if self.stored:
            clauses.append(f"{amount(self.stored, 'verdict')} stored already")
        if same:
            clauses.append(f"{amount(same, 'pair')} with the same text, a tie")
        if self.unread:
            clauses.append(f"{amount(self.unread, 'pair')} omitted, as an answer cannot be read")
        return "; ".join(clauses)


@dataclass(frozen=True, kw_only=True)
class JudgeResult:
    """What a call came to."""

    summary: str
    unanswered: int
    """Questions without a verdict."""
    reason: str
    """Why the last one of them has none."""

    def check(self) -> None:
        """Raise `HarnessError` when questions stay open."""
        if self.unanswered:
            raise HarnessError(
                f"{amount(self.unanswered, 'question')} got no verdict: {self.reason}; repeat the "
                "command to ask them again"
            )


def show_plan(request: JudgeRequest) -> str:
    """Say what `judge` would ask. Asks nobody."""
    return _planned(_session(request.folder), request).sentence(request) + "\n"


def judge(request: JudgeRequest, say: Say) -> JudgeResult:
    """Ask what has no verdict yet, and render the summary again. `say` gets a sentence on what will
    be asked, and on how far that is. Raises `UsageError` and `NotAuthorized`."""
    folder = _session(request.folder)
    key = _key(request)
    with locked(folder.lock):
        plan = _planned(folder, request)
        say(plan.sentence(request))
        progress = _Progress(total=len(plan.unasked), say=say)

        def keep(verdict: Verdict) -> None:
            folder.append_verdict(verdict)
            progress.step()

        asking = Asking(
            judge=_judge(request),
            clean=lambda text: clean_text(text, (key,)),
            keep=keep,
            price=price_of(request.model, read_prices()),
        )
        with cancelling():
            anyio.run(_ask, request, key, asking, plan.unasked)
        summary = report(folder.path).markdown
    return JudgeResult(
        summary=summary,
        unanswered=len(plan.unasked) - progress.done,
        reason=str(asking.failures[-1]) if asking.failures else "",
    )


async def _ask(
    request: JudgeRequest, key: str, asking: Asking, asked: tuple[Question, ...]
) -> None:
    server = compatible_server(request.model, request.url, key=key, timeout=request.timeout)
    async with server as model:
        await asking.ask(model, asked)


@dataclass(kw_only=True)
class _Progress:
    """Says at each tenth how many verdicts there are."""

    total: int
    say: Say
    done: int = 0

    def step(self) -> None:
        self.done += 1
        if self.done * 10 // self.total > (self.done - 1) * 10 // self.total:
            self.say(f"{self.done} of {amount(self.total, 'verdict')}")


def _session(path: Path) -> SessionFolder:
    """Open a session whose answers can be compared. Raises `UsageError` for any other folder."""
    folder = SessionFolder(path)
    if series_sessions(path):
        raise UsageError(f"{path} is a series; give one of its sessions, as {path}/agents-4")
    if folder.holds_session() and case_sessions.holds_cases(folder.path):
        raise UsageError(f"{path} has no answers of agents to compare; give a session of compare")
    experiment = folder.read_experiment()
    if len(experiment.modes) < 2 or experiment.design.document == "noise":
        raise UsageError(f"{path} compares no modes; give a session of compare or ab")
    return folder


def _planned(folder: SessionFolder, request: JudgeRequest) -> _Plan:
    """Find what to ask: of pairs with two answers, the orders that this judge has not seen."""
    data = folder.read()
    selection = Selection(data)
    experiment = folder.read_experiment()
    artefacts, names = folder.artefacts(experiment), names_of(experiment, data.trials)
    of_judge = [line for line in data.verdicts if line.judge == _judge(request)]
    stored = {(identity(line), line.first, line.prompt) for line in of_judge}
    answered = [
        pair for mode in selection.modes[1:] for pair in pairs(selection, mode) if pair.answered
    ]
    both = [_questions(pair, artefacts, names) for pair in answered]
    asked = [question for of_pair in both for question in of_pair]
    unasked = tuple(
        question
        for question in asked
        if (question.pair.identity, question.first, question.digest) not in stored
    )
    return _Plan(
        unasked=unasked,
        stored=len(asked) - len(unasked),
        unread=sum(not of_pair for of_pair in both),
    )


def _questions(pair: Pair, artefacts: Artefacts, names: frozenset[str]) -> tuple[Question, ...]:
    """Make the questions on a pair; none where an answer cannot be read."""
    answers = [_answer(artefacts, trial) for trial in (pair.of_mode, pair.of_reference)]
    texts = [blinded(answer, names) for answer in answers if answer is not None]
    return questions(pair, *texts) if len(texts) == 2 else ()


def _answer(artefacts: Artefacts, trial: TrialRecord) -> str | None:
    """Read what an agent answered in its page: those of any agent have one, also of agents whose
    adapters a session must not load."""
    folder = artefacts.mode_folder(trial.run, trial.mode).relative_to(artefacts.root)
    page = read_inside(artefacts.root, str(folder / f"agent-{trial.agent}.md"), _PAGE_BYTES)
    return None if page is None else answer_in(page.decode("utf-8", "replace"))


def _judge(request: JudgeRequest) -> Judge:
    return request.model, without_logins(request.url)


def _key(request: JudgeRequest) -> str:
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

"""The answers of a session that a judge compares, and where what it says is stored."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from swarm_bench.analysis.cases.judging import case_matches
from swarm_bench.analysis.comparison.judging import Contestant, Match, Pair, matches
from swarm_bench.analysis.selection import Selection
from swarm_bench.app.stored.agents import AgentSession
from swarm_bench.app.stored.models import ModelSession
from swarm_bench.benchmarks.cases.folder import PROMPTS
from swarm_bench.benchmarks.cases.thoughts import without_thoughts
from swarm_bench.benchmarks.swarm.artefacts import Artefacts
from swarm_bench.benchmarks.swarm.judging.asking import Question, questions
from swarm_bench.benchmarks.swarm.judging.blinding import COMPOUND, blinded, names_of
from swarm_bench.benchmarks.swarm.judging.question import OF_AGENTS, OF_MODELS
from swarm_bench.core.errors import UsageError
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Completion
from swarm_bench.core.session.later.verdicts import Verdict
from swarm_bench.core.session.models import ModelExperiment, ModelRecord
from swarm_bench.reports.page import answer_in
from swarm_bench.runtime.untrusted import opened, read_inside

_PAGE_BYTES = 8 * 1024 * 1024
_MODEL = "the model"
"""Stands where the name of one was."""


@dataclass(frozen=True, kw_only=True)
class Answers:
    """What there is to compare in a session."""

    lock: Path
    asked: tuple[tuple[Question, ...], ...]
    """The questions on each pair that has two answers; none where one of them cannot be read."""
    verdicts: tuple[Verdict, ...]
    """Those that are there already."""
    keep: Callable[[Verdict], None]
    render: Callable[[], str]
    """Writes the summary again, and returns it."""


def answers_of_agents(session: AgentSession) -> Answers:
    """Read the answers of agents. Raises `UsageError` where there are none to compare."""
    folder = session.folder
    experiment = folder.read_experiment()
    if len(experiment.modes) < 2 or experiment.design.document == "noise":
        raise UsageError(f"{session.path} compares no modes; give a session of compare or ab")
    data = folder.read()
    artefacts, names = folder.artefacts(experiment), names_of(experiment, data.trials)

    def on(pair: Pair) -> tuple[Question, ...]:
        own = _answer_of_agent(artefacts, pair.of_mode)
        other = _answer_of_agent(artefacts, pair.of_reference)
        if own is None or other is None:
            return ()
        return questions(OF_AGENTS, pair, blinded(own, names), blinded(other, names))

    return Answers(
        lock=folder.lock,
        asked=_on_each(matches(Selection(data)), on),
        verdicts=data.verdicts,
        keep=folder.append_verdict,
        render=lambda: session.report().markdown,
    )


def _on_each(
    every: Iterable[Match], on: Callable[[Pair], tuple[Question, ...]]
) -> tuple[tuple[Question, ...], ...]:
    return tuple(on(pair) for match in every for pair in match.pairs if pair.answered)


def _answer_of_agent(artefacts: Artefacts, trial: Contestant) -> str | None:
    """Read what an agent answered in its page: those of any agent have one, also of agents whose
    adapters a session must not load."""
    folder = artefacts.mode_folder(trial.run, trial.mode).relative_to(artefacts.root)
    page = read_inside(artefacts.root, str(folder / f"agent-{trial.agent}.md"), _PAGE_BYTES)
    return None if page is None else answer_in(page.decode("utf-8", "replace"))


def answers_of_models(stored: ModelSession) -> Answers:
    """Read the answers of models. They are asked about with the request that the reference got:
    arms of prompts have others. Raises `UsageError` where there are none to compare."""
    folder, session, path = stored.folder, stored.read(), stored.path
    if not session.references:
        raise UsageError(f"{path} has one arm, and nothing to compare it with; add a model")
    requests, names = _requests(folder.path / PROMPTS), _names(session.experiment)
    records = {(it.trial, it.attempt): it for it in session.records}

    def on(pair: Pair) -> tuple[Question, ...]:
        own, other = (
            records[it.trial or "", it.attempt] for it in (pair.of_mode, pair.of_reference)
        )
        request = requests.get(other.prompt_sha256 or "")
        if request is None:
            return ()
        first, second = (blinded(_answer_of_model(it), names, _MODEL) for it in (own, other))
        return questions(OF_MODELS, pair.asked(request), first, second)

    return Answers(
        lock=folder.lock,
        asked=_on_each(case_matches(session), on),
        verdicts=tuple(session.verdicts),
        keep=folder.append_verdict,
        render=lambda: stored.report().markdown,
    )


def _requests(path: Path) -> Mapping[str, str]:
    """Read what was asked, by the checksum of the request. Raises `UsageError`."""
    requests = dict[str, str]()
    if not path.is_file():
        raise UsageError(f"{path} is missing, which has what was asked; restore it")
    with opened(path) as file:
        for line in file:
            try:
                content = json.loads(line)
                requests[content["sha256"]] = _text_of(content["prompt"])
            except (ValueError, KeyError, TypeError, RecursionError):
                continue  # its answers are counted as those that cannot be read
    return requests


def _text_of(prompt: Any) -> str:
    if isinstance(prompt, str):
        return prompt
    if isinstance(prompt, dict):
        return f"{prompt['prefix']}[what is missing here]{prompt['suffix']}"
    return "\n\n".join(turn["text"] for turn in prompt if turn["role"] == "user")


def _answer_of_model(record: ModelRecord) -> str:
    completion = Completion(text=record.answer or "", finish=record.finish, usage=Usage())
    return without_thoughts(completion, record.way or "text").text.strip()


def _names(experiment: ModelExperiment) -> frozenset[str]:
    """Name the models. A name that is a plain word, as `copy`, gives nothing away and stays."""
    whole = {arm.model for arm in experiment.models}
    whole |= {program.name for program in experiment.programs.values()}
    parts = {part for word in whole for part in word.replace("#", ":").replace("/", ":").split(":")}
    stems = {PurePath(part).stem for part in parts}
    return frozenset(filter(COMPOUND.search, whole | parts | stems))

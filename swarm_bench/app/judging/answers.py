"""The answers of a session that a judge compares, and where what it says is stored."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from swarm_bench.analysis.cases.judging import make_case_matches
from swarm_bench.analysis.comparison.judging import Contestant, Match, Pair, make_matches
from swarm_bench.analysis.selection import Selection
from swarm_bench.app.stored.agents import AgentSession
from swarm_bench.app.stored.models import ModelSession
from swarm_bench.benchmarks.cases.folder import PROMPTS
from swarm_bench.benchmarks.cases.thoughts import drop_thoughts
from swarm_bench.benchmarks.swarm.artefacts import Artefacts
from swarm_bench.benchmarks.swarm.judging.asking import JudgeQuestion, make_questions
from swarm_bench.benchmarks.swarm.judging.blinding import COMPOUND, blind, find_names
from swarm_bench.benchmarks.swarm.judging.question import OF_AGENTS, OF_MODELS
from swarm_bench.core.errors import UsageError
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Completion
from swarm_bench.core.session.later.verdicts import Verdict
from swarm_bench.core.session.models import ModelExperiment, ModelRecord
from swarm_bench.reports.page import find_answer
from swarm_bench.runtime.untrusted import open_untrusted, read_inside

_PAGE_BYTES = 8 * 1024 * 1024
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
        render=lambda: session.report().markdown,
    )


def _build_questions(
    all_matches: Iterable[Match], build: Callable[[Pair], tuple[JudgeQuestion, ...]]
) -> tuple[tuple[JudgeQuestion, ...], ...]:
    return tuple(build(pair) for match in all_matches for pair in match.pairs if pair.has_answers)


def _read_agent_answer(artefacts: Artefacts, trial: Contestant) -> str | None:
    """Read what an agent answered in its page: those of any agent have one, also of agents whose
    adapters a session must not load."""
    folder = artefacts.mode_folder(trial.run, trial.mode).relative_to(artefacts.root)
    page = read_inside(artefacts.root, str(folder / f"agent-{trial.agent}.md"), _PAGE_BYTES)
    return None if page is None else find_answer(page.decode("utf-8", "replace"))


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
        render=lambda: model_session.report().markdown,
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

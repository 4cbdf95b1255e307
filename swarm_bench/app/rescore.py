"""Has today's scorers look at the answers of an old session. No agent runs, and no record changes:
what they say is put beside the records."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from swarm_bench.analysis.selection import Selection
from swarm_bench.app.audit import Stream, find_streams, load_adapter, read_outcome
from swarm_bench.app.stored.session import RescoreRequest
from swarm_bench.app.trust.approval import require_code
from swarm_bench.app.trust.demands import list_scorer_demands
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.benchmarks.swarm.run_plan import plan
from swarm_bench.benchmarks.swarm.scorers import (
    ScorableAnswer,
    Trees,
    load_scorers,
    score_answer,
    select_scorers,
)
from swarm_bench.core.entry_points import own_version
from swarm_bench.core.errors import HarnessError, UsageError
from swarm_bench.core.outcome import Outcome
from swarm_bench.core.ports import Agent, Scorer
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.session.rescored import RescoredAnswer
from swarm_bench.core.session.scores import OwnScores
from swarm_bench.core.session.tasks import group_tasks
from swarm_bench.core.status import Cause
from swarm_bench.datasets.suites import Suite, find_suite
from swarm_bench.engine.plan import iterate_groups
from swarm_bench.engine.scoring import ScoringResult
from swarm_bench.retrieval.modes.secrets import make_storable
from swarm_bench.source.references.snapshot import snapshot_of

_ABSOLUTE = re.compile(r"/[^\s\"'`<>()\[\]{},;|]{1,400}")
_NO_ADAPTER = (
    "its agent does not come with swarm-bench, and is not loaded because a session says so"
)
_CORRECTABLE = ("key", "weight", "tags", "group")
"""Fields of a task that a corrected file may change."""
_NO_STREAM = "what its agent printed is not there"
_NO_COPY = "its agents worked on a folder or on uncommitted changes, and that copy is gone"
_NO_FILES = "the files of its workspace are gone; --repo names the repository where it is now"


def rescore_agents(folder: SessionFolder, request: RescoreRequest) -> None:
    """Score the answers of a session, and store what comes of it beside its records. Raises
    `UsageError`."""
    experiment = folder.read_experiment()
    suite = None if request.tasks is None else find_suite(request.tasks)
    if suite is None or suite.scorers is None:
        require_code(list_scorer_demands(experiment), trust=request.trust)
    if suite is not None:
        experiment = _replace_keys(experiment, suite)
    repository = experiment.repository
    if request.repo is not None:
        repository = repository.model_copy(
            update={"path": str(request.repo.expanduser().resolve())}
        )
    with Trees(repository=repository) as trees:
        rescorer = _TrialRescorer(
            experiment=experiment,
            scorers=load_scorers(experiment.scorers),
            trees=trees,
            agent=load_adapter(experiment),
        )
        lines = list(rescorer.rescore_trials(folder))
    if not lines:
        raise UsageError(f"{folder.path} has no answers that could be scored; run it first")
    if suite is not None:
        folder.supersede_experiment(make_storable(experiment))
    folder.append_rescored(lines)


def _replace_keys(experiment: Experiment, suite: Suite) -> Experiment:
    """Return the experiment with the keys of a suite's tasks, and the scorers that it names. Raises
    `UsageError` when one of them asks something else than the session's task of that id, or none
    has such an id."""
    new_tasks = {task.id: task for task in suite.tasks}
    if new_tasks.keys().isdisjoint(task.id for task in experiment.tasks):
        raise UsageError(f"{suite.source} has none of the session's tasks; give another file")
    for task in experiment.tasks:
        new_task = new_tasks.get(task.id, task)
        if (new_task.prompt, new_task.commit) != (task.prompt, task.commit):
            raise UsageError(
                f"The task {task.id} of {suite.source} asks something else than that of the "
                "session; only its key can be another one"
            )
    corrected = [
        task.model_copy(
            update={name: getattr(new_tasks.get(task.id, task), name) for name in _CORRECTABLE}
        )
        for task in experiment.tasks
    ]
    scorers = experiment.scorers if suite.scorers is None else suite.scorers
    return experiment.model_copy(update={"tasks": tuple(corrected), "scorers": scorers})


@dataclass(frozen=True, kw_only=True)
class _TrialRescorer:
    experiment: Experiment
    scorers: tuple[Scorer, ...]
    trees: Trees
    agent: Agent | None
    """`None` when nothing can read what it printed."""

    def rescore_trials(self, folder: SessionFolder) -> Iterator[RescoredAnswer]:
        """Yield a line for each trial that scorers have something to say about."""
        places = {
            trial.id: (trial.case, swarm.commit)
            for swarm in iterate_groups(plan(self.experiment))
            for trial in swarm.trials
        }
        groups = group_tasks(self.experiment.tasks, self.experiment.repository.clean_commit)
        keys_before = {task.id: task.key for task in folder.read_experiment().tasks}
        trials = [trial for trial in Selection(folder.read()).trials if trial.trial in places]
        streams = {
            stream.trial.key: stream for stream in find_streams(folder, self.experiment, trials)
        }
        for trial in trials:
            task, commit = places[trial.trial or ""]
            recorded_outcome = Outcome(cause=trial.cause or Cause.ADAPTER_FAILED, text="")
            answer = ScorableAnswer(
                outcome=recorded_outcome,
                task=task,
                tasks=self.experiment.tasks,
                groups=groups,
                workspace="",
                commit=commit,
            )
            if selected := select_scorers(self.scorers, answer):
                if task.key != keys_before.get(task.id):
                    trial = trial.model_copy(update={"scores": None})
                yield self._rescore_trial(trial, answer, selected, streams.get(trial.key))

    def _rescore_trial(
        self,
        trial: TrialRecord,
        answer: ScorableAnswer,
        selected: Collection[Scorer],
        stream: Stream | None,
    ) -> RescoredAnswer:
        unread = None
        try:
            result = score_answer(self.scorers, self._read(answer, stream), self.trees, ())
        except HarnessError as error:
            unread = str(error)
            result = _keep_scores(trial, selected, unread)
        return RescoredAnswer(
            mode=trial.mode,
            trial=trial.trial,
            attempt=trial.attempt,
            rescored_at=datetime.now(UTC),
            swarm_bench=own_version(),
            **vars(result.own_scores),
            unscored_characters=result.unscored_characters,
            scores=result.scores,
            missing_scores=result.missing,
            score_failures=result.failures,
            unread=unread,
        )

    def _read(self, answer: ScorableAnswer, stream: Stream | None) -> ScorableAnswer:
        """Read the answer from what its agent printed. Raises `HarnessError` when that, or the
        files that it is about, cannot be read; its text is a clause."""
        if self.agent is None:
            raise HarnessError(_NO_ADAPTER)
        if stream is None:
            raise HarnessError(_NO_STREAM)
        try:
            files = self.trees.files(answer.commit)
        except (HarnessError, OSError):
            files = frozenset()
        if not files:
            is_of_commit = answer.commit or self.experiment.repository.clean_commit
            raise HarnessError(_NO_FILES if is_of_commit else _NO_COPY)
        try:
            outcome = read_outcome(self.agent, self.experiment, stream, files)
        except (Exception, SystemExit) as error:  # an adapter may raise anything
            raise HarnessError(f"its adapter failed with {type(error).__name__}") from error
        outcome = replace(outcome, cause=answer.outcome.cause)
        return replace(answer, outcome=outcome, workspace=guess_workspace(outcome, files))


def guess_workspace(outcome: Outcome, files: frozenset[str]) -> str:
    """Guess the path of the workspace, which is not stored: what stands most often before the path
    of a file in the absolute paths that the agent and its tools name."""
    mentions = [mention for call in outcome.retrieved or () for mention in call.mentions]
    snapshot = snapshot_of(files, "")
    named_paths = map(snapshot.marks.unmark, _ABSOLUTE.findall(snapshot.mark(outcome.text or "")))
    absolute = {*named_paths, *filter(_ABSOLUTE.match, mentions)}
    prefixes = Counter(filter(None, (_find_prefix(path, files) for path in sorted(absolute))))
    return prefixes.most_common(1)[0][0] if prefixes else ""


def _find_prefix(path: str, files: frozenset[str]) -> str | None:
    path = path.rstrip(".:!?")
    cuts = (match.start() for match in re.finditer("/", path))
    return next((path[:cut] for cut in cuts if path[cut + 1 :] in files), None)


def _keep_scores(trial: TrialRecord, selected: Iterable[Scorer], reason: str) -> ScoringResult:
    """Return the scores of a record whose answer cannot be read; what it lacks is missing. A
    scorer of which it has some stays as it was then: it did not look at the rest."""
    own_scores = OwnScores.model_validate(vars(trial), extra="ignore")
    recorded_scores, reasons = trial.scores or {}, trial.missing_scores or {}
    silent = [scorer for scorer in selected if recorded_scores.keys().isdisjoint(scorer.keys)]
    keys = [key for scorer in silent for key in scorer.keys if key not in vars(own_scores)]
    missing = {key: reason for key in keys if key not in recorded_scores}
    missing |= {key: text for key, text in reasons.items() if key in recorded_scores}
    return ScoringResult(
        own_scores=own_scores,
        unscored_characters=trial.unscored_characters,
        scores={**dict.fromkeys(keys), **recorded_scores} or None,
        missing=missing or None,
        failures=trial.score_failures,
    )

"""Answers of an old session, scored again without an agent."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.agents.claude.adapter import Claude
from swarm_bench.app.rescore import guess_workspace
from swarm_bench.app.stored.session import RescoreRequest, open_session
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.benchmarks.swarm.run_plan import plan
from swarm_bench.core.errors import UsageError
from swarm_bench.core.outcome import AgentExit, Outcome, Retrieved
from swarm_bench.core.report.document import RenderedDocument
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.status import Cause
from swarm_bench.retrieval.modes.secrets import make_storable
from tests.builders.executions import figures_of
from tests.builders.golden import Sentences, parts
from tests.builders.repositories import commit, git, start
from tests.builders.sessions import make_experiment, make_trial

SAMPLE = Path(__file__).parents[1] / "agents/samples/claude-code/success_stream.jsonl"
SCORERS = """
class Mine:
    name = "mine"
    version = 1
    keys = ("letters",)

    def score(self, context):
        return {"letters": len(context.text)}
"""


def rescore(path: Path, **options: Any) -> RenderedDocument:
    return open_session(path).rescore(RescoreRequest(**options))


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    made = start(tmp_path / "repo")
    commit(made, "one", {"a.py": "def login(): pass\n"})
    return made


@pytest.fixture(autouse=True)
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here := tmp_path / "here").mkdir()
    (here / "scorers_of_mine.py").write_text(SCORERS)
    monkeypatch.chdir(here)


def session(tmp_path: Path, repo: Path, **changes: Any) -> SessionFolder:
    """A session whose agent was asked one task, with facts in its key, and left a stream."""
    head, tree = git(repo, "rev-parse", "HEAD", "HEAD^{tree}").split()
    facts = {"id": "a", "title": "A", "prompt": "1 + 1?", "key": {"facts": ["[a-z]", "never said"]}}
    kept = changes.pop("kept", True)
    record = {key: changes.pop(key) for key in ("cause", "status", "scores") if key in changes}
    experiment = make_experiment(
        ("canopy",),
        agent={"name": "claude", "version": "2.1.329"},
        tasks=[facts],
        repository={
            "path": str(repo),
            "kind": "git",
            "commit": head,
            "tree": tree,
            "files": 1,
            "bytes": 9,
        },
        **changes,
    )
    folder = SessionFolder(tmp_path / "session")
    folder.make()
    folder.write_experiment(make_storable(experiment))
    (folder.path / "canopy").mkdir()
    if kept:
        shutil.copy(SAMPLE, folder.path / "canopy" / "agent-1.stream.jsonl")
        (folder.path / "canopy" / "agent-1.stderr.log").touch()
    folder.records.append(trial_of(experiment, **record))
    return folder


def trial_of(experiment: Experiment, **changes: Any) -> TrialRecord:
    (trial,) = plan(experiment)[0].groups[0].trials
    nothing = SAMPLE.with_name("empty")
    exit = AgentExit(returncode=0, stopped=None, stdout=SAMPLE, stderr=nothing)
    figures = figures_of(Claude().outcome(exit))
    return make_trial("canopy", agent=1, trial=trial.id, task_id="a", **(figures | changes))


def test_an_answer_is_scored_again_and_its_record_stays(tmp_path: Path, repo: Path) -> None:
    folder = session(tmp_path, repo)
    before = folder.records.path.read_bytes()
    summary = rescore(folder.path).markdown
    assert folder.records.path.read_bytes() == before
    (record,) = folder.read().trials
    assert record.scores is not None
    assert record.scores["fact_share"] == 0.5
    assert record.result_lines == 1
    assert "rescored.jsonl" in summary
    rescore(folder.path)
    assert folder.read().trials == (record,)


def test_without_its_stream_an_answer_keeps_its_scores(
    tmp_path: Path, repo: Path, golden: Sentences
) -> None:
    folder = session(tmp_path, repo, kept=False, scores={"letters": 7})
    summary = rescore(folder.path).markdown
    (record,) = folder.read().trials
    assert record.scores is not None
    assert (record.scores["letters"], record.scores["fact_share"]) == (7, None)
    assert record.missing_scores is not None
    assert "is not there" in record.missing_scores["fact_share"]
    golden(_undated(parts(summary)))


def test_a_repository_that_was_moved_can_be_named(tmp_path: Path, repo: Path) -> None:
    folder = session(tmp_path, repo)
    moved = repo.rename(tmp_path / "moved")
    rescore(folder.path)
    (record,) = folder.read().trials
    assert record.missing_scores is not None
    assert "--repo" in record.missing_scores["fact_share"]
    rescore(folder.path, repo=moved)
    (record,) = folder.read().trials
    assert (record.scores or {})["fact_share"] == 0.5


def test_an_agent_that_failed_has_found_nothing(tmp_path: Path, repo: Path) -> None:
    folder = session(tmp_path, repo, cause=Cause.TIMEOUT, status="budget-reached")
    rescore(folder.path)
    (record,) = folder.read().trials
    assert record.scores is not None
    assert record.scores["fact_share"] == 0
    assert record.result_lines is None


def test_a_key_can_be_corrected(tmp_path: Path, repo: Path) -> None:
    folder = session(tmp_path, repo)
    before = (folder.path / "experiment.json").read_bytes()
    suite = tmp_path / "mine.yaml"
    task = "tasks: [{id: a, title: A, prompt: '1 + 1?', key: {facts: ['[a-z]']}}]"
    suite.write_text(task)
    rescore(folder.path, tasks=str(suite))
    (record,) = folder.read().trials
    assert (record.scores or {})["fact_share"] == 1
    assert (folder.path / "superseded-1-experiment.json").read_bytes() == before
    (corrected,) = folder.read_experiment().tasks
    assert corrected.key is not None
    assert corrected.key.facts == ("[a-z]",)
    suite.write_text(task.replace("1 + 1?", "Who?"))
    with pytest.raises(UsageError, match="asks something else"):
        rescore(folder.path, tasks=str(suite))
    suite.write_text(task.replace("id: a", "id: b"))
    with pytest.raises(UsageError, match="none of the session's tasks"):
        rescore(folder.path, tasks=str(suite))


def test_the_scorers_of_a_corrected_task_file_are_those_that_look(
    tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = session(tmp_path, repo)
    suite = tmp_path / "mine.yaml"
    tasks = "tasks: [{id: a, title: A, prompt: '1 + 1?', key: {facts: ['[a-z]']}}]\n"
    suite.write_text(tasks + "scorers: ['scorers_of_mine:Mine']\n")
    rescore(folder.path, tasks=str(suite))
    scores = folder.read().trials[0].scores or {}
    assert "letters" in scores
    assert "fact_share" not in scores
    with pytest.raises(UsageError, match="scorers_of_mine:Mine"):
        rescore(folder.path)
    suite.write_text(tasks)
    with pytest.raises(UsageError, match="scorers_of_mine:Mine"):
        rescore(folder.path, tasks=str(suite))
    suite.write_text(tasks + "scorers: [facts]\n")
    rescore(folder.path, tasks=str(suite))
    assert "fact_share" in (folder.read().trials[0].scores or {})


def test_scores_of_other_keys_are_not_kept(tmp_path: Path, repo: Path, golden: Sentences) -> None:
    folder = session(tmp_path, repo, kept=False, scores={"fact_share": 0.5})
    suite = tmp_path / "mine.yaml"
    suite.write_text("tasks: [{id: a, title: A, prompt: '1 + 1?', key: {facts: ['[a-z]']}}]")
    summary = rescore(folder.path, tasks=str(suite)).markdown
    (record,) = folder.read().trials
    assert (record.scores or {})["fact_share"] is None
    assert "fact_share" in (record.missing_scores or {})
    golden(_undated(parts(summary)))


def test_scores_of_a_key_that_stayed_are_kept(tmp_path: Path, repo: Path) -> None:
    folder = session(tmp_path, repo, kept=False, scores={"fact_share": 0.5})
    suite = tmp_path / "mine.yaml"
    facts = "['[a-z]', never said]"
    suite.write_text(f"tasks: [{{id: a, title: A, prompt: '1 + 1?', key: {{facts: {facts}}}}}]")
    rescore(folder.path, tasks=str(suite))
    assert (folder.read().trials[0].scores or {})["fact_share"] == 0.5


def test_facts_of_an_earlier_version_stay_so_where_no_answer_can_be_read(
    tmp_path: Path, repo: Path
) -> None:
    folder = session(tmp_path, repo, kept=False, scores={"fact_share": 0.5})
    summary = rescore(folder.path).markdown
    scores = folder.read().trials[0].scores or {}
    assert "fact_share_elsewhere" not in scores
    assert "by an earlier version" in summary


def test_a_session_without_answers_is_refused(tmp_path: Path, repo: Path) -> None:
    folder = session(tmp_path, repo, cause=Cause.NOT_STARTED, status="harness-failed")
    with pytest.raises(UsageError, match="no answers"):
        rescore(folder.path)
    with pytest.raises(UsageError, match="holds no session"):
        rescore(tmp_path)


def test_code_that_a_session_names_needs_trust(
    tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = session(tmp_path, repo, scorers=("facts", "scorers_of_mine:Mine"))
    with pytest.raises(UsageError, match="scorers_of_mine:Mine"):
        rescore(folder.path)
    assert folder.read().trials[0].scores is None
    rescore(folder.path, trust=True)
    assert "letters" in (folder.read().trials[0].scores or {})
    rescore(folder.path)


def test_a_line_that_was_changed_is_named(tmp_path: Path, repo: Path) -> None:
    folder = session(tmp_path, repo)
    rescore(folder.path)
    lines = folder.path / "rescored.jsonl"
    lines.write_text(lines.read_text().replace('"fact_share":0.5', '"fact_share":1.0'))
    audit = folder.read().audit
    assert audit is not None
    assert audit.edited_beside == {("rescored.jsonl", "canopy"): 1}


def test_the_workspace_is_what_stands_before_the_paths_of_files() -> None:
    mentions = ("/tmp/w1/repo/src/a.py", "/usr/lib/b.py", "/tmp/w1/repo/src/b.py:3", "src/a.py")
    call = Retrieved(tool="Read", turn=1, seconds=None, tokens=None, mentions=mentions)
    outcome = Outcome(cause=Cause.FINISHED, text="See /tmp/w1/repo/src/b.py.", retrieved=(call,))
    files = frozenset({"src/a.py", "src/b.py", "b.py"})
    assert guess_workspace(outcome, files) == "/tmp/w1/repo"
    assert guess_workspace(Outcome(cause=Cause.FINISHED, text="See src/a.py"), files) == ""


def test_the_workspace_stands_before_names_that_are_no_words() -> None:
    outcome = Outcome(cause=Cause.FINISHED, text="See /tmp/w1/repo/app/[id]/my page.tsx.")
    assert guess_workspace(outcome, frozenset({"app/[id]/my page.tsx"})) == "/tmp/w1/repo"


def _undated(text: str) -> str:
    """Return a text without the day on which answers were scored again."""
    return re.sub(r"wrote last on [\d-]{10}", "wrote last on DATE", text)

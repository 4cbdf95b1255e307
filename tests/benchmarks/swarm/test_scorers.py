"""Which scorers look at what an agent left."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from swarm_bench.benchmarks.swarm.scorers import ScorableAnswer, Trees, load_scorers, score_answer
from swarm_bench.core.errors import ConfigError, HarnessError, UnknownName
from swarm_bench.core.outcome import Outcome
from swarm_bench.core.ports import Score, ScoreContext
from swarm_bench.core.session.experiment import Repository
from swarm_bench.core.session.tasks import AnswerKey, Task, group_tasks
from swarm_bench.core.status import Cause
from swarm_bench.engine.scoring import ScoringResult
from swarm_bench.runtime.workspaces.workspace import Snapshot, remove_files, take_snapshot
from tests.builders.experiments import experiment
from tests.builders.repositories import commit, git, start

KEY = AnswerKey(facts=("three", "retries"))


def scored_as(
    cause: Cause,
    text: str | None = None,
    key: AnswerKey | None = KEY,
    root: str = "",
    others: tuple[Task, ...] = (),
) -> ScoringResult:
    task = Task(id="a", title="a", prompt="What?", key=key)
    answer = ScorableAnswer(
        outcome=Outcome(cause=cause, text=text),
        task=task,
        tasks=(task, *others),
        groups=group_tasks((task, *others), None),
        workspace="/w",
        commit=None,
    )
    repository = experiment().repository.model_copy(update={"path": root})
    with Trees(repository=repository, recorded_files=None if root else {}) as trees:
        return score_answer(load_scorers(), answer, trees, ())


def test_an_answer_is_compared_with_its_key() -> None:
    result = scored_as(Cause.FINISHED, "It retries.")
    assert (result.scores or {})["fact_share"] == 0.5
    assert vars(result.own_scores)["result_lines"] == 1


def test_an_answer_is_compared_with_the_keys_of_unrelated_tasks() -> None:
    def other(prompt: str, fact: str, *files: str) -> Task:
        key = AnswerKey(facts=(fact,), files=files)
        return Task(id=prompt, title="b", prompt=prompt, key=key)

    key = AnswerKey(files=("a.py",), facts=("retries",))
    others = (other("What?", "it"), other("Why?", "it", "a.py"), other("Who?", "never"))
    scores = scored_as(Cause.FINISHED, "It retries.", key, others=others).scores or {}
    assert (scores["fact_share"], scores["fact_share_elsewhere"]) == (1, 0)


@pytest.mark.parametrize(
    "cause",
    [Cause.MAX_TURNS, Cause.TIMEOUT, Cause.EMPTY_ANSWER, Cause.EXIT_CODE, Cause.ANSWER_CUT],
)
def test_an_agent_that_gives_no_answer_has_found_nothing(cause: Cause) -> None:
    text = "It retries three times" if cause is Cause.ANSWER_CUT else None
    result = scored_as(cause, text)
    assert (result.scores or {})["fact_share"] == 0
    assert set(vars(result.own_scores).values()) == {None}
    assert result.failures is None


@pytest.mark.parametrize(
    "cause",
    [Cause.RATE_LIMITED, Cause.NOT_STARTED, Cause.SERVICE_FAILED, Cause.INTERRUPTED],
)
def test_nobody_knows_what_an_agent_would_have_found_that_others_stopped(cause: Cause) -> None:
    assert scored_as(cause) == ScoringResult()


@pytest.mark.parametrize("key", [None, AnswerKey(files=("a.py",))])
def test_what_a_key_does_not_have_is_not_asked_for(key: AnswerKey | None) -> None:
    assert "fact_share" not in (scored_as(Cause.FINISHED, "It retries.", key).scores or {})


def test_a_repository_that_is_gone_spoils_no_other_score(tmp_path: Path) -> None:
    result = scored_as(Cause.FINISHED, "It retries.", root=str(tmp_path / "gone"))
    assert (result.scores or {})["fact_share"] == 0.5
    assert result.failures is None


@dataclass(frozen=True)
class Mine:
    name = "mine"
    version = 1
    keys = ("letters",)

    def score(self, context: ScoreContext) -> Mapping[str, Score]:
        return {"letters": len(context.text)}


def test_a_suite_chooses_its_scorers() -> None:
    names = [scorer.name for scorer in load_scorers(("facts", f"{__name__}:Mine", "length"))]
    assert names == ["length", "digest", "facts", "mine"]
    assert [scorer.name for scorer in load_scorers(())] == ["length", "digest"]


def test_a_scorer_that_there_is_not_is_refused() -> None:
    with pytest.raises(UnknownName, match="facts"):
        load_scorers(("fact",))
    with pytest.raises(ConfigError, match="nowhere"):
        load_scorers(("nowhere_at_all:Class",))


pytestmark = pytest.mark.anyio


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    (made := tmp_path / "repo" / "sub").mkdir(parents=True)
    (made / "a.py").write_text("first = 1\n")
    (made / ".canopy").mkdir()
    (made / ".canopy" / "index.db").write_text("an index\n")
    return made


async def test_each_commit_has_files_and_contents_of_its_own(repo: Path, tmp_path: Path) -> None:
    first = commit(start(repo), "first", {})
    second = commit(repo, "second", {"a.py": "second = 2\n", "b.py": ""})
    snapshot = await take_snapshot(repo, tmp_path / "snapshot.git", dirty=False)
    with Trees(repository=snapshot.repository, copy=snapshot) as trees:
        assert trees.files(first) == {"a.py"}, "of the folder, and without an index"
        assert trees.files(second) == trees.files(None) == {"a.py", "b.py"}
        read = [tree.read("a.py") for tree in map(trees.tree, (first, second, None)) if tree]
        assert read == [b"first = 1\n", b"second = 2\n", b"second = 2\n"]
        with pytest.raises(HarnessError, match="cannot list the files"):
            trees.files("0" * 40)


async def test_files_with_answer_keys_are_in_no_commit(repo: Path, tmp_path: Path) -> None:
    first = commit(start(repo), "first", {"keys.toml": "the keys\n"})
    commit(repo, "second", {"keys.toml": "none any more\n", "more.toml": "the keys\n"})
    taken = await take_snapshot(repo, tmp_path / "snapshot.git", dirty=False)
    keys = git(repo, "rev-parse", "HEAD:./more.toml")
    snapshot = await remove_files(taken, frozenset({keys}))
    with Trees(repository=snapshot.repository, copy=snapshot) as trees:
        assert trees.files(first) == {"a.py"}
        assert trees.files(None) == {"a.py", "keys.toml"}
        assert (tree := trees.tree(None)) is not None
        assert tree.files == trees.files(None)
    named = snapshot.repository.model_copy(update={"answers": ("keys.toml", "more.toml")})
    with Trees(repository=named) as trees:
        assert trees.files(first) == trees.files(None) == {"a.py"}, (
            "by path, where all else is gone"
        )


async def test_what_is_in_no_commit_is_read_from_the_copy(repo: Path, tmp_path: Path) -> None:
    snapshot = await take_snapshot(repo, tmp_path / "snapshot.git", dirty=False)
    (repo / "a.py").write_text("changed meanwhile\n")
    with Trees(repository=snapshot.repository, copy=snapshot) as trees:
        tree = trees.tree(None)
        assert tree is not None
        assert tree.read("a.py") == b"first = 1\n"


def test_a_replay_reads_no_repository() -> None:
    repository = Repository(path="/r", kind="git", commit="a" * 40, tree="t", files=1, bytes=1)
    recorded = {"b" * 40: frozenset({"then.py"})}
    own = Snapshot(path=Path("/r"), repository=repository, files=frozenset({"own.py"}))
    with Trees(repository=repository, copy=own, recorded_files=recorded) as trees:
        assert trees.files("b" * 40) == {"then.py"}
        assert trees.files(None) == {"own.py"}
        assert trees.tree(None) is None

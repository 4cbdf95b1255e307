"""What is in no clone, of a session that goes on."""

from swarm_bench.benchmarks.swarm.plan.resume import continued
from swarm_bench.core.session.experiment import Repository
from swarm_bench.runtime.workspaces.omissions import sentences_on

OLD = Repository(
    path="/r", kind="git", commit="a" * 40, tree="t", files=1, bytes=1, left_out=("1 link is out",)
)
NEW = OLD.model_copy(
    update={"answers": ("keys.toml",), "left_out": (*OLD.left_out, "1 file was not looked through")}
)


def test_a_session_that_goes_on_says_what_is_in_no_clone_from_now_on() -> None:
    grown = continued(OLD, NEW, any_recorded=True)
    assert grown.left_out[:2] == NEW.left_out
    answers, *others, earlier = sentences_on(grown)
    assert "keys.toml" in answers, "before the sentence on the trials that had it"
    assert (*others, earlier) == grown.left_out
    assert "trials before" in earlier


def test_it_says_the_same_once_however_often_it_goes_on() -> None:
    grown = continued(OLD, NEW, any_recorded=True)
    assert continued(grown, NEW, any_recorded=True) == grown

"""What is in no clone, of a session that goes on."""

from datetime import UTC, datetime

from swarm_bench.analysis.caveats.clones import had_keys
from swarm_bench.benchmarks.swarm.plan.resume import continue_repository
from swarm_bench.core.session.experiment import Repository
from swarm_bench.runtime.workspaces.omissions import sentences_on

OLD = Repository(
    path="/r", kind="git", commit="a" * 40, tree="t", files=1, bytes=1, left_out=("1 link is out",)
)
NEW = OLD.model_copy(
    update={"answers": ("keys.toml",), "left_out": (*OLD.left_out, "1 file was not looked through")}
)


def test_a_session_that_goes_on_says_what_is_in_no_clone_from_now_on() -> None:
    began = datetime.now(UTC)
    grown = continue_repository(OLD, NEW, any_recorded=True)
    answers, *others = sentences_on(grown)
    assert "keys.toml" in answers
    assert tuple(others) == NEW.left_out
    assert had_keys(grown, began), "also on the day on which it goes on"
    assert had_keys(grown, None), "an older version did not record when a trial started"
    assert not had_keys(grown, datetime.now(UTC))


def test_trials_had_no_such_files_where_there_are_none_and_where_none_was_run() -> None:
    nothing = NEW.model_copy(update={"answers": ()})
    looked = OLD.model_copy(update={"answers": ()})
    for old, new, any_recorded in ((OLD, nothing, True), (OLD, NEW, False), (looked, NEW, True)):
        grown = continue_repository(old, new, any_recorded=any_recorded)
        assert not had_keys(grown, None)


def test_it_says_the_same_once_however_often_it_goes_on() -> None:
    grown = continue_repository(OLD, NEW, any_recorded=True)
    assert continue_repository(grown, NEW, any_recorded=True) == grown

"""`swarm-bench demo` as a process; `test_readme.py` runs it to its verdict."""

from tests.e2e.conftest import Bench


def test_a_folder_that_is_taken_is_refused_before_anything_runs(bench: Bench) -> None:
    (taken := bench.folder / "taken").mkdir()
    (taken / "note.txt").write_text("mine")
    done = bench.call("demo", "--output", "taken")
    assert (done.code, done.out) == (2, "")
    assert "taken" in done.err
    assert [path.name for path in taken.iterdir()] == ["note.txt"]


def test_its_session_can_be_looked_at_in_a_checkout_of_something_else(bench: Bench) -> None:
    """What it lays out is a plain folder there too, and can be compared by hand."""
    here = Bench(folder=bench.repo, repo=bench.repo)
    (here.folder / "swarm-taken").write_text("")
    assert here.call("demo", "--output", "swarm-taken").code == 2
    (laid_out,) = here.folder.glob("demo-*")
    words = ("compare", "--repo", f"{laid_out}/source", "--tasks", f"{laid_out}/demo.yaml")
    plan = here.call(*words, "--plan", "--runs", "1")
    assert plan.code == 0, plan.err
    assert "plain folder" in plan.out
    assert "108 to run" in plan.out
    assert "demo, 36 of 36" in plan.out

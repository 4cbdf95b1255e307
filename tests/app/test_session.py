"""A session that ends by an error has a summary, whichever benchmark it is of."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from swarm_bench.app.session import manage_child_processes, summarise_on_failure
from swarm_bench.benchmarks.cases.folder import CaseFolder
from swarm_bench.core.errors import HarnessError, StoreError
from swarm_bench.core.session.cases import Case, CaseExperiment, CaseRecord


def session(path: Path) -> CaseFolder[CaseExperiment, CaseRecord]:
    folder = CaseFolder(path, CaseExperiment, CaseRecord)
    experiment = CaseExperiment(
        session="toy", created_at=datetime.now(UTC), benchmark="toy", arms=("a",), runs=1,
        seed=0, order=(("a",),), concurrency=1, cases=(Case(id="yes", title="say yes"),),
    )  # fmt: skip
    folder.write_experiment(experiment)
    return folder


def test_after_a_full_disk_the_command_to_continue_is_named(tmp_path: Path) -> None:
    written = list[str]()
    with (
        pytest.raises(StoreError, match="the disk is full; then continue with: again"),
        summarise_on_failure(session(tmp_path), lambda: written.append("summary"), "again"),
    ):
        raise StoreError("the disk is full")
    assert written == ["summary"]


def test_a_summary_for_which_there_is_no_room_hides_nothing(tmp_path: Path) -> None:
    def write() -> None:
        raise StoreError("still full")

    with (
        pytest.raises(StoreError, match="the disk is full; then continue with: again"),
        summarise_on_failure(session(tmp_path), write, "again"),
    ):
        raise StoreError("the disk is full")


def test_without_a_session_the_command_is_to_be_repeated(tmp_path: Path) -> None:
    written = list[str]()
    folder = CaseFolder(tmp_path, CaseExperiment, CaseRecord)
    with (
        pytest.raises(StoreError, match="the disk is full; then repeat the command"),
        summarise_on_failure(folder, lambda: written.append("summary"), "again"),
    ):
        raise StoreError("the disk is full")
    assert written == []


def test_after_a_defect_there_is_a_summary_and_the_defect(tmp_path: Path) -> None:
    written = list[str]()
    with (
        pytest.raises(ZeroDivisionError),
        summarise_on_failure(session(tmp_path), lambda: written.append("summary"), "again"),
    ):
        raise ZeroDivisionError
    assert written == ["summary"]


@pytest.mark.parametrize("error", [SystemExit(0), BaseExceptionGroup("", [SystemExit(0)])])
def test_an_exit_of_somebody_elses_code_is_no_success(tmp_path: Path, error: BaseException) -> None:
    with pytest.raises(HarnessError, match="by SystemExit; fix it"), manage_child_processes():
        raise error
    written = list[str]()
    with (
        pytest.raises(HarnessError, match="by SystemExit; fix it"),
        summarise_on_failure(session(tmp_path), lambda: written.append("summary"), "again"),
    ):
        raise error
    assert written == ["summary"]


def test_an_interruption_is_none() -> None:
    both = BaseExceptionGroup("", [SystemExit(0), KeyboardInterrupt()])
    with pytest.raises(BaseExceptionGroup), manage_child_processes():
        raise both

import pytest

from swarm_bench.core.errors import UsageError
from swarm_bench.models.rehearsal.faults import Fault, fault_of, parse_faults


@pytest.mark.parametrize(
    ("spec", "requests"),
    [
        ("refusal", {1, 2, 3, 4, 5}),
        ("refusal:1", {1}),
        ("refusal:2-4", {2, 3, 4}),
        ("refusal:5-5", {5}),
    ],
)
def test_a_fault_befalls_the_requests_that_it_names(spec: str, requests: set[int]) -> None:
    fault = Fault.parse(spec)
    assert {number for number in range(1, 6) if fault.befalls(number)} == requests


def test_of_several_faults_the_first_that_fits_is_played() -> None:
    faults = parse_faults(["overloaded:2", "rate-limit:1-3"])
    assert [fault_of(faults, number) for number in range(1, 5)] == [
        "rate-limit", "overloaded", "rate-limit", None,
    ]  # fmt: skip


def test_an_unknown_fault_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"no fault called 'flood'; known: broken-stream, "):
        parse_faults(["rate-limit", "flood:2"])
    with pytest.raises(UsageError, match="no fault called 'refsal'; did you mean 'refusal'"):
        parse_faults(["refsal"])


@pytest.mark.parametrize("numbers", ["", "0", "x", "2-", "-2", "3-2", "1-2-3", "٣", "1.5", "+1"])
def test_numbers_that_are_none_are_refused(numbers: str) -> None:
    with pytest.raises(UsageError, match="does not say which requests; write NAME, NAME:N"):
        Fault.parse(f"refusal:{numbers}")

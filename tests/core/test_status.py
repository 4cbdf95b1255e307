"""Causes in words."""

import pytest

from swarm_bench.core.status import CONSEQUENCES, Cause, Status, name_cause, name_end, name_status


@pytest.mark.parametrize("cause", Cause)
def test_an_end_is_named_in_words_that_are_no_key(cause: Cause) -> None:
    label = name_end(cause, CONSEQUENCES[cause].status)
    assert label
    assert "-" not in label
    assert label not in {cause.value for cause in Cause} - {"finished", "interrupted"}


def test_each_cause_has_words_of_its_own() -> None:
    labels = [consequence.label for consequence in CONSEQUENCES.values()]
    assert len({*labels}) == len(labels) == len(Cause)


def test_without_a_cause_the_status_says_it() -> None:
    assert name_end(None, Status.AGENT_FAILED) == "agent failed"
    assert name_end(None, None) == "not recorded"
    assert name_cause(None) is name_status(None) is None

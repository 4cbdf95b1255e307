"""Settings of a verdict, as they are stored."""

from typing import Any

import pytest
from pydantic import ValidationError

from tests.builders.sessions import make_experiment


@pytest.mark.parametrize("name", ["margin", "quality_margin"])
@pytest.mark.parametrize("value", [-1, "", [], True, 5.0, 1e300, float("nan"), None])
def test_a_margin_is_a_number_between_0_and_1(name: str, value: Any) -> None:
    settings = {name: {"value": value, "source": "command line"}}
    with pytest.raises(ValidationError, match=f"has a {name} that is no number between 0 and 1"):
        make_experiment(("baseline",), settings=settings)

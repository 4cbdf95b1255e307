"""Properties of a benchmark as they are typed: lists and mappings are JSON, keys in them too."""

import pytest
from pydantic import BaseModel

from swarm_bench.app.setup.case_properties import resolve_properties
from swarm_bench.core.errors import UsageError


class Nested(BaseModel, extra="forbid"):
    names: list[str] = []
    headers: dict[str, str] = {}
    rows: int | None = 3
    text: str = ""


def test_lists_and_mappings_are_json_and_words_stay_words() -> None:
    typed = ['names=["a", "b"]', 'headers={"style": "short"}', "rows=null", 'text=["a"]']
    assert resolve_properties("toy", Nested, typed, {}).safe == {
        "names": ["a", "b"],
        "headers": {"style": "short"},
        "rows": None,
        "text": '["a"]',
    }


@pytest.mark.parametrize("typed", ["names=a,b", 'names=["a"', 'names={"a": 1}'])
def test_what_is_no_list_is_refused(typed: str) -> None:
    with pytest.raises(UsageError, match="names must be a list; write it as JSON"):
        resolve_properties("toy", Nested, [typed], {})


def test_a_key_in_a_mapping_is_not_stored() -> None:
    typed = ['headers={"Authorization": "Bearer abcdefgh12345678", "password": "an-other-one"}']
    properties = resolve_properties("toy", Nested, typed, {})
    assert properties.safe["headers"] == "(not stored)"
    assert {"abcdefgh12345678", "an-other-one"} <= {*properties.secrets}
    with pytest.raises(UsageError, match="does not store headers"):
        resolve_properties("toy", Nested, [], properties.safe)

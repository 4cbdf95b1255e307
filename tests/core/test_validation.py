"""What is wrong in a file that a person wrote: all of it at once, with lines and what was meant."""

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from swarm_bench.config.located import located_json
from swarm_bench.core.validation import MAX_PROBLEMS, build_file_error
from tests.builders.golden import Sentences


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid")
    prompt: str
    count: int = 0


class File(BaseModel):
    model_config = ConfigDict(extra="forbid")
    parts: list[Part]
    own: Part | None = Field(None, alias="ownPart")


def wrong(text: str) -> str:
    with pytest.raises(ValidationError) as caught:
        File.model_validate_json(text)
    located = located_json(text)
    return str(build_file_error("x.json", caught.value, File, located.line if located else None))


def test_all_problems_are_said_in_the_order_of_their_lines(golden: Sentences) -> None:
    text = '{\n\t"parts": [\n    {"promt": "a",\n     "count": "many"}\n  ],\n  "ownpart": {}\n}'
    golden(wrong(text))


def test_a_key_in_a_wrong_place_is_not_what_was_meant(golden: Sentences) -> None:
    said = wrong('{"parts": [], "prompt": "a"}')
    golden(said)


def test_many_problems_are_counted(golden: Sentences) -> None:
    said = wrong('{"parts": [' + ", ".join(["1"] * (MAX_PROBLEMS + 2)) + "]}")
    golden(said)
    assert said.count("x.json:1") == MAX_PROBLEMS

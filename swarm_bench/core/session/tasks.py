"""What agents are asked, and what a right answer names."""

from datetime import date
from typing import Annotated

from pydantic import Field

from swarm_bench.core.session.base import Case
from swarm_bench.core.stored import Stored

SYMBOL_MARK = "::"
"""Between the path and the name of a symbol of an answer key."""

DONE_ALREADY = "done-already"
"""Tag of a task that asks for a change which its commit has already."""

Weight = Annotated[float, Field(ge=1e-6, le=1e6)]
"""Within bounds in which means can be computed."""


class AnswerKey(Stored):
    """What a right answer names. Empty parts are not asked for."""

    files: tuple[str, ...] = ()
    """Paths below the root of the repository, with `/`."""
    symbols: tuple[str, ...] = ()
    """Functions, classes and methods, as `path/of/file.py::Class.method`."""
    facts: tuple[str, ...] = ()
    """Regular expressions that a right answer matches, whatever the case of letters."""


class Task(Case):
    """One piece of work for one agent."""

    prompt: str
    keywords: str = ""
    """The question in a few words, as one types them into a search box."""
    commit: str | None = None
    """The whole hash of the commit that it is asked on; `None` for that of the session."""
    written: date | None = None
    """When the answer came into the repository: a model trained later may have seen it."""
    key: AnswerKey | None = None
    """`None` where nobody knows the right answer."""
    weight: Weight = 1.0
    """Of the task in means over tasks."""
    tags: tuple[str, ...] = ()

"""What the counters of a probe mean. A session stores it: a report loads no code for it."""

from typing import Annotated

from pydantic import Field

from swarm_bench.core.stored import Stored

Text = Annotated[str, Field(max_length=200)]
Key = Annotated[str, Field(min_length=1, max_length=64)]


class Counters(Stored):
    """The counters that say how often a retrieval tool was asked."""

    tool: Text
    """Name of what counts: `the service`."""
    counted: Text
    """The beginning of a sentence that ends with a number: `the service counted`."""
    rules: Text = "its counters"
    """Source of the rules that say what is counted for a call."""
    nouns: dict[Key, Text] = Field(min_length=1, max_length=50)
    """Nouns for what each of them counts, in the singular, by its name in the differences."""
    uses: tuple[Key, ...] = ()
    """Counters that tell, added up, whether the tool was used; all of them if omitted."""
    may_lack: tuple[Key, ...] = ()
    """Counters that not every version of the tool has."""
    file: Text | None = None
    """The file below the workspace that the tool makes when it counts for the first time. No
    reading before and after the agents means that nothing was counted."""
    shared: bool = False
    """Whether the counters of `--service-url` may include calls of other clients."""

    @property
    def telling(self) -> tuple[str, ...]:
        """The counters whose sum tells whether the tool was used."""
        return self.uses or tuple(self.nouns)

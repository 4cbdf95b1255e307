"""What the witnesses of a trial say about the retrieval tool, and the label that follows."""

import operator
from enum import StrEnum
from typing import Literal

from pydantic import Field

from swarm_bench.core.stored import Stored


class Treatment(StrEnum):
    """What became of the retrieval tool in one trial."""

    USED = "used"
    """A call of a tool of the mode that retrieves was answered, without an error."""
    UNUSED = "unused"
    """The tool was there, and no such call was answered."""
    NOT_CONNECTED = "not-connected"
    CONTAMINATED = "contaminated"
    """A tool that the mode does not give was offered or called, or the answer was reached."""
    NOT_GIVEN = "not-given"
    """The mode gives no tool, and none was seen."""
    UNKNOWN = "unknown"
    """The agent shows none of it."""


Agreement = Literal["agree", "explained", "contradict"]
"""Whether two witnesses say the same; `explained` when a known rule of the tool's counters makes
the difference."""


MOST_OUTSIDE = 20
"""Sentences on what one agent reached beside its servers that are kept."""
LONGEST_OUTSIDE = 300
"""Characters of each."""


class Evidence(Stored):
    """What the witnesses of one trial say about the tool of its mode; the label follows from it.

    1. the agent's start event, 2. its transcript, 3. the tool's own counters, 4. what was started,
    asked and read beside the servers of the mode, which leaves the label as it is.
    """

    connected: tuple[str, ...] | None = None
    """Servers of the mode that the start event shows connected; `None` when it shows no server."""
    offered: int | None = None
    """Tools of the mode's servers that were offered at the start."""
    foreign: tuple[str, ...] = ()
    """Servers and tools that were seen and that the mode does not give."""
    calls: int | None = None
    """Calls of the mode's tools in the transcript; `None` when it shows no calls."""
    failed: int | None = None
    """Number of those calls that came back with an error."""
    unanswered: int | None = None
    """Number of those calls without a result; `None` when the transcript cannot show them."""
    retrieved: int | None = None
    """Number of those calls that were answered, of tools that search or read; `None` when the
    transcript shows no calls, or the purposes of the tools were unknown."""
    unclear: tuple[str, ...] = ()
    """Tools of the mode that answered and whose purpose is unknown."""
    others: tuple[str, ...] = ()
    """Tools of the mode that answered and do not retrieve: they tell the state of the tool, keep
    its index, or change something."""
    start: Agreement | None = None
    """How the start event fits the answered calls of the transcript; `None` when one of the two
    shows nothing."""
    counters: Agreement | None = None
    """How the counters of the trial's swarm fit its transcripts; `None` when there are none, or
    they were not read. Counters cannot be told apart by agent."""
    outside: tuple[str, ...] = ()
    """A sentence for each way in which the agent seems to have reached a tool that its mode does
    not give: a program, an address, an index, a bare name."""
    answers: tuple[str, ...] = Field(default=(), exclude_if=operator.not_)
    """A sentence for each place with answers that the agent of a task with a key reached: the trial
    is contaminated. In lines without any there is no such key."""
    why: tuple[str, ...] = ()
    """A sentence for each contradiction, and for each difference that is explained."""

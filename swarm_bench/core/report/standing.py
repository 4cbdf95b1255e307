"""What is said of a mode, or of another arm, before its figures."""

from dataclasses import dataclass

from swarm_bench.core.report.document import Tone


@dataclass(frozen=True, kw_only=True)
class Caveat:
    """One thing that stands against the figures of a mode, or of another arm. There is no warning
    without a qualification, so that no reader of caveats says less than the warnings."""

    qualification: str
    """A clause for the headline. Equal ones are said once."""
    warning: str | None = None
    """One sentence or more, with the mode, the numbers and the places; `None` when the clause says
    it all."""
    is_void: bool = False
    """Whether it leaves no evidence: no gain is claimed, and no limit holds."""


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What the witnesses and the answer keys make of one mode."""

    mode: str
    verdict: str = ""
    """What the rule makes of it, in a sentence; empty for the reference, a control, and without a
    verdict."""
    tone: Tone | None = None
    """Of the verdict."""
    treatment: str = ""
    """How many of its trials were connected to the tool and used it; empty without a tool."""
    no_verdict: str | None = None
    """Why nothing can be said of the mode."""
    qualifications: tuple[str, ...] = ()
    """What must be known before its figures are believed; empty where there is no verdict."""
    correctness: str = ""
    """Whether it found as much as the reference; empty for that, without keys or a verdict."""

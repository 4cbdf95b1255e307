"""What is said of a mode, or of another arm, before its figures."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from swarm_bench.core.report.document import Answer


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


def make_caveat(arm: str, clause: str, remark: str = ".", *, is_void: bool = False) -> Caveat:
    """Make a caveat whose warning names the arm, with a remark behind the clause."""
    return Caveat(qualification=clause, warning=f"{arm}: {clause}{remark}", is_void=is_void)


def list_clauses(sides: Mapping[str, Sequence[Caveat]]) -> Iterator[str]:
    """Yield the caveats of all arms that no warning is of."""
    for arm, caveats in sides.items():
        for caveat in caveats:
            if caveat.warning is None:
                yield f"{arm}: {caveat.qualification}."


def describe_void(sides: Mapping[str, Sequence[Caveat]]) -> str:
    """Say what leaves no evidence of the first arm, or of another one that it is held against;
    empty where nothing does."""
    first_arm = next(iter(sides), None)
    return "; ".join(
        caveat.qualification if arm == first_arm else f"in {arm}, {caveat.qualification}"
        for arm, caveats in sides.items()
        for caveat in caveats
        if caveat.is_void
    )


def export_caveats(sides: Mapping[str, Sequence[Caveat]]) -> list[dict[str, str | bool]]:
    """Return the caveats of all arms as files for other programs have them."""
    return [
        {"arm": arm, "caveat": caveat.qualification, "void": caveat.is_void}
        for arm, caveats in sides.items()
        for caveat in caveats
    ]


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What the witnesses and the answer keys make of one mode."""

    mode: str
    answer: Answer | None = None
    """Answer of the rule, without what the witnesses say; `None` for the reference and a
    control."""
    concluded: bool | None = None
    """Whether that is a verdict, and not an open question; `None` where the rule is not asked."""
    treatment: str = ""
    """How many of its trials were connected to the tool and used it, and by which witnesses, in a
    sentence; empty without a tool."""
    use: str = ""
    """In how many of its trials the tool was used, in a clause; empty without a tool."""
    no_verdict: str | None = None
    """Reason why nothing can be said of the mode."""
    qualifications: tuple[str, ...] = ()
    """Qualifications that must be known before its figures are believed; empty where there is no
    verdict."""
    correctness: str = ""
    """Whether it found as much as the reference; empty for that, without keys or a verdict."""

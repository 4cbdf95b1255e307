"""What is answered for an arm, as one text."""

import re

from swarm_bench.core.report.document import Answer


def text_of(answer: Answer | None) -> str:
    """Write `helps: It used …. Next: …. Evidence: …`; empty without an answer."""
    if answer is None:
        return ""
    parts = (
        answer.figures,
        f"Next, {answer.next.aim}: {answer.next.command}." if answer.next else "",
        f"Evidence: {answer.evidence}" if answer.evidence else "",
    )
    return f"{answer.claim.strip(': ')}: {' '.join(filter(None, parts))}"


def answer_lines(summary: str, arm: str) -> str:
    """Return the lines of a summary that answer for an arm: the verdict, and what is below it."""
    match = re.search(rf"^- \*\*{re.escape(arm)}\b.*\n(?:  - .*\n)*", summary, re.M)
    if match is None:
        raise ValueError(f"no answer for {arm}")
    return match[0]

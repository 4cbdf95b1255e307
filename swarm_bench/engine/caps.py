"""Bounds for texts and names that go into a record, whatever their origin."""

LONGEST_NAME = 200
"""Characters."""
MOST_NAMES = 500
"""Names of one kind that are kept of a trial; no honest agent has as many tools."""
LONGEST_DETAIL = 2_000
"""Characters."""
OTHER_NAMES = "(others)"
"""Has the figures of all names that are not kept, so that sums stay right."""


def shorten(text: str, length: int = LONGEST_NAME) -> str:
    """Cut the text to that many characters; an ellipsis stands for the rest."""
    return text if len(text) <= length else f"{text[: length - 1]}…"

"""`{{ name }}` in a file that a person writes.

Known names are filled in, an unknown one is a mistake, and that is all: no statements and no
filters. What is not a name between the braces belongs to another program, as `{{.Names}}` and
`{{json .}}` do, and stays as it is.
"""

import re
from collections.abc import Callable, Collection

# A file may be a stranger's: every expression here takes time in proportion to the text.
PLACEHOLDER = r"\{\{\s*+(?P<placeholder>[A-Za-z_][^{}\s]*+)\s*+\}\}"
_PLACEHOLDER = re.compile(PLACEHOLDER)
_CLOSED = re.compile(r"\{\{\s*+(?P<first>\w*+)(?P<rest>[^{}\n]*+)\}\}")


def placeholders(text: str) -> set[str]:
    """Return the names in a text."""
    return set(_PLACEHOLDER.findall(text))


def substitute(text: str, put: Callable[[str], str]) -> str:
    """Return the text with what `put` gives for each name. One pass: what a value holds is not
    looked at again."""
    return _PLACEHOLDER.sub(lambda match: put(match["placeholder"]), text)


def remove_closed(text: str) -> str:
    """Return the text without anything that stands between `{{` and `}}` in a line."""
    return _CLOSED.sub(" ", text)


def check_placeholders(text: str, allowed: Collection[str]) -> None:
    """Raise `ValueError` with a clause for a name that is not allowed, and for an allowed name
    that does not stand alone."""
    for name in sorted(placeholders(text)):
        if name not in allowed:
            raise ValueError(
                f"has the placeholder {{{{ {name} }}}}; known are {', '.join(allowed)}"
            )
    for match in _CLOSED.finditer(text):
        if match["first"] in allowed and match["rest"].strip():
            raise ValueError(
                f"has {match[0]}, which is not filled in; write {{{{ {match['first']} }}}} alone"
            )

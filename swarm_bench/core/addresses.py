"""Addresses that are shown and stored: without the login that may stand in them."""

import re

_LOGIN = re.compile(r"(?:(?<=://)|(?<=\w:/))(?P<login>[^/?#@\s\"'<>]+)@")
"""Also behind one `/`, which is what a path makes of an address."""


def without_logins(text: str) -> str:
    """The text with every address in it as anyone may see it."""
    return _LOGIN.sub("", text)


def logins(text: str) -> list[re.Match[str]]:
    """Those of all addresses in the text, as the group `login`: `user:password`, or a token."""
    return list(_LOGIN.finditer(text))

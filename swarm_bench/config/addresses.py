"""Addresses that are shown and stored: without the login and the keys that may stand in them."""

import re

from swarm_bench.config.secret_names import names_secret

_LOGIN = re.compile(r"(?:(?<=://)|(?<=\w:/))(?P<login>[^/?#@\s\"'<>]+)@")
"""Login in an address, also behind one `/`, which is what a path makes of an address."""
_PARAMETER = re.compile(r"(?P<mark>[?&;])(?P<name>[\w.~-]++)=(?!\(not stored\))[^&;#\s\"'<>]+")


def remove_logins(text: str) -> str:
    """Return the text with every address in it as anyone may see it."""
    text = _LOGIN.sub("", text) if "@" in text else text
    return _PARAMETER.sub(_redact, text)


def find_logins(text: str) -> list[re.Match[str]]:
    """Find the logins of all addresses, as the group `login`: `user:password`, or a token."""
    return list(_LOGIN.finditer(text))


def _redact(parameter: re.Match[str]) -> str:
    mark, name = parameter["mark"], parameter["name"]
    return f"{mark}{name}=…" if names_secret(name) else parameter[0]

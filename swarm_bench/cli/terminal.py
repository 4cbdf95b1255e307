"""What may be written to a terminal: agents and programs can print what would drive it."""


def printable(text: str) -> str:
    """The text on one line, without characters that a terminal takes for commands."""
    return "".join(one if one.isprintable() else " " for one in text)

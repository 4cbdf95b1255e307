"""How a prompt is given to a program that has commands of its own."""


def not_a_command(prompt: str) -> str:
    """Keep a slash from the beginning: the prompt would be taken for a command, and not reach the
    model."""
    return f"\n{prompt}" if prompt.startswith("/") else prompt

"""Kinds of control arms: light, because the options name them."""

from typing import Literal

ControlKind = Literal["instructions", "placebo"]
"""`instructions`: no tool at all. `placebo`: the tool's names and descriptions, and irrelevant
answers."""

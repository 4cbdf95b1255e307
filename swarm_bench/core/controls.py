"""Kinds of control arms: light, because the options name them."""

from typing import Literal

ControlKind = Literal["instructions", "placebo"]

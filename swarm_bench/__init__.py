"""Measures whether a retrieval tool helps coding agents, on your code, for its price."""

__version__ = "0.1.0"

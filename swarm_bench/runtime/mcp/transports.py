"""How an MCP server is reached, in the names that configurations have for it."""

STDIO_TYPES = ("stdio",)
HTTP_TYPES = ("http", "streamable-http", "streamable_http", "streamableHttp")
"""Spellings of streamable HTTP in the files of agent programs and editors."""

"""What the servers answer instead of a result. None of these leaves the two server programs."""

import logging

from swarm_bench.core.errors import SwarmBenchError


class ToolError(SwarmBenchError):
    """The call could not be done: JSON-RPC -32000, HTTP 500 `internal_error`."""

    code = "internal_error"
    http_status = 500
    rpc_code = -32000
    hint = "Look at the message, change the request and send it again"


class InvalidParameters(ToolError):
    """A parameter is missing or unusable: JSON-RPC -32602."""

    rpc_code = -32602


class InvalidRepo(ToolError):
    """The path is not the top of a git checkout."""

    code = "invalid_repo"
    http_status = 400
    hint = "Give the path of a folder that has .git in it"


class Unauthorized(ToolError):
    """The key is missing or wrong."""

    code = "unauthorized"
    http_status = 401
    hint = "Send the service's key in the X-Api-Key header"


class Forbidden(ToolError):
    """The service does not do that for any client."""

    code = "forbidden"
    http_status = 403


class Misdirected(ToolError):
    """The request was meant for another service."""

    code = "misdirected"
    http_status = 421
    hint = "Use the address that the service printed when it started"


class RepoNotFound(ToolError):
    """No repository has that id."""

    code = "repo_not_found"
    http_status = 404
    hint = "Register it with POST /repos/add"


class HandleNotFound(ToolError):
    """No node has that id."""

    code = "handle_not_found"
    http_status = 404
    hint = "Query again and use the handles of the new answer"


class StaleGeneration(ToolError):
    """The handle comes from an older index."""

    code = "stale_generation"
    http_status = 409
    hint = "Query again and use the handles of the new answer"


class RepoNotReady(ToolError):
    """The repository is not indexed yet, or its indexing failed."""

    code = "repo_not_ready"
    http_status = 503
    hint = "Send POST /reindex if that was not done, and wait until GET /repos says ready"


class RemoteError(ToolError):
    """The service answered with an error of its own."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def start_diagnostics() -> None:
    logging.basicConfig(level=logging.WARNING, format="[canopy] %(message)s")
    logging.getLogger("swarm_bench").setLevel(logging.INFO)

import pytest

from swarm_bench.agents.reading.api_errors import api_error, find_reason, refused_before
from swarm_bench.core.status import Cause


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        ("[API Error: 401 Incorrect API key provided.]", Cause.NOT_AUTHORIZED),
        ("Missing API key for OpenAI-compatible auth.", Cause.NOT_AUTHORIZED),
        (
            '{"error":{"code":403,"message":"no","status":"PERMISSION_DENIED"}}',
            Cause.NOT_AUTHORIZED,
        ),
        ("_ApiError: no\n  status: 401\n}", Cause.NOT_AUTHORIZED),
        ("[API Error: 404 models/x is not found]", Cause.UNKNOWN_MODEL),
        ("models/x is not found", Cause.UNKNOWN_MODEL),
        ("Resource has been exhausted (e.g. check quota).", Cause.RATE_LIMITED),
        ("[API Error: 429 slow down]", Cause.RATE_LIMITED),
        ('429 {"type":"error","error":{"type":"rate_limit_error"}}', Cause.RATE_LIMITED),
        ('{"error":{"code":503,"status":"UNAVAILABLE"}}', Cause.PROVIDER_FAILED),
        ("exception TypeError: fetch failed sending request", Cause.PROVIDER_FAILED),
        ("terminated (cause: UND_ERR_SOCKET: other side closed)", Cause.PROVIDER_FAILED),
        ("The input token count exceeds the maximum number of tokens", Cause.CONTEXT_OVERFLOW),
        ("The input token count (12) exceeds the maximum of tokens", Cause.CONTEXT_OVERFLOW),
        ("[API Error: 400 Your input exceeds the context window]", Cause.CONTEXT_OVERFLOW),
        ("[API Error: 400 Unknown name 'x']", Cause.PROVIDER_FAILED),
        ("Loop detected, stopping execution", None),
        ("", None),
    ],
)
def test_words_of_a_provider_name_a_cause(words: str, cause: Cause | None) -> None:
    assert api_error(words) is cause


@pytest.mark.parametrize(
    ("log", "cause"),
    [
        ("Error: connect ECONNREFUSED 10.0.0.1:443", Cause.PROVIDER_FAILED),
        ("Error: getaddrinfo ENOTFOUND api.example.org", Cause.PROVIDER_FAILED),
        ("Error: unable to get local issuer certificate", Cause.PROVIDER_FAILED),
        ("curl: (6) Could not resolve host: api.example.org", Cause.PROVIDER_FAILED),
        ("curl: (22) The requested URL returned error: 429", Cause.PROVIDER_FAILED),
        ("httpx.HTTPStatusError: Client error '401 Unauthorized' for url", Cause.NOT_AUTHORIZED),
        ("requests.exceptions.HTTPError: 500 Server Error for url", Cause.PROVIDER_FAILED),
        ("starting\nTypeError: fetch failed", Cause.PROVIDER_FAILED),
        ("starting\nTypeError: no 'rateLimit' of undefined", None),
        ("Error: MCP server canopy: connection timed out", None),
        ("MCP error -32001: Request timed out", None),
        ('Failed to connect to MCP server "canopy": ECONNREFUSED', None),
        ("ValueError: quota exceeded must be positive", None),
        ("Error: Cannot find module 'openai'", None),
        ("Error: ENOENT: no such file, open 'rate limit'", None),
    ],
)
def test_the_last_error_of_a_log_is_the_provider_s_or_none(log: str, cause: Cause | None) -> None:
    assert refused_before(log, "") is cause


def test_a_server_of_tools_is_no_provider() -> None:
    assert find_reason("MCP error -32001: Request timed out") is Cause.ERROR_RESULT

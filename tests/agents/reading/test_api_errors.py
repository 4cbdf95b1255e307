import pytest

from swarm_bench.agents.reading.api_errors import api_error
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

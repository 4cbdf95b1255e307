"""Which errors of a search are of whoever asks, and no answer."""

import pytest

from swarm_bench.benchmarks.retrieve.running import turns_away

QUESTION = "Where are invoices of the free tier billed?"


@pytest.mark.parametrize(
    "text",
    [
        "Error executing tool search: 429 Client Error: Too Many Requests for url: https://a.test/s",
        "Error calling tool 'search': Client error '429 Too Many Requests' for url 'https://a.test'",
        "MCP error -32000: Rate limit exceeded",
        "Rate limit exceeded. Please try again in 30 seconds.",
        "❌ Error: Quota exceeded for this month",
        "AxiosError: Request failed with status code 402",
        "Search error: Unauthorized: Invalid API key",
        "Error: Missing API key. Set SEARCH_API_KEY",
        "You've exceeded your organization's daily quota",
        "Error: insufficient credits: you have 0 credits left",
        "Failed to embed query: Error code: 401 - {'error': {'message': 'Incorrect API key: k-*'}}",
        "Unauthorized",
        "Authentication required. Run `search login`",
        '{"error": {"code": 402, "message": "Payment required"}}',
        '{"error": "rate_limited", "message": "Too many requests"}',
    ],
)
def test_what_lacks_money_or_a_key_or_comes_too_often_is_turned_away(text: str) -> None:
    assert turns_away(text, QUESTION, failed=True)


@pytest.mark.parametrize(
    "text",
    [
        f"Error: no results for {QUESTION}",
        f"Error: no results for {QUESTION.lower()}",
        'Error: no matches for "insufficient credits"',
        "Error: cannot read src/billing.py: No such file",
        "Error: ENOENT: no such file or directory, open 'shop/rate_limit.py'",
        "Error: unknown symbol RateLimiter",
        "Error: symbol `check_quota` not found",
        "Error executing tool search: the index is not built",
        "Error: connect ECONNREFUSED 127.0.0.1:6333",
        "Error: Access denied - path outside allowed directories: /etc not in /srv",
        "Error: invalid token ')' at position 3",
        "MCP error -32602: Invalid arguments: query: Required",
        "Error: query too long",
        "Error: timed out after 30 s",
    ],
)
def test_other_errors_are_of_the_call(text: str) -> None:
    assert not turns_away(text, QUESTION, failed=True)


def test_an_answer_about_limits_is_one() -> None:
    text = "shop/limits.py:3: raise Error('Rate limit exceeded')"
    assert not turns_away(text, QUESTION, failed=False)
    assert turns_away("Error: Rate limit exceeded", QUESTION, failed=False)

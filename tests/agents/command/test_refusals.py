"""What a program that a file describes says of its provider, where an answer or an error stands."""

import json
from pathlib import Path

import pytest

from swarm_bench.core.outcome import AgentExit
from swarm_bench.core.status import Cause
from tests.agents.command.command_files import agent, read

TEXT = {"format": "text", "answer": {"pattern": r"(?s)\A(.*)\Z"}}
FILES = frozenset({"shop/tax.py", "shop/login.py"})
AIDER = (
    "Aider v0.86.2\nMain model: openai/gpt with diff edit format\nGit repo: .git with 5 files\n\n"
)
REFUSALS = (
    'Error: 402 {"error": {"message": "Insufficient credits"}}\n',
    AIDER + "litellm.APIError: APIError: OpenrouterException - "
    '{"error":{"message":"No more credits",'
    '"code":402}}\nRetrying in 0.2 seconds...\n',
    AIDER + "litellm.AuthenticationError: AuthenticationError: OpenAIException - Incorrect API key "
    "provided: x\nThe API provider is not able to authenticate you. Check your API key.\n",
    AIDER
    + "litellm.InternalServerError: InternalServerError: OpenAIException - Connection error.\n"
    "The API provider's servers are down or overloaded.\nRetrying in 32.0 seconds...\n",
    "litellm.RateLimitError: RateLimitError: AnthropicException - rate_limit_error\n",
    "openai.APIConnectionError: Connection error.\n",
    "Error when talking to Gemini API Full report available at: /tmp/gemini-client-error-1.json\n",
    "OpenAI API Streaming Error: 401 Incorrect API key provided.\n"
    "Error when talking to API Full report available at: /tmp/qwen-client-error-1.json\n",
    "Session ended with error: Request failed: Request failed with status: 402 Payment Required.\n",
    "[API Error: 429 Too Many Requests]\n",
    "openai.RateLimitError: Error code: 429 - {'error': {'message': 'Slow', 'type': 'x'}}\n",
    "anthropic.InternalServerError: Error code: 529 - {'type': 'error'}\n",
)
ANSWERS = (
    "API Error: 402 is raised in `shop/tax.py`.",
    "Error: the quota is exceeded, says shop/login.py.\nError: 429 rate limit exceeded",
    "The login is in login.py: Invalid API key.",
    "It answers with 429 when the rate limit is exceeded, and with 402 for want of credits.",
    "Requests over the quota are refused.",
    "I could not find it.",
    "It prints:\n```\nError: 429 rate limit exceeded\n```\n",
)


@pytest.mark.parametrize("printed", REFUSALS)
def test_a_refusal_in_the_place_of_an_answer_is_none(printed: str, tmp_path: Path) -> None:
    outcome = read(tmp_path, agent(tmp_path, output=TEXT), printed, files=FILES)
    assert outcome.cause in (
        Cause.NO_CREDIT, Cause.NOT_AUTHORIZED, Cause.RATE_LIMITED, Cause.PROVIDER_FAILED,
    ), outcome  # fmt: skip
    assert outcome.text is None


@pytest.mark.parametrize("printed", ANSWERS)
def test_an_answer_may_speak_of_refusals(printed: str, tmp_path: Path) -> None:
    outcome = read(tmp_path, agent(tmp_path, output=TEXT), printed, files=FILES)
    assert (outcome.cause, outcome.text) == (Cause.FINISHED, printed)


@pytest.mark.parametrize("printed", REFUSALS)
def test_what_took_tokens_is_an_answer(printed: str, tmp_path: Path) -> None:
    made = agent(tmp_path, output={**TEXT, "tokens": {"output": {"pattern": r"^out (\d+)"}}})
    assert read(tmp_path, made, printed + "out 12\n", files=FILES).cause is Cause.FINISHED


ERROR = {"format": "json", "answer": "$.response", "error": "$.error"}


@pytest.mark.parametrize("code", [0, 1])
@pytest.mark.parametrize(
    ("error", "cause"),
    [
        ("API error (attempt 3): RESOURCE_EXHAUSTED (code 429): try later", Cause.RATE_LIMITED),
        ("Insufficient credits", Cause.NO_CREDIT),
        ("Credit balance is too low", Cause.NO_CREDIT),
        ("This model's maximum context length is 4096 tokens", Cause.CONTEXT_OVERFLOW),
        ("something else", None),
    ],
)
def test_the_error_of_a_program_without_an_answer_is_read(
    error: str, cause: Cause | None, code: int, tmp_path: Path
) -> None:
    left = json.dumps({"status": "ERROR", "response": "", "error": error})
    outcome = read(tmp_path, agent(tmp_path, output=ERROR), left, returncode=code)
    assert outcome.cause is (cause or (Cause.EXIT_CODE if code else Cause.EMPTY_ANSWER))
    assert outcome.detail == error


def test_an_error_on_the_way_to_an_answer_is_passed_over(tmp_path: Path) -> None:
    left = json.dumps({"response": "See shop/tax.py", "error": "429: rate limit"})
    assert read(tmp_path, agent(tmp_path, output=ERROR), left).cause is Cause.FINISHED


@pytest.mark.parametrize("words", ["Credit balance is too low", "Spending cap reached resets 9pm"])
def test_the_only_line_of_a_log_needs_no_mark_of_an_error(words: str, tmp_path: Path) -> None:
    made = agent(tmp_path)
    assert read(tmp_path, made, stderr=words, returncode=1).cause is Cause.NO_CREDIT
    assert read(tmp_path, made, stderr=f"{words}\nbye", returncode=1).cause is Cause.EXIT_CODE
    assert read(tmp_path, made, words, returncode=1).cause is Cause.EXIT_CODE


def test_a_document_that_is_printed_twice_is_one(tmp_path: Path) -> None:
    made = agent(tmp_path)
    left = json.dumps({"answer": "See a.py"})
    assert read(tmp_path, made, f"{left}\n{left}\n").text == "See a.py"
    other = json.dumps({"answer": "See b.py"})
    assert read(tmp_path, made, f"{left}\n{other}\n").cause is Cause.UNREADABLE_OUTPUT


def test_a_control_sequence_of_one_byte_before_a_document_is_passed_over(tmp_path: Path) -> None:
    made = agent(tmp_path)
    (tmp_path / "out").write_bytes(b'\x9b?25l{"answer": "See a.py"}\n')
    (tmp_path / "err").touch()
    end = AgentExit(returncode=0, stopped=None, stdout=tmp_path / "out", stderr=tmp_path / "err")
    assert made.outcome(end).text == "See a.py"

"""The server as the process that it is, asked over HTTP."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from swarm_bench.models.rehearsal.faults import ABOUT, CHANGES, FAILURES
from swarm_bench.models.tokens import count

COMMAND = [sys.executable, "-I", "-m", "swarm_bench.models.rehearsal"]
FAULTS = ["rate-limit", "rate-limit-retry-after", "server-error", "overloaded", "unauthorized"]
FAULTS += ["context-overflow", "broken-stream", "refusal", "empty-answer", "slow-first-token"]
"""In one server each befalls the request that has its place in this list."""

SCHEMA = {
    "type": "object",
    "properties": {"pattern": {"type": "string"}, "path": {"type": "string"}},
    "required": ["pattern"],
}
PLAIN: dict[str, Any] = {"trust_env": False, "verify": False}
"""For a client that needs no certificates: to load them takes longer than the request."""
TASK = "Where is the login handled?"
GEMINI = "/v1beta/models/m:"

BODIES: dict[str, dict[str, Any]] = {
    "/v1/messages": {
        "model": "m",
        "messages": [{"role": "user", "content": TASK}],
        "tools": [{"name": "Grep", "description": "Search", "input_schema": SCHEMA}],
    },
    "/v1/responses": {
        "model": "m",
        "input": TASK,
        "tools": [
            {"type": "function", "name": "Grep", "description": "Search", "parameters": SCHEMA}
        ],
    },
    "/v1/chat/completions": {
        "model": "m",
        "messages": [{"role": "user", "content": TASK}],
        "tools": [
            {
                "type": "function",
                "function": {"name": "Grep", "description": "Search", "parameters": SCHEMA},
            }
        ],
    },
    f"{GEMINI}generateContent": {
        "contents": [{"role": "user", "parts": [{"text": TASK}]}],
        "tools": [
            {
                "functionDeclarations": [
                    {"name": "Grep", "description": "Search", "parametersJsonSchema": SCHEMA}
                ]
            }
        ],
    },
}
apis = pytest.mark.parametrize("path", BODIES)


@contextmanager
def running(*faults: str) -> Iterator[str]:
    words = [word for fault in faults for word in ("--fault", fault)]
    with subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def plain() -> Iterator[str]:
    with running() as address:
        yield address


@pytest.fixture(scope="module")
def faulty() -> Iterator[str]:
    with running(*(f"{fault}:{at}" for at, fault in enumerate(FAULTS, start=1))) as address:
        yield address


@pytest.fixture
def trial(plain: str) -> str:
    return f"{plain}/trial/{uuid4().hex}"


@pytest.fixture
def meet(faulty: str) -> Callable[[str, str], str]:
    """The address of a trial whose next request meets that fault."""

    def address(fault: str, path: str) -> str:
        trial = f"{faulty}/trial/{uuid4().hex}"
        for _ in FAULTS[: FAULTS.index(fault)]:
            try_to_post(trial + path, BODIES[path])
        return trial

    return address


def post(url: str, body: object) -> httpx2.Response:
    return httpx2.post(url, json=body, **PLAIN, timeout=15)


def try_to_post(url: str, body: object) -> None:
    """Where it may break off."""
    with httpx2.Client(**PLAIN) as client, client.stream("POST", url, json=body):
        pass


def streamed(path: str, body: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The same request for a stream."""
    if path.startswith(GEMINI):
        return f"{GEMINI}streamGenerateContent?alt=sse", body
    return path, {**body, "stream": True}


def tokens_in(answer: dict[str, Any]) -> tuple[int, int]:
    """What an answer says of the prompt: read from the cache, and not."""
    match answer:
        case {"usage": {"cache_read_input_tokens": read, "cache_creation_input_tokens": created}}:
            return read, created
        case {"usage": {"input_tokens": sent, "input_tokens_details": {"cached_tokens": read}}}:
            return read, sent - read
        case {"usage": {"prompt_tokens": sent, "prompt_tokens_details": {"cached_tokens": read}}}:
            return read, sent - read
        case {"usageMetadata": {"promptTokenCount": sent, "cachedContentTokenCount": read}}:
            return read, sent - read
    raise AssertionError(answer)


@apis
def test_every_api_calls_the_tool_that_is_offered(path: str, trial: str) -> None:
    answer = post(trial + path, BODIES[path])
    assert answer.status_code == 200
    assert "Grep" in answer.text
    assert "login" in answer.text

    stream = post(trial + streamed(path, {})[0], streamed(path, BODIES[path])[1])
    assert stream.headers["content-type"] == "text/event-stream"
    assert "login" in stream.text


@apis
def test_what_was_sent_before_is_read_from_the_cache(path: str, trial: str) -> None:
    (read, created), again = (tokens_in(post(trial + path, BODIES[path]).json()) for _ in range(2))
    seen = httpx2.get(f"{trial}/seen", **PLAIN).json()

    assert read == 0
    assert again == (created, 0)
    assert seen["request_tokens"] == created
    assert seen["requests"] == 2
    assert seen["faults"] == 0
    described = {"name": "Grep", "description": "Search", "input_schema": SCHEMA}
    assert seen["tools"] == {"Grep": count(json.dumps(described, separators=(",", ":")))}


def test_the_size_of_a_prompt_can_be_asked_for_and_is_no_request(trial: str) -> None:
    counted = post(f"{trial}/v1/messages/count_tokens", BODIES["/v1/messages"]).json()
    answered = post(f"{trial}/v1/messages?beta=true", BODIES["/v1/messages"]).json()
    assert counted == {"input_tokens": tokens_in(answered)[1]}

    body = BODIES[f"{GEMINI}generateContent"]
    counted = post(f"{trial}{GEMINI}countTokens", body).json()
    answered = post(f"{trial}{GEMINI}generateContent", body).json()
    assert counted == {"totalTokens": tokens_in(answered)[1]}
    assert httpx2.get(f"{trial}/seen", **PLAIN).json()["requests"] == 2


def test_agents_that_ask_at_once_are_kept_apart(plain: str) -> None:
    url = f"{plain}/trial/{{}}/v1/messages"
    one, other = (post(url.format(uuid4().hex), BODIES["/v1/messages"]).json() for _ in range(2))
    assert one["id"] != other["id"]
    assert one["content"] == other["content"]
    assert tokens_in(one) == tokens_in(other)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("HEAD", "", 200),
        ("HEAD", "/", 200),
        ("HEAD", "/api/hello", 200),
        ("GET", "/v1/models", 200),
        ("GET", "/v1/messages", 404),
        ("POST", "/v1/other", 404),
        ("POST", "/v1beta/models/m:embedContent", 404),
        ("GET", "/v1/responses/resp_1", 404),
        ("GET", "/seen", 404),
    ],
)
def test_what_programs_look_for_is_answered(
    method: str, path: str, status: int, trial: str
) -> None:
    answer = httpx2.request(method, trial + path, **PLAIN)
    assert answer.status_code == status
    if method != "HEAD":
        assert ("error" in answer.json()) == (status == 404)


def test_a_body_of_any_depth_is_answered(trial: str) -> None:
    for depth in (100, 400, 900, 100_000):
        deep = b'{"model": "m", "messages": [{"role": "user", "content": [' + b'{"x":' * depth
        deep += b"1" + b"}" * depth + b"]}]}"
        answer = httpx2.post(f"{trial}/v1/messages", content=deep, **PLAIN)
        assert answer.status_code in (200, 400)


@apis
@pytest.mark.parametrize("body", [b"", b"no", b"[]", b"{}", b"[" * 100_000, b'{"model": "m"}'])
def test_what_is_no_request_is_refused(path: str, body: bytes, trial: str) -> None:
    answer = httpx2.post(trial + path, content=body, **PLAIN)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"]


def test_the_faults_tried_here_are_all() -> None:
    assert set(FAULTS) == {*FAILURES, *CHANGES} == set(ABOUT)


@apis
def test_failures_have_the_status_and_the_error_of_the_provider(path: str, faulty: str) -> None:
    trial = f"{faulty}/trial/{uuid4().hex}"
    answers = [post(trial + path, BODIES[path]) for _ in range(6)]

    overloaded = 529 if path == "/v1/messages" else 503
    assert [each.status_code for each in answers] == [429, 429, 500, overloaded, 401, 400]
    assert [each.headers.get("retry-after") for each in answers[:2]] == [None, "1"]
    assert all(each.json()["error"]["message"] for each in answers)
    seen = httpx2.get(f"{trial}/seen", **PLAIN).json()
    assert (seen["requests"], seen["faults"]) == (6, 6)
    assert seen["tools"].keys() == {"Grep"}


@apis
@pytest.mark.parametrize("is_stream", [True, False])
def test_a_broken_stream_breaks_off_in_the_middle(
    path: str, is_stream: bool, meet: Callable[[str, str], str]
) -> None:
    trial = meet("broken-stream", path)
    path, body = streamed(path, BODIES[path]) if is_stream else (path, BODIES[path])
    with (
        httpx2.Client(**PLAIN) as client,
        client.stream("POST", trial + path, json=body) as answer,
    ):
        assert answer.status_code == 200
        with pytest.raises(httpx2.RemoteProtocolError):
            answer.read()
    assert answer.num_bytes_downloaded > 100


@apis
def test_an_answer_can_be_refused_or_empty(path: str, meet: Callable[[str, str], str]) -> None:
    trial = meet("refusal", path)
    refused, empty = (post(trial + path, BODIES[path]) for _ in range(2))
    assert any(word in refused.text for word in ("refusal", "content_filter", "SAFETY"))
    assert "login" not in refused.text + empty.text
    assert empty.status_code == 200


def test_a_slow_first_token_lets_wait(meet: Callable[[str, str], str]) -> None:
    path = "/v1/messages"
    trial = meet("slow-first-token", path)
    with (
        httpx2.Client(**PLAIN, timeout=1) as client,
        client.stream("POST", trial + path, json=BODIES[path]) as answer,
    ):
        assert answer.status_code == 200
        with pytest.raises(httpx2.ReadTimeout):
            answer.read()


@pytest.mark.parametrize("words", [["--fault", "flood"], ["--port", "70000"]])
def test_a_server_that_cannot_be_says_why(words: list[str]) -> None:
    done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1

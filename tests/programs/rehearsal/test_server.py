"""The server as the process that it is, asked over HTTP."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from time import monotonic, sleep
from typing import Any
from uuid import uuid4

import anyio
import httpx2
import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from swarm_bench.models.rehearsal.faults import FAULTS as PLAYED
from swarm_bench.models.rehearsal.faults import SLOW_SECONDS
from swarm_bench.programs.rehearsal.apis.api import Reply
from swarm_bench.programs.rehearsal.apis.messages import Messages
from swarm_bench.programs.rehearsal.server import BODY_BYTES, Server
from swarm_bench.text.tokens import count

COMMAND = [sys.executable, "-I", "-m", "swarm_bench.programs.rehearsal"]
FAULTS = ["rate-limit", "rate-limit-retry-after", "server-error", "overloaded", "unauthorized"]
FAULTS += ["context-overflow", "broken-stream", "refusal", "empty-answer", "cut-off"]
FAULTS += ["slow-first-token"]
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
            yield process.stdout.readline().partition(" ")[0]
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
    seen = httpx2.get(f"{trial}/traffic", **PLAIN).json()

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

    counted = post(f"{trial}/v1/responses/input_tokens", BODIES["/v1/responses"]).json()
    answered = post(f"{trial}/v1/responses", BODIES["/v1/responses"]).json()
    assert counted["input_tokens"] == tokens_in(answered)[1]
    assert httpx2.get(f"{trial}/traffic", **PLAIN).json()["requests"] == 3


def post_at_once(urls: list[str], body: object) -> list[dict[str, Any]]:
    with ThreadPoolExecutor(len(urls)) as pool:
        return [answer.json() for answer in pool.map(lambda url: post(url, body), urls)]


def test_agents_that_ask_at_once_are_kept_apart(plain: str) -> None:
    urls = [f"{plain}/trial/{uuid4().hex}/v1/messages" for _ in range(4)]
    answers = post_at_once(urls, BODIES["/v1/messages"])
    assert len({answer["id"] for answer in answers}) == 4
    assert all(answer["content"] == answers[0]["content"] for answer in answers)
    assert all(tokens_in(answer) == tokens_in(answers[0]) for answer in answers)


def test_what_one_agent_asks_at_once_is_answered_one_after_the_other(trial: str) -> None:
    answers = post_at_once([f"{trial}/v1/messages"] * 8, BODIES["/v1/messages"])
    calls = [block["id"] for each in answers for block in each["content"] if "id" in block]
    assert len(set(calls)) == len(calls) >= 8
    read = sorted(tokens_in(answer)[0] for answer in answers)
    assert read[0] == 0
    assert read[1] == read[-1] > 0


def test_the_first_request_with_tools_is_the_one_whose_size_is_kept(trial: str) -> None:
    body, path = BODIES["/v1/messages"], f"{trial}/v1/messages"
    without = {key: value for key, value in body.items() if key != "tools"}
    post(path, without)
    assert httpx2.get(f"{trial}/traffic", **PLAIN).json()["request_tokens"] is None
    first = sum(tokens_in(post(path, body).json()))
    longer = {**body, "system": "Be brief.", "tools": [{**body["tools"][0], "description": "S"}]}
    assert sum(tokens_in(post(path, longer).json())) != first
    seen = httpx2.get(f"{trial}/traffic", **PLAIN).json()
    assert seen["request_tokens"] == first
    described = {"name": "Grep", "description": "Search", "input_schema": SCHEMA}
    assert seen["tools"] == {"Grep": count(json.dumps(described, separators=(",", ":")))}


@apis
def test_what_is_answered_is_counted_as_output(path: str, trial: str) -> None:
    answer = post(trial + path, BODIES[path]).json()
    usage = answer.get("usage") or answer["usageMetadata"]
    names = ("output_tokens", "completion_tokens", "candidatesTokenCount")
    assert next(usage[name] for name in names if name in usage) > 10


def test_gemini_streams_a_list_where_no_events_are_asked_for(trial: str) -> None:
    answer = post(f"{trial}{GEMINI}streamGenerateContent", BODIES[f"{GEMINI}generateContent"])
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()[-1]["candidates"][0]["finishReason"] == "STOP"


@apis
def test_a_body_that_is_too_large_is_refused_in_the_apis_own_form(path: str, trial: str) -> None:
    body = b'{"model": "' + b"x" * BODY_BYTES + b'"}'
    answer = httpx2.post(trial + path, content=body, **PLAIN, timeout=15)
    assert answer.status_code == 413
    assert "is larger than 16777216 bytes" in answer.json()["error"]["message"]
    assert httpx2.get(f"{trial}/traffic", **PLAIN).status_code == 404


class Faulty(Messages):
    """An API with a defect."""

    def answer(self, reply: Reply) -> dict[str, Any]:
        raise KeyError(reply.id)


class Watched(Messages):
    """An API that takes its time, and knows how many answers are written at once."""

    def __init__(self) -> None:
        self.now = self.most = 0

    def answer(self, reply: Reply) -> dict[str, Any]:
        self.now += 1
        self.most = max(self.most, self.now)
        sleep(0.1)
        self.now -= 1
        return super().answer(reply)


@pytest.mark.anyio
@pytest.mark.parametrize(("trials", "most"), [(["one"], 1), (["one", "other"], 2)])
async def test_one_agent_is_thought_for_once_at_a_time(trials: list[str], most: int) -> None:
    api = Watched()
    endpoint = partial(Server([]).answer, api=api)
    app = Starlette(routes=[Route("/{trial}", endpoint, methods=["POST"])])
    transport = httpx2.ASGITransport(app)
    async with (
        httpx2.AsyncClient(transport=transport, base_url="http://here") as client,
        anyio.create_task_group() as tasks,
    ):
        for trial in trials * (4 // len(trials)):
            tasks.start_soon(partial(client.post, f"/{trial}", json=BODIES["/v1/messages"]))
    assert api.most == most


@pytest.mark.anyio
async def test_a_defect_of_the_servers_own_is_said_to_be_one() -> None:
    server = Server([])
    routes = [
        Route("/trial/{trial}/v1/messages", partial(server.answer, api=Faulty()), methods=["POST"]),
        Route("/trial/{trial}/traffic", server.traffic),
    ]
    transport = httpx2.ASGITransport(Starlette(routes=routes))
    async with httpx2.AsyncClient(transport=transport, base_url="http://here") as client:
        for _ in range(2):
            answer = await client.post("/trial/one/v1/messages", json=BODIES["/v1/messages"])
            assert answer.status_code == 500
            assert answer.json()["error"]["type"] == "api_error"
            assert "defect of the rehearsal server's own: KeyError" in answer.text
        seen = (await client.get("/trial/one/traffic")).json()
    assert (seen["requests"], seen["errors"], seen["faults"]) == (2, 2, 0)


def test_tools_of_any_depth_are_counted_or_refused(trial: str) -> None:
    body = json.dumps({**BODIES["/v1/messages"], "tools": [{"name": "t", "input_schema": {}}]})
    for depth in (100, 900, 960, 970, 980, 985, 990, 995):
        deep = '{"properties":' * depth + "{}" + "}" * depth
        content = body.replace("{}", deep)
        answer = httpx2.post(f"{trial}/v1/messages", content=content, **PLAIN)
        assert answer.status_code in (200, 400)
    assert httpx2.get(f"{trial}/traffic", **PLAIN).json()["errors"] == 0


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
        ("GET", "/traffic", 404),
    ],
)
def test_what_programs_look_for_is_answered(
    method: str, path: str, status: int, trial: str
) -> None:
    answer = httpx2.request(method, trial + path, **PLAIN)
    assert answer.status_code == status
    if method != "HEAD":
        assert ("error" in answer.json()) == (status == 404)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/v1/other", "not_found_error"),
        ("/v1beta/models/m:embedContent", "NOT_FOUND"),
        ("/v1/responses/resp_1", "invalid_request_error"),
    ],
)
def test_what_is_not_there_is_an_error_of_the_provider(path: str, kind: str, trial: str) -> None:
    error = post(trial + path, {}).json()["error"]
    assert kind in (error.get("type"), error.get("status"))


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
    assert httpx2.get(f"{trial}/traffic", **PLAIN).status_code == 404


def test_the_faults_tried_here_are_all() -> None:
    assert set(FAULTS) == set(PLAYED)


@apis
def test_failures_have_the_status_and_the_error_of_the_provider(path: str, faulty: str) -> None:
    trial = f"{faulty}/trial/{uuid4().hex}"
    answers = [post(trial + path, BODIES[path]) for _ in range(6)]

    overloaded = 529 if path == "/v1/messages" else 503
    is_gemini = path.startswith(GEMINI)
    unauthorized = 400 if is_gemini else 401
    expected = [429, 429, 500, overloaded, unauthorized, 400]
    assert [each.status_code for each in answers] == expected
    assert "retry" not in f"{answers[0].headers} {answers[0].text}".lower()
    retry = answers[1].json()["error"]["details"][0]["retryDelay"] if is_gemini else None
    assert (answers[1].headers.get("retry-after"), retry) == (
        (None, "1s") if is_gemini else ("1", None)
    )
    assert all(each.json()["error"]["message"] for each in answers)
    seen = httpx2.get(f"{trial}/traffic", **PLAIN).json()
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


@apis
def test_an_answer_can_be_cut_off(path: str, meet: Callable[[str, str], str]) -> None:
    words = ("max_tokens", "max_output_tokens", '"length"', "MAX_TOKENS")
    cut = post(meet("cut-off", path) + path, BODIES[path])
    assert any(word in cut.text for word in words)
    assert "first look for" in cut.text
    assert "login" not in cut.text
    stream = post(meet("cut-off", path) + streamed(path, {})[0], streamed(path, BODIES[path])[1])
    assert any(word in stream.text for word in words)


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
    started = monotonic()
    answer = post(meet("slow-first-token", path) + path, BODIES[path])
    assert "login" in answer.text
    assert monotonic() - started > SLOW_SECONDS


@pytest.mark.parametrize("words", [["--fault", "flood"], ["--port", "70000"]])
def test_a_server_that_cannot_be_says_why(words: list[str]) -> None:
    done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1

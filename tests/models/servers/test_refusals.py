"""What a refusal means, whoever's server it is: the model's result, the end of a session, another
request, or nothing that is known."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarm_bench.core.refusal import Refusal
from swarm_bench.core.status import CONSEQUENCES, Cause, Status
from swarm_bench.models.servers.explanations import refusal_of

Cases = list[tuple[int | None, Any]]
"""States, and bodies."""
MODELS = {Cause.CONTEXT_OVERFLOW, Cause.REFUSED, Cause.ERROR_RESULT, Cause.ANSWER_CUT}
"""What may be a result of the model."""


def read(body: Any, state: int | None = None, **headers: str) -> Refusal:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return refusal_of(content, state, {k.replace("_", "-"): v for k, v in headers.items()})


def error(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


TOO_LONG: Cases = [
    (400, error("Requested tokens (812) exceed the context window of 512")),
    (400, error("The input is too big", code="context_length_exceeded")),
    (400, error("prompt is too long: 20102 tokens > 20000 maximum", type="invalid_request_error")),
    (400, error("the request does not fit", type="exceed_context_size_error", n_ctx=512)),
    (400, error("The input token count (40000) exceeds the maximum number of tokens allowed (81).",
                status="INVALID_ARGUMENT")),
    (400, {"object": "error", "message": "the maximum context length is 512", "code": 40303}),
    (400, {"message": "Please shorten the prompt.", "type": "BadRequest"}),
    (400, {"detail": "Input is too long for this model"}),
    (400, {"errors": [{"message": "too many tokens for this model", "code": 5021}]}),
    (400, {"message": "Input is too long for requested model.", "__type": "ValidationException"}),
    (400, error("Provider returned error",
                metadata={"raw": '{"error": {"message": "maximum context length is 9"}}'})),
    (422, {"error": "Input validation error: `inputs` must have less than 512 tokens. Given: 700"}),
    (413, b"<html><head><title>413 Request Entity Too Large</title></head></html>"),
    (500, error("the context window is full")),
    (None, error("the maximum context length is 8 tokens")),
    (400, error("提示词 超长")),
    (400, error("The prompt exceeds the context of the model: 700 > 512")),
    (400, error("Input length 700 is greater than max_model_len 512")),
    (400, {"message": "The sequence length exceeds session_len"}),
    (500, error("increase the physical batch size (it has 700 tokens)", type="server_error")),
    (400, error("Your input exceeds the context window. Adjust it and try again.")),
    (400, error("The context window is full, try again later with a shorter prompt")),
    (400, error("max_tokens must be at least 1, got -31.")),
    (400, error("the input exceeds the context size; 'stop'", type="exceed_context_size_error")),
    (None, {"error_code": 1, "error_msg": "the max input characters is 20"}),
]  # fmt: skip
POLICY: Cases = [
    (400, error("The prompt triggered the content management policy", code="content_filter")),
    (400, error("no", code="x", innererror={"code": "ResponsibleAIPolicyViolation"})),
    (400, {"code": "DataInspectionFailed", "message": "Input data may contain something."}),
    (403, error("Your input was flagged for violence", code=403, metadata={"flagged_input": "a"})),
    (None, error("This was rejected by the safety system")),
    (400, error("Invalid prompt: your prompt was flagged as violating the usage policy")),
    (400, error("Your prompt was flagged by the usage policy. Try again with another one.")),
    (400, error("The content exists risk", type="invalid_request_error")),
    (400, {"message": "PROHIBITED_CONTENT"}),
    (
        403,
        {
            "code": "permission-denied",
            "error": "It violates the usage guidelines. Team: a, "
            "API key ID: b, failed check: SAFETY_CHECK_TYPE_X",
        },
    ),
    (403, error("Your input was flagged for harassment. No credits were charged.", code=403)),
    (403, error("The user prompt was blocked")),
    (400, {"base_resp": {"status_code": 1026, "status_msg": "input new_sensitive"}}),
    (446, error("The checks of the guardrail failed.", type="hooks_failed")),
    (400, error("The user's prompt was blocked by moderation")),
]
MONEY: Cases = [
    (402, b""),
    (402, error("you can afford 12 tokens; lower max_tokens")),
    (400, error("Your credit balance is too low", type="invalid_request_error")),
    (400, {"code": "Arrearage", "message": "Access denied."}),
    (400, error("Budget has been exceeded! Current cost: 5.0", type="budget_exceeded")),
    (403, error("Your team has used all available credits")),
    (403, {"code": 30001, "message": "Sorry, your account balance is insufficient", "data": None}),
    (403, {"code": "AllocationQuota.FreeTierOnly", "message": "the free tier is over"}),
    (403, error("Quota exceeded")),
    (429, error("no", code="insufficient_quota")),
    (429, error("You exceeded your current quota, please check your plan and billing details.")),
    (429, {"message": "Monthly limit reached", "type": "x"}),
    (429, error("limit of free models per day reached")),
    (429, error("余额不足或无可用资源包,请充值。", code="1113")),
    (None, error("no", type="billing_error")),
    (None, {"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}),
    (500, error("no", code="insufficient_user_quota")),
    (400, error("You have reached your API usage limits. You regain access on 2026-12-01.")),
    (429, error("Your new team doesn't have any credits yet")),
    (400, error("no", type="ExceededTokenBudget")),
    (400, error("ExceededTokenBudget: spend 5.0, max budget 4.0")),
    (429, error("Rate limit of 20 per 43200s exceeded")),
    (403, error("Key limit exceeded (weekly)", code=403)),
    (403, error("This model requires a valid credit card on file")),
    (403, error("You have run out of tokens")),
    (403, error("The account has run out of tokens")),
    (429, error("Your quota was exceeded, try again later", code="insufficient_quota")),
    (
        429,
        error(
            "Quota exceeded for it, limit: 0. Please retry in 30.5s.",
            details=[{"retryDelay": "30s"}],
        ),
    ),
    (429, error("The model is paused", code="SetLimitExceeded")),
    (403, {"message": "Out of volume quota. It comes back in 10:12:05."}),
]
KEY: Cases = [
    (401, b""),
    (403, b""),
    (403, {"Message": "User is not authorized to access this resource"}),
    (400, error("API key not valid.", status="INVALID_ARGUMENT",
                details=[{"@type": "t", "reason": "API_KEY_INVALID"}])),
    (400, error("This organization has been disabled for a violation of the usage policy")),
    (None, error("no", type="authentication_error")),
    (400, error("Expired key")),
    (400, error("The access token has expired")),
    (400, error("The token in the request exceeds its validity", code="ExpiredTokenException")),
    (400, error("The lifetime of the JWT exceeds what is allowed")),
    (403, error("Your account is temporarily blocked")),
    (403, {"message": "Forbidden"}),
    (400, error("Missing bearer authentication in a header")),
    (400, error("Your location is not supported", status="FAILED_PRECONDITION")),
    (None, {"base_resp": {"status_code": 1, "status_msg": "login fail: no secret"}}),
]  # fmt: skip
ADDRESS: Cases = [
    *((state, b"") for state in (301, 302, 303, 307, 308, 405, 410)),
    (400, b"<html><title>400 The plain HTTP request was sent to HTTPS port</title></html>"),
    (400, b"Client sent an HTTP request to an HTTPS server.\n"),
]
MODEL: Cases = [
    (404, b""),
    (404, error("quota")),
    (400, error("x", code="model_not_found")),
    (501, b""),
    (400, error("abc is not a valid model ID")),
    (400, {"message": "The model identifier is invalid."}),
    (400, error("Model not exist")),
    (400, error("no", code="model_decommissioned")),
]
LIMITED: Cases = [
    (429, b""),
    (429, error("Resource has been exhausted (e.g. check quota).", status="RESOURCE_EXHAUSTED")),
    (429, error("You exceeded your current quota. Please retry in 12.5s.",
                details=[{"retryDelay": "12s"}])),
    (429, error("Quota exceeded for requests per minute")),
    (400, {"__type": "com.amazon#ThrottlingException", "message": "Too many tokens, please wait."}),
    (403, error("You have exceeded a rate limit")),
    (413, error("on tokens per minute (TPM): Limit 60", code="rate_limit_exceeded")),
    (None, [error("slow down", code=429)]),
    (None, error("no", type="rate_limit_error")),
    (None, {"error_code": 18, "error_msg": "Open api qps request limit reached"}),
]  # fmt: skip
BUSY: Cases = [
    *(
        (state, b"")
        for state in (408, 425, 498, 499, 500, 502, 503, 504, *range(520, 531), 598, 599)
    ),
    (529, error("Overloaded", type="overloaded_error")),
    (503, error("Request queue too long")),
    (503, error("there is no channel", code="model_not_found")),
    (424, {"error": "Request failed during generation", "error_type": "generation"}),
    (400, error("Provider returned error", metadata={"raw": '{"error": {"code": 502}}'})),
    (None, error("Overloaded", type="overloaded_error")),
    (None, error("from upstream", code=502)),
    (400, error("Your request took too long. Please try again.")),
    (400, error("The request waited too long in line, retry later")),
    (400, error("Message queue is too long")),
    (403, error("The content moderation service is unavailable, try again later")),
    (400, error("The content filter timed out")),
    (400, error("The model is temporarily blocked for work on its safety system")),
    (403, error("Failed to check the content filter")),
    (500, error("Could not reach the billing service")),
    (503, error("Failed to check your credit balance, please retry")),
    (500, error("no", code="billing_service_unavailable")),
    (None, {"error": "model is overloaded"}),
    (None, {"type": "error", "error": {"type": "api_error", "message": "Internal server error"}}),
    (421, b""),
    (500, error("exceeded the context deadline")),
    (500, error("no memory slot for a batch; context size 81")),
]
UNKNOWN: Cases = [
    (400, b""),
    (400, b"\xff\xfe\x00"),
    (400, error("max_tokens is too large: 10000. This model supports 4096 completion tokens")),
    (418, error("a teapot")),
    (422, {"detail": [{"loc": ["body", "prompt"], "msg": "field required", "type": "missing"}]}),
    (None, error("something odd")),
    (400, error("max_tokens: 9000 > 4096, which is the maximum number of output tokens of it")),
    (400, error("max_tokens exceeds what the model may write")),
    (400, error("Content-Type blocked")),
    *(
        (422, {"detail": [{"loc": ["body", "messages", 0, "content"], "msg": "no", "type": kind}]})
        for kind in ("list_type", "string_type", "literal_error", "type_error.str", "int_parsing")
    ),
    (403, b"<!DOCTYPE html><html><head><title>Just a moment...</title></head></html>"),
    (403, b"<html><body>Forbidden</body></html>"),
    (400, error("Invalid 'stop': array too long. Its maximum length is 4")),
    (400, error("`max_tokens` must be less than `81`; it is smaller than the `context_window`")),
    (400, error("Request header too large")),
    (431, b"Request Header Fields Too Large"),
    (400, error("Tool name: at most 64 characters, exceeds the maximum length")),
    (
        400,
        error("The model could not be loaded: its context length needs more memory than there is"),
    ),
    (400, error("Parameter 'seed' of this model is not supported")),
    (403, b"<html><head><title>Content blocked by your organization</title></head></html>"),
    (400, b"<html><head><title>Your request is too long</title></head></html>"),
    (422, {"error": "Input validation error: `max_new_tokens` must be <= 81. Given: 99"}),
]
RESULT: Cases = [
    (422, {"detail": [{"loc": ["body", "messages", 0, "content"], "msg": "not so", "type": "v"}]}),
]
CUT: Cases = [
    (400, error("It could not be finished, as max_tokens or model output limit was reached.")),
]
TABLE: dict[tuple[Cause, bool], Cases] = {
    (Cause.CONTEXT_OVERFLOW, False): TOO_LONG,
    (Cause.REFUSED, False): POLICY,
    (Cause.NO_CREDIT, False): MONEY,
    (Cause.NOT_AUTHORIZED, False): KEY,
    (Cause.WRONG_ADDRESS, False): ADDRESS,
    (Cause.UNKNOWN_MODEL, False): MODEL,
    (Cause.RATE_LIMITED, True): LIMITED,
    (Cause.PROVIDER_FAILED, True): BUSY,
    (Cause.PROVIDER_FAILED, False): UNKNOWN,
    (Cause.ERROR_RESULT, False): RESULT,
    (Cause.ANSWER_CUT, False): CUT,
}


@pytest.mark.parametrize(
    ("wanted", "state", "body"),
    [(wanted, *case) for wanted, cases in TABLE.items() for case in cases],
)
def test_a_refusal_has_one_meaning(
    wanted: tuple[Cause, bool], state: int | None, body: Any
) -> None:
    refusal = read(body, state)
    assert (refusal.cause, refusal.passes) == wanted


@given(st.integers(100, 999), st.text(max_size=60))
def test_only_what_is_of_the_prompt_is_a_result(state: int, text: str) -> None:
    """Whatever the state, a body that says nothing of a prompt makes no result."""
    refusal = read({"error": {"message": f"#{text.encode().hex()}"}}, state)
    assert CONSEQUENCES[refusal.cause].rerun or state == 413


@pytest.mark.parametrize("cause", sorted({cause for cause, _ in TABLE} - MODELS))
def test_what_is_no_result_is_asked_for_again(cause: Cause) -> None:
    assert CONSEQUENCES[cause].rerun
    assert CONSEQUENCES[cause].status is Status.PROVIDER_LIMITED


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [
        (error("a\n b"), "", "a b"),
        ({"detail": [{"msg": "not so", "loc": ["body"], "input": "the prompt"}]}, "", "not so"),
        ([{"error": {"message": "in a list"}}], "", "in a list"),
        ({"errors": [{"message": "the first"}]}, "", "the first"),
        ({"fault": {"faultstring": "of a gateway"}}, "", "of a gateway"),
        ({"message": None, "Message": "capital"}, "", "capital"),
        (b"<html><style>b{}</style><title>522: a &amp; b</title><p>long</html>", "", "522: a & b"),
        (b"<Error><Code>AccessDenied</Code><Message>no entry</Message></Error>", "", "no entry"),
        (b"\n plain text \nand more", "text/plain", "plain text"),
        ('{"error": "für"}'.encode("latin-1"), "application/json", "für"),
        ('{"error": "für"}'.encode("utf-16"), "", "für"),
        ('{"error": "für"}'.encode("utf-8-sig"), "", "für"),
        ("额度".encode("gb18030"), "text/plain; charset=gb18030", "额度"),
        (b"x", "text/plain; charset=nonsense", "x"),
        (b"[" * 100_000, "", "[" * 64 * 1024),
    ],
)  # fmt: skip
def test_the_words_of_a_server_are_read_in_any_form(body: Any, kind: str, text: str) -> None:
    assert read(body, 400, content_type=kind).text == text


def test_a_wait_is_that_of_the_header_or_of_google() -> None:
    assert read(b"", 429, retry_after="7").wait == 7
    assert read(b"", 429, retry_after="Wed, 1 Jan 2020 00:00:00 GMT").wait == 0
    assert read(b"", 429, retry_after="Tue, 1 Jan 2999 00:00:00 GMT").wait > 60
    assert read({"error": {"details": [{"retryDelay": "9.5s"}]}}, 429).wait == 9.5

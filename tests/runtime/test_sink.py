"""What of a process's output reaches its files and whoever watches."""

import base64
import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, quote_plus

import anyio
import pytest
from anyio.abc import ByteReceiveStream

from swarm_bench.core.outcome import StopReason
from swarm_bench.runtime.sink import Output, Sink, clean_text, replace_secrets

pytestmark = pytest.mark.anyio


class Chunks(ByteReceiveStream):
    """A stream that comes in these pieces."""

    def __init__(self, chunks: list[bytes]) -> None:
        self._chunks = chunks

    async def receive(self, max_bytes: int = 65536) -> bytes:
        if not self._chunks:
            raise anyio.EndOfStream
        return self._chunks.pop(0)

    async def aclose(self) -> None:
        pass


async def drained(
    folder: Path, chunks: list[bytes], secrets: tuple[str, ...], lines: list[bytes]
) -> bytes:
    def on_line(line: bytes) -> StopReason | None:
        lines.append(line)
        return None

    stdout = folder / "out"
    output = Output(
        stdout=stdout, stderr=folder / "err", limit=10**6, on_line=on_line, secrets=secrets
    )
    with stdout.open("wb", buffering=0) as file:
        await Sink(output).drain(Chunks(chunks), file)
    return stdout.read_bytes()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
async def test_a_secret_reaches_neither_file_nor_watcher(tmp_path: Path, size: int) -> None:
    text = b"key=sk-abc-123456 sk-abc-12 and sk-abc-123456\nsk-abc-123"
    chunks = [text[at : at + size] for at in range(0, len(text), size)]
    lines: list[bytes] = []
    written = await drained(tmp_path, chunks, ("sk-abc-123456", "other"), lines)
    assert written == b"key=(not stored) sk-abc-12 and (not stored)\nsk-abc-123"
    assert lines == [b"key=(not stored) sk-abc-12 and (not stored)"]


@pytest.mark.parametrize("size", range(1, 40))
async def test_the_longer_of_two_secrets_goes_whole(tmp_path: Path, size: int) -> None:
    lines: list[bytes] = []
    secrets = ("sk-short", "sk-short-and-long", "rt-and-x")
    text = b"a sk-short-and-long, a sk-short. sk-short-and-x b sk-short"
    chunks = [text[at : at + size] for at in range(0, len(text), size)]
    written = await drained(tmp_path, chunks, secrets, lines)
    assert written == b"a (not stored), a (not stored). (not stored)-and-x b (not stored)"
    assert replace_secrets(text, secrets) == written


async def test_without_secrets_nothing_waits(tmp_path: Path) -> None:
    lines: list[bytes] = []
    assert await drained(tmp_path, [b"a", b"b\n"], (), lines) == b"ab\n"
    assert lines == [b"ab"]


AWKWARD = 'pä"ss\\w/ord 1'


@pytest.mark.parametrize(
    "written",
    [
        AWKWARD,
        json.dumps(AWKWARD),
        json.dumps(AWKWARD, ensure_ascii=False),
        json.dumps(json.dumps([AWKWARD])),
        json.dumps(json.dumps([AWKWARD], ensure_ascii=False), ensure_ascii=False),
        json.dumps(json.dumps([AWKWARD]), ensure_ascii=False),
        json.dumps(json.dumps([AWKWARD], ensure_ascii=False)),
        quote(AWKWARD),
        quote(AWKWARD, safe=""),
        quote_plus(AWKWARD),
    ],
)
async def test_a_secret_is_found_as_json_and_addresses_write_it(
    tmp_path: Path, written: str
) -> None:
    bare = written.strip('"[]\\')
    data = f"<{bare}>\n".encode()
    assert replace_secrets(data, (AWKWARD,)) == b"<(not stored)>\n"
    pieces = [data[at : at + 3] for at in range(0, len(data), 3)]
    assert await drained(tmp_path, pieces, (AWKWARD,), []) == b"<(not stored)>\n"


async def test_a_secret_that_is_no_utf8() -> None:
    assert clean_text("a b\udcff-secret c", ("b\udcff-secret",)) == "a (not stored) c"


def in_lines_of_openssl(data: bytes) -> bytes:
    text = base64.b64encode(data)
    return b"".join(text[at : at + 64] + b"\n" for at in range(0, len(text), 64))


def in_lines_of_mail(data: bytes) -> bytes:
    return base64.encodebytes(data).replace(b"\n", b"\r\n")


def encodings() -> list[bytes]:
    plain = b"sk-or~v1?abc/def+ghi"
    logins = [b"x" * before + b":" + plain + b":" + b"y" * 3 for before in range(3)]
    encoded = [base64.b64encode(login) for login in (plain, *logins)]
    encoded += [base64.urlsafe_b64encode(login) for login in (plain, *logins)]
    encoded += [quote(one, safe="").encode() for one in encoded]
    lower = re.sub(rb"%..", lambda found: found[0].lower(), quote(plain, safe="").encode())
    escaped = b"".join(rb"\u%04x" % character for character in plain)
    twice = b"".join(rb"\\u%04X" % character for character in plain)
    digits = plain.hex().encode()
    return [*encoded, digits, digits.upper(), lower, escaped, twice]


@pytest.mark.parametrize("written", encodings())
async def test_a_secret_is_found_as_programs_encode_it(tmp_path: Path, written: bytes) -> None:
    data = b"Authorization: Basic " + written + b'"}\n'
    pieces = [data[at : at + 5] for at in range(0, len(data), 5)]
    shown = await drained(tmp_path, pieces, ("sk-or~v1?abc/def+ghi", "another-one"), [])
    assert shown == replace_secrets(data, ("sk-or~v1?abc/def+ghi",))
    before, _, after = shown.partition(b"(not stored)")
    # What stands at its ends in base64 is of its neighbours too: at most four bits of it are left.
    assert after.endswith(b'"}\n')
    rest = len(before) - len(b"Authorization: Basic ") + len(after) - len(b'"}\n')
    assert rest <= 16
    assert len(written) - rest >= 24


@pytest.mark.parametrize("before", range(0, 57, 5))
@pytest.mark.parametrize("encode", [base64.encodebytes, in_lines_of_openssl, in_lines_of_mail])
async def test_a_secret_is_found_in_lines_of_base64(
    tmp_path: Path, before: int, encode: Callable[[bytes], bytes]
) -> None:
    secret = "sk-or~v1?abc/def+ghi" * 5
    lines = encode(b"x" * before + secret.encode() + b"y" * 30)
    in_json = json.dumps(lines.decode()).encode()
    for data in (lines, in_json, json.dumps(in_json.decode()).encode()):
        pieces = [data[at : at + 7] for at in range(0, len(data), 7)]
        shown = await drained(tmp_path, pieces, (secret, "another-one"), [])
        assert shown.count(b"(not stored)") == 1
        assert len(data) - len(shown) > len(base64.b64encode(secret.encode())) - 16
        assert len(shown) < before * 4 / 3 + 30 * 4 / 3 + 40


async def test_the_time_grows_with_the_stream_and_not_with_the_secrets() -> None:
    """A measurement with much room: the sorted forms, not each of them, are looked up."""
    line = b'{"type": "assistant", "content": "def one(two): return three[four]"}\n'
    data = line * 30_000  # 2 MB

    def seconds(count: int) -> float:
        secrets = tuple(f"secret-{number:04}-{number * 7919:020}" for number in range(count))
        replace_secrets(b"", secrets)
        began = time.process_time()
        replace_secrets(data, secrets)
        return time.process_time() - began

    assert seconds(64) < 20 * seconds(2) + 0.2


@pytest.mark.parametrize(
    "printed",
    [
        b'{"answer": "a"}',
        b'\x1b]0;title\x07{"answer": "a"}',
        b'\xef\xbb\xbf{"answer": "a"}',
        b'  {"answer": "a"}  ',
        b'{\n  "answer": "a"\n}',
    ],
)
async def test_a_document_without_a_line_end_is_shown(tmp_path: Path, printed: bytes) -> None:
    lines: list[bytes] = []

    def on_line(line: bytes) -> bool | None:
        lines.append(line)
        return None

    output = Output(
        stdout=tmp_path / "out", stderr=tmp_path / "err", limit=10**6, on_line=on_line, secrets=()
    )
    with output.stdout.open("wb", buffering=0) as file:
        await Sink(output).drain(Chunks([printed]), file, has_events=True)
    assert b"\n".join(lines) == printed

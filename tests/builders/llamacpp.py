"""llama.cpp's own server, with real weights: half a megabyte of them, drawn by chance."""

import importlib.util
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

MISSING = [name for name in ("gguf", "xllamacpp") if importlib.util.find_spec(name) is None]
if MISSING and os.environ.get("NEED_LLAMACPP"):
    raise RuntimeError(f"{' and '.join(MISSING)} not installed, and these tests are to run")
needs_llamacpp = pytest.mark.skipif(
    bool(MISSING), reason=f"{' and '.join(MISSING)} not installed: NOT TESTED WITH llama.cpp"
)
START_SECONDS = 60
_SERVE = """
import sys, threading
import xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.port = sys.argv[1], int(sys.argv[2])
params.hostnames, params.offline, params.n_ctx, params.n_parallel = ["127.0.0.1"], True, 4096, 2
params.n_batch = int(sys.argv[3])
# Two threads on two busy cores wait for each other.
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
threading.Event().wait()
"""
"""The package has no command."""
_MARKS = ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>")
_TOKENS = 3 + 256 + len(_MARKS)
_WIDTH, _HEADS, _INNER, _LAYERS = 64, 4, 128, 2


def write_model(path: Path, *, fills_gaps: bool = True) -> Path:
    """Write a model of llama's architecture that has a token for each byte, and those around a gap
    if it fills gaps. What it says means nothing."""
    import gguf
    import numpy as np

    drawn = np.random.default_rng(1)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(4096)
    writer.add_embedding_length(_WIDTH)
    writer.add_block_count(_LAYERS)
    writer.add_feed_forward_length(_INNER)
    writer.add_head_count(_HEADS)
    writer.add_head_count_kv(_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(_WIDTH // _HEADS)
    writer.add_vocab_size(_TOKENS)
    _add_tokens(writer, fills_gaps)

    def add(name: str, *shape: int) -> None:
        tensor = drawn.standard_normal(shape) * 0.1 if len(shape) == 2 else np.ones(shape)
        writer.add_tensor(name, tensor.astype(np.float32))

    add("token_embd.weight", _TOKENS, _WIDTH)
    add("output_norm.weight", _WIDTH)
    add("output.weight", _TOKENS, _WIDTH)
    for block in (f"blk.{number}" for number in range(_LAYERS)):
        for part in ("attn_norm", "ffn_norm"):
            add(f"{block}.{part}.weight", _WIDTH)
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            add(f"{block}.{part}.weight", _WIDTH, _WIDTH)
        add(f"{block}.ffn_gate.weight", _INNER, _WIDTH)
        add(f"{block}.ffn_up.weight", _INNER, _WIDTH)
        add(f"{block}.ffn_down.weight", _WIDTH, _INNER)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add_tokens(writer: "gguf.GGUFWriter", fills_gaps: bool) -> None:  # type: ignore[name-defined]  # noqa: F821
    import gguf

    kind = gguf.TokenType
    special = [("<unk>", kind.UNKNOWN), ("<s>", kind.CONTROL), ("</s>", kind.CONTROL)]
    bytes_ = [(f"<0x{number:02X}>", kind.BYTE) for number in range(256)]
    # The server also takes tokens of such names for those around a gap.
    marks = _MARKS if fills_gaps else tuple(f"<other {number}>" for number in range(len(_MARKS)))
    tokens = [*special, *bytes_, *((mark, kind.CONTROL) for mark in marks)]
    writer.add_tokenizer_model("llama")
    writer.add_token_list([text for text, _ in tokens])
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types([it for _, it in tokens])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_add_space_prefix(False)
    gap = ("pre", "suf", "mid") if fills_gaps else ()
    for number, part in enumerate(gap, _TOKENS - len(_MARKS)):
        writer.add_uint32(f"tokenizer.ggml.fim_{part}_token_id", number)


@contextmanager
def serving(model: Path, log: Path, batch: int = 2048) -> Iterator[str]:
    """Serve a model on the loopback interface for the block; `batch` are the tokens that it reads
    at once, of which a quarter at most are behind a gap."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = [sys.executable, "-c", _SERVE, str(model), str(port), str(batch)]
    with log.open("wb") as output, subprocess.Popen(words, stdout=output, stderr=output) as process:
        try:
            _await(f"http://127.0.0.1:{port}", process, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


def _await(url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < end:
        try:
            with urllib.request.urlopen(f"{url}/health"):
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.05)
    raise RuntimeError(f"llama.cpp does not come up: {log.read_text()[-500:]}")

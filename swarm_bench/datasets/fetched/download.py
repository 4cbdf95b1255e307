"""Fetches a file by https: nothing else on the whole way, and no more than there is room for."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import anyio
import httpx2

from swarm_bench.core.errors import HarnessError, UsageError, WrongAddress
from swarm_bench.core.interruption import cancelling
from swarm_bench.datasets.contracts import MOST_FILES
from swarm_bench.datasets.files import LARGEST
from swarm_bench.datasets.progress import Progress
from swarm_bench.runtime.files import store_errors, writable
from swarm_bench.runtime.workspaces.objects import MOST_LISTED

_MOST_REDIRECTS = 5


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a server can take of us."""

    size: int = LARGEST
    """Bytes of a file, and of all files of a repository."""
    files: int = MOST_FILES
    """Most files of repositories."""
    store: int = 2 * 1024**3
    """Bytes of what git brings of a repository: a commit is packed whole."""
    max_listed: int = MOST_LISTED
    """Bytes of the list of its files."""
    seconds: float = 30.0
    """Seconds in which a server must send something."""
    least: int = 30_000
    """Bytes that come in that time."""
    longest: float = 3600.0
    """Seconds of a repository."""


def download(url: str, target: Path, progress: Progress, limits: Limits) -> str:
    """Fetch a file to where none is, and return its SHA-256. Raises `UsageError`, and
    `HarnessError` for a server that does not answer."""
    with _name_url_in_errors(url), cancelling():
        return anyio.run(_download, url, target, progress, limits)


async def _download(url: str, target: Path, progress: Progress, limits: Limits) -> str:
    address = checked_address(url)
    async with _client(limits) as client:
        for _ in range(_MOST_REDIRECTS + 1):
            request = client.build_request("GET", address)
            with _answering(address, limits.seconds):
                response = await client.send(request, stream=True)
            if not response.has_redirect_location:
                return await _save(response, target, progress, limits)
            await response.aclose()
            address = checked_address(str(response.url.join(response.headers["location"])))
    raise WrongAddress(f"{redact_url(url)} leads to other addresses without end; give another one")


def _client(limits: Limits) -> httpx2.AsyncClient:
    headers = {"Accept-Encoding": "identity", "User-Agent": "swarm-bench"}
    try:
        return httpx2.AsyncClient(headers=headers, timeout=None)
    except (OSError, ValueError, ImportError) as error:  # of SOCKS a part is missing
        raise UsageError(
            f"What the environment says of proxies or of certificates cannot be used ({error}); "
            "set SSL_CERT_FILE and the proxies anew"
        ) from error


def checked_address(url: str) -> str:
    """Return an address of https. Raises `UsageError` for any other, and for one with a login."""
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL as error:
        raise UsageError(f"The address is none ({error}); fix it") from error
    if parsed.scheme != "https" or not parsed.host:
        raise UsageError(
            f"{redact_url(url)} is not https: whoever is on the way could change the data; give an "
            "address of https"
        )
    if parsed.userinfo:
        raise UsageError(f"{redact_url(url)} has a login in it, which would be stored; omit it")
    return url


def redact_url(url: str) -> str:
    """Return an address without what may be secret in it: a login, and a signed query."""
    try:
        return str(httpx2.URL(url).copy_with(userinfo=b"", query=None, fragment=None))
    except httpx2.InvalidURL:
        return "The address"


@contextmanager
def _name_url_in_errors(url: str) -> Iterator[None]:
    try:
        yield
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        reason = str(error) or type(error).__name__
        raise HarnessError(
            f"{redact_url(url)} could not be fetched ({reason}); try again"
        ) from error


@contextmanager
def _answering(url: str, seconds: float) -> Iterator[None]:
    """Limit the time of the block, whatever comes in it: there are bytes without end that are
    neither an answer nor its body. Raises `HarnessError`."""
    with anyio.move_on_after(seconds) as scope:
        yield
    if scope.cancelled_caught:
        raise HarnessError(f"{redact_url(url)} sends hardly anything; try again")


async def _save(response: httpx2.Response, target: Path, progress: Progress, limits: Limits) -> str:
    name, max_bytes = redact_url(str(response.url)), limits.size
    if response.status_code != 200:
        failed = response.is_server_error
        error, advice = (HarnessError, "try again") if failed else (WrongAddress, "fix it")
        raise error(f"{name} answers with the status {response.status_code}; {advice}")
    large = UsageError(f"{name} has more than {max_bytes / 2**20:g} MiB; give a smaller file")
    length = response.headers.get("content-length", "")
    if length.isdecimal() and int(length) > max_bytes:
        raise large
    digest, size = sha256(), 0
    with store_errors(target), writable(target, "xb") as file:
        async for piece in _pieces(response, limits):
            size += len(piece)
            if size > max_bytes:
                raise large
            digest.update(piece)
            file.write(piece)
            progress.reached(f"{name}: {size / 1e6:,.1f} MB")
    return digest.hexdigest()


async def _pieces(response: httpx2.Response, limits: Limits) -> AsyncIterator[bytes]:
    """Yield the body. Raises `HarnessError` where hardly anything comes of it, or no end."""
    arriving, least, until = response.aiter_raw(), 0, 0.0
    while True:
        if least <= 0:
            least, until = limits.least, anyio.current_time() + limits.seconds
        with _answering(str(response.url), until - anyio.current_time()):
            piece = await anext(arriving, None)
        if piece is None:
            return
        least -= len(piece)
        yield piece

"""Check of whether a server listens at an address."""

from urllib.parse import urlsplit

import anyio

CONNECT_SECONDS = 2
_PORTS = {"http": 80, "https": 443}


async def listens(url: str) -> bool:
    """Tell whether a server listens; not when the connection is refused. A server that is slow is
    there, and other errors may be our own lack of means."""
    parts = urlsplit(url)
    try:
        with anyio.fail_after(CONNECT_SECONDS):
            stream = await anyio.connect_tcp(
                parts.hostname or "", parts.port or _PORTS[parts.scheme]
            )
    except TimeoutError:
        return True
    except OSError as error:
        causes = (error, error.__cause__)
        return not any(isinstance(cause, ConnectionRefusedError) for cause in causes)
    await stream.aclose()
    return True

"""Names of variables, options, headers and parameters that show that their value is secret."""

import re

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
"""Words of `AWS_SECRET_ACCESS_KEY`, `X-Api-Key` and `accessToken`."""
_SECRET = frozenset({
    "key", "keys", "apikey", "token", "secret", "secrets", "password", "passwd", "passphrase",
    "passcode", "credential", "credentials", "authorization", "bearer", "jwt", "cookie", "sshpass",
})  # fmt: skip
"""Whole words: `TOKENIZERS_PARALLELISM`, `KEYBOARD_LAYOUT` and `GNOME_KEYRING_PID` hold none. The
plural of a token is missing, as it is what limits are counted in."""
_LAST = frozenset({"auth", "pass", "pat", "pwd"})
"""Words at the end of a name only: `REDISCLI_AUTH`, but not `SSH_AUTH_SOCK`."""
_GLUED = ("password", "passwd", "passphrase", "apikey", "accesskey", "secretkey", "token", "secret")
"""Words for a secret, also at the end of a word: `PGPASSWORD`, `AUTHTOKEN`. No word of another
meaning ends so."""
_HARMLESS_ENDS = frozenset({
    "file", "path", "dir", "directory", "home", "sock", "socket", "host", "port", "user",
    "username", "name", "type", "url", "uri", "endpoint", "timeout", "ttl", "expiry", "limit",
    "budget", "length", "size", "count", "version", "layout", "field", "store", "extensions",
    "enabled", "required",
})  # fmt: skip
"""Words at the end of a name that denote something public about a secret: `TOKEN_URL`,
`KEY_FILE`."""


def names_secret(name: str) -> bool:
    """Tell whether a value under this name must not be shown."""
    parts = [part.lower() for part in _PARTS.findall(name)]
    while parts and parts[-1].isdigit():
        parts.pop()
    if not parts or parts[-1] in _HARMLESS_ENDS:
        return False
    if len(parts) > 1 and parts[-1] in _LAST:
        return True
    return any(part in _SECRET or part.endswith(_GLUED) for part in parts)

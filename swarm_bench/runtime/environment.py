"""The small environment of every process that we start."""

from collections.abc import Mapping

COMMON = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR",
    "SSL_CERT_FILE", "SSL_CERT_DIR",
)  # fmt: skip
"""All that is let through of the user's environment, beside `LC_…` and what an agent's adapter
names. So no key reaches a program that was not meant to have it, and no `CANOPY_…` variable any."""


def small_environment(user: Mapping[str, str], inherit: tuple[str, ...] = ()) -> dict[str, str]:
    """What of `user` is common, and what is inherited by name."""
    return {
        name: value
        for name, value in user.items()
        if name in COMMON or name.startswith("LC_") or name in inherit
    }

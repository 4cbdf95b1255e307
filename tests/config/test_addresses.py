import pytest

from swarm_bench.config.addresses import remove_logins


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see https://me:pw@host:1/x?y=@z, then", "see https://host:1/x?y=@z, then"),
        ("(ssh://git@host/x)", "(ssh://host/x)"),
        ("https://host/@scope/x and a@b.c", "https://host/@scope/x and a@b.c"),
        ("/here/https:/me:pw@host/x does not exist", "/here/https:/host/x does not exist"),
        ("socks5://p%40w:x@[::1]:80", "socks5://[::1]:80"),
        ("https://host/x?api_key=abc&level=2'", "https://host/x?api_key=…&level=2'"),
        ("http://(not stored)@h/m?token=(not stored) (x)",) * 2,
        ("https://one@a https://two@b", "https://a https://b"),
    ],
)
def test_logins_are_taken_out(text: str, shown: str) -> None:
    assert remove_logins(text) == shown

"""Prices that a user adds, and files of prices that are wrong."""

import os
from pathlib import Path

import pytest

from swarm_bench.core.errors import ConfigError
from swarm_bench.models.own_prices import read_prices
from swarm_bench.models.prices import TABLE, read_shipped

AMOUNTS = "input = 1\ncache_write = 1.25\ncache_read = 0.1\noutput = 4\n"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder of our own, and return that of the user's configuration."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    folder = tmp_path / "home" / ".config" / "swarm-bench"
    folder.mkdir(parents=True)
    return folder


def write(text: str, folder: Path = Path()) -> None:
    (folder / "prices.toml").write_text(text, encoding="utf-8")


def test_without_files_there_are_the_shipped_prices() -> None:
    assert read_prices() == read_shipped()
    assert {price.table for price in read_shipped().values()} == {TABLE}


def test_the_working_folder_wins_then_the_user_then_what_is_shipped(home: Path) -> None:
    write(f'date = 2026-01-05\n["gpt-9"]\n{AMOUNTS}')
    write(f"[rules]\n{AMOUNTS}\n['gpt-9']\ninput = 9\ncache_write = 9\ncache_read = 9\noutput=9\n"
          f"[local]\n{AMOUNTS}date = 2025-12-31\n", home)  # fmt: skip
    prices = read_prices()
    assert {model: price.table for model, price in prices.items()} == {
        **dict.fromkeys(read_shipped(), TABLE),
        "gpt-9": "prices.toml (2026-01-05)",
        "rules": "user's prices.toml",
        "local": "user's prices.toml (2025-12-31)",
    }
    assert (prices["gpt-9"].input, prices["rules"].cache_write) == (1, 1.25)


def test_the_folder_of_the_user_can_be_elsewhere(tmp_path: Path, home: Path) -> None:
    other = tmp_path / "xdg" / "swarm-bench"
    other.mkdir(parents=True)
    write(f"[here]\n{AMOUNTS}", home)
    write(f"[there]\n{AMOUNTS}", other)
    assert "there" in read_prices({"XDG_CONFIG_HOME": str(other.parent)})
    assert "here" in read_prices({"XDG_CONFIG_HOME": "relative"})


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (f"# mine\n[a]\n{AMOUNTS}outptu = 3\n", "prices.toml:7: 'a.outptu' is no price; a model"),
        ("\n[a]\ninput = 1\n", "prices.toml:2: 'a.output' is missing"),
        (f"[a]\n{AMOUNTS}".replace("4", '"4"'), "prices.toml:5: 'a.output' must be a number"),
        (f"[a]\n{AMOUNTS}".replace("4", "true"), "prices.toml:5: 'a.output' must be a number"),
        (f"[a]\n{AMOUNTS}".replace("4", "-4"), "prices.toml:5: 'a.output' must be at least 0"),
        (f"[a]\n{AMOUNTS}".replace("4", "nan"), "prices.toml:5: 'a.output' must be a finite"),
        (f"[a]\n{AMOUNTS}".replace("4", "1e9"), "prices.toml:5: 'a.output' must be at most 1"),
        (f'[a]\n{AMOUNTS}currency = "EUR"\n', "prices.toml:6: 'a.currency' cannot be 'EUR': costs"),
        (f'\ncurrency = "EUR"\n[a]\n{AMOUNTS}[b]\n{AMOUNTS}', "prices.toml:2: 'currency' cannot"),
        (f'date = "May"\n[a]\n{AMOUNTS}', "prices.toml:1: 'date' must be a day, as 2026-01-31"),
        (f"[gpt-4.1]\n{AMOUNTS}", "prices.toml:1: 'gpt-4.1' is not a key that is known here; q"),
        ("a = 3\n", "prices.toml:1: 'a' must be a table"),
        ("a = {input = 3}\n", "prices.toml:1: 'a.output' is missing"),
        ("[a\n", "prices.toml is not TOML"),
        ("[a]\n[a]\n", "prices.toml is not TOML"),
        ("a." * 5000 + "b = 1\n", "has a key of more than 100 parts"),
        ("#" * 300_000, "larger than 256 KiB"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_line(text: str, sentence: str) -> None:
    write(text)
    with pytest.raises(ConfigError) as raised:
        read_prices()
    assert sentence in str(raised.value)
    assert str(raised.value).count("'currency'") <= 1
    assert "\n" not in str(raised.value)


def test_a_file_with_many_mistakes_names_some(home: Path) -> None:
    write("".join(f"[m{number}]\n" for number in range(100)), home)
    with pytest.raises(ConfigError, match="and 390 more") as raised:
        read_prices()
    assert len(str(raised.value)) < 2_000


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo("prices.toml")
    with pytest.raises(ConfigError, match="not a regular file"):
        read_prices()
    Path("prices.toml").unlink()
    Path("prices.toml").symlink_to(tmp_path / "nothing")
    with pytest.raises(ConfigError, match="cannot be read"):
        read_prices()
    Path("prices.toml").unlink()
    Path("prices.toml").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="not UTF-8"):
        read_prices()

"""What is left of a commit's message when it becomes a question."""

import pytest

from swarm_bench.datasets.making.messages import clean, folders_of, names_commit, names_file

PATHS = ("src/shop/cart.py", "src/shop/price_list.py", "src/shop/__init__.py", "lib/HttpClient.ts")


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("Round the total of a cart (#123)", "Round the total of a cart"),
        ("Fixed #123 -- Rounded the total of a cart.", "Rounded the total of a cart"),
        ("Round the total, fixes #12 and closes GH-13", "Round the total"),
        ("Round the total [ticket:1152]", "Round the total"),
        ("Add #tag parsing to baskets", "Add #tag parsing to baskets"),
        ("feat(api)!: round the total", "round the total"),
        ("fix(api): wrong when two coupons meet", "fix: wrong when two coupons meet"),
        ("cart: round the total", "round the total"),
        ("shop/cart: round the total", "round the total"),
        ("cli: round the total", "cli: round the total"),
        ("[backend] round the total", "round the total"),
        ("Round.\n\nSigned-off-by: A <a@b.c>\nCo-authored-by: B <b@b.c>", "Round"),
        ("Round the total. See https://a.b/c for why", "Round the total"),
        (
            "Round the total\n\nCustomers saw half cents in their bills before.\n\nMore of it.",
            "Round the total. Customers saw half cents in their bills before.",
        ),
        ("Round the total (patch by Ann)", "Round the total"),
        ("Round the total, thanks ann.b for reporting it.", "Round the total"),
        ("Round the total of a cart\n\nround the total of a cart.", "Round the total of a cart"),
        (
            "Round the total\n\nCustomers saw half cents in bills. These are some examples:",
            "Round the total. Customers saw half cents in bills.",
        ),
        ("Round the total\n\nThis changes cart.py so that it rounds.", "Round the total"),
        ("Round the total\n\nThe rounding came with 0d50ce8 and was wrong.", "Round the total"),
        ("Round the total\n\n* Round the total\n\n* Fix tests of it", "Round the total"),
    ],
)
def test_a_message_is_cleaned(message: str, text: str) -> None:
    assert clean(message, PATHS).text == text


def test_a_scope_that_is_a_folder_elsewhere_is_dropped() -> None:
    folders = folders_of([*PATHS, "crates/CLI/src/process.rs", "cobra.go"])
    assert clean("cli: round the total", PATHS, folders).text == "round the total"
    assert clean("cobra: round the total", PATHS, folders).text == "cobra: round the total"


@pytest.mark.parametrize(
    "text",
    [
        "Fix cart.py", "Fix Cart.py.", "Fix shop.cart imports", "Fix shop/cart", "Fix shop::cart",
        "Speed up price_list", "Call cart.total() once", "httpclient retries", "Fix src.shop",
    ],
)  # fmt: skip
def test_a_text_can_name_a_file(text: str) -> None:
    assert names_file(text, PATHS)


@pytest.mark.parametrize("text", ["Empty the cart of a shop", "Fix carts.python", "a price list"])
def test_plain_words_name_no_file(text: str) -> None:
    assert not names_file(text, PATHS)


def test_a_hash_has_digits() -> None:
    assert names_commit("broken since 0d50ce8")
    assert not names_commit("a defaced facade")


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ("wip", False),
        ("Fix typo", False),
        ("update code", False),
        ("Fix bug in the code", False),
        ("1.2.3", False),
        ("Round coupon totals upwards", True),
        ("Fix rounding\n\nCustomers saw half cents in bills, carts and exports.", False),
        (
            "Fix rounding of coupons\n\nCustomers saw half cents in bills, carts, mails, exports.",
            True,
        ),
    ],
)
def test_a_message_says_something_by_its_telling_words(message: str, says: bool) -> None:
    assert clean(message, ()).says_something is says


def test_keywords_are_the_telling_words() -> None:
    message = clean("Fix the rounding of `half_cents` in totals, and of totals of coupons", ())
    assert message.keywords == ("rounding", "half_cents", "totals", "coupons")


def test_keywords_keep_what_is_not_wanted_and_numbers() -> None:
    message = clean("Return 405 and no error when S3 coupons have no totals; remove the old", ())
    assert message.keywords == (
        *("Return", "405", "no", "error", "S3", "coupons", "totals", "remove"),
    )


def test_names_are_no_plain_words() -> None:
    message = clean("Let LinkExtractor.close() and max_size of Carts fail for GET_ALL, HTTP/2", ())
    assert message.names == {"LinkExtractor", "close", "max_size", "GET_ALL"}


@pytest.mark.parametrize(
    "word", ["for ", "a@", "a", "(1", "(see ", "fix GH-", "\n", "thanks ", "x * "]
)
def test_a_message_of_any_length_is_cleaned_by_its_beginning(word: str) -> None:
    """What stands behind 2,000 characters of a paragraph is not looked at."""
    long = "Round " + word * 1_000_000
    assert clean(long, PATHS).text == clean(long[:3_000], PATHS).text

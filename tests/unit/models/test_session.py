"""What a connection is set to, beside what its URL says."""

from urllib.parse import quote

import pytest

from models.store.session import settings_of

TIMES = {"statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"}


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ("", set()),
        ("-c lock_timeout=7s", {"lock_timeout"}),
        ("-clock_timeout=7s --statement-timeout=9s", {"lock_timeout", "statement_timeout"}),
        ("-c LOCK_TIMEOUT=7s -c work_mem=8MB", {"lock_timeout"}),
    ],
)
def test_time_outs_of_the_url_stay(options: str, kept: set[str]) -> None:
    found = settings_of(f"postgresql://h/d?options={quote(options, safe='')}")
    assert TIMES - set(found) == kept


def test_what_signoff_is_not_right_without_is_set_whatever_the_url_says() -> None:
    options = quote("-c TimeZone=Asia/Tokyo -c search_path=app", safe="")
    found = settings_of(f"postgresql://h/d?options={options}")
    assert (found["TimeZone"], found["search_path"]) == ("UTC", "public")

"""Secrets as they are kept, and names that look like others."""

import unicodedata
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from models.errors import SealBroken
from models.people.lookalikes import fault_of
from models.people.users import is_subject
from models.webhooks.sealing import Seal

OLD, NEW = SecretStr("the old key"), SecretStr("the new key")


@given(st.text(st.characters(codec="utf-8")))
def test_what_is_sealed_is_opened_and_is_not_to_be_seen(text: str) -> None:
    seal = Seal([OLD])
    kept = seal.close(text)
    assert seal.open(kept) == text
    assert kept != seal.close(text)
    assert len(text) < 8 or text not in kept


def test_an_old_key_opens_until_it_is_taken_away() -> None:
    kept = Seal([OLD]).close("whsec_abc")
    both = Seal([NEW, OLD])
    assert both.open(kept) == "whsec_abc"
    assert (both.is_fresh(kept), both.is_fresh(both.close("x"))) == (False, True)
    with pytest.raises(SealBroken, match=r"webhooks\.sealing_keys"):
        Seal([NEW]).open(kept)


@given(st.integers(min_value=9), st.integers(1, 255))
def test_what_was_changed_is_not_opened(place: int, change: int) -> None:
    seal = Seal([OLD])
    kept = seal.close("whsec_abc")
    place = 9 + place % (len(kept) - 9)
    changed = kept[:place] + chr(ord(kept[place]) ^ (change % 31 + 1)) + kept[place + 1 :]
    # The bits that base64 leaves unused may change, and nothing with them.
    with suppress(SealBroken):
        assert seal.open(changed) == "whsec_abc"


def test_what_an_earlier_release_kept_is_itself() -> None:
    seal = Seal([OLD])
    assert seal.open("whsec_abc") == "whsec_abc"
    assert not seal.is_fresh("whsec_abc")


@pytest.mark.parametrize(
    "name",
    [
        "ａnn",
        "ann①",
        "ﬁona",
        "Ann²",
        "cafe\u0301",
        "an\u200bn",
        "an\u00adn",
        "\u202eann",
        "\u2066ann\u2069",
        "ann\u034f",
        "ann\u3164",
        "ann\uffa0",
        "ann\ufe0f",
        "a\u115fnn",
        "a\u17b5nn",
        "ann\U000e0101",
        "ann\U000e0041",
        "an\x07n",
        "ann\u180b",
        "ann\u2800",
        "ann\U0001d159",
        "ann\U00016fe4",
        "ann\U00013441",
        "ann\u1680b",
        "ann\u2028",
        "ann\ue000",
        "ann\u0378",
        "ann  b",
        " ann",
        "ann ",
    ],
)
def test_a_name_that_looks_like_another_is_none(name: str) -> None:
    assert fault_of(name)
    assert not is_subject(name)


@pytest.mark.parametrize(
    "name", ["ann", "Zoë", "Łukasz Żółć", "李雷", "user|auth0:17", "a b", "ann@example.org", "नमस्ते"]
)
def test_people_s_names_are_names(name: str) -> None:
    assert fault_of(unicodedata.normalize("NFC", name)) is None
    assert is_subject(name)


@given(st.text(max_size=40))
def test_no_two_names_are_one_in_normal_form(text: str) -> None:
    if is_subject(text):
        assert unicodedata.normalize("NFKC", text) == text

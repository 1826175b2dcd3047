"""How often a property is tried: in the suite with few examples and a fixed draw, in `proof` as it says."""

from typing import Any

from hypothesis import settings

PROOF = "proof"


def register() -> None:
    """Name the profiles. All but `proof` draw the same each time: only a change turns them red."""
    settings.register_profile(PROOF, deadline=None, print_blob=True)
    settings.register_profile("suite", deadline=None, print_blob=True, derandomize=True, max_examples=25)
    settings.register_profile("fast", deadline=None, derandomize=True, max_examples=10)
    settings.load_profile("suite")


def proving() -> bool:
    """Whether this run is to prove, and takes the time for it."""
    return settings.get_current_profile_name() == PROOF


def examples(count: int, **others: Any) -> settings:
    """Settings of a property that `proof` tries so often; other profiles no more often than they say."""
    return settings(max_examples=count if proving() else min(count, settings().max_examples), **others)


def hostile(size: int) -> int:
    """The size of a text that is made to be slow: a fifth in the suite, where quadratic time shows, too."""
    return size if proving() else size // 5

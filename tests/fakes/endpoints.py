"""Endpoints of the tests' own in a configuration: a model that is not the site's own needs a key."""

from typing import Any


def with_keys(settings: Any) -> Any:
    """Settings in which every `api_base` has an `api_key` beside it, whatever its endpoint takes."""
    if isinstance(settings, list):
        return [with_keys(each) for each in settings]
    if not isinstance(settings, dict):
        return settings
    keyed = {name: with_keys(value) for name, value in settings.items()}
    return {"api_key": "none", **keyed} if "api_base" in keyed else keyed

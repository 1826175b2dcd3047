"""A machine that gives way under a research each time that something new is kept of it."""

import errno
from typing import Any

import pytest

from actors.platform.runtime.run import Run


def break_off_after_each(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """From now on; the keys of what was kept. A research is resumed from its start as often as that."""
    effect, keep = Run.effect, Run.keep
    kept: list[str] = []

    def give_way(key: str) -> None:
        kept.append(key)
        raise ConnectionRefusedError(errno.ECONNREFUSED, "the machine gives way")

    async def effect_and_break(self: Run, key: str, type_: Any, act: Any) -> Any:
        is_new = key not in self._kept
        made = await effect(self, key, type_, act)
        if is_new:
            give_way(key)
        return made

    async def keep_and_break(self: Run, key: str, value: Any, **more: Any) -> None:
        await keep(self, key, value, **more)
        if not key.startswith("gate/"):
            give_way(key)

    monkeypatch.setattr(Run, "effect", effect_and_break)
    monkeypatch.setattr(Run, "keep", keep_and_break)
    return kept

"""The lock: each package of the environment with its version and a hash of each file that may be taken."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_every_package_is_locked_by_hash_and_torch_is_left_to_the_site() -> None:
    lock = (ROOT / "requirements/cpu.txt").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in lock.splitlines() if line.strip() and not line.startswith("#")]
    assert len(lines) > 200
    entry = re.compile(r"[a-z0-9._-]+==[^ ]+(?: +--hash=sha256:[0-9a-f]{64})+ *")
    assert [line for line in lines if not entry.fullmatch(line)] == []
    assert not any(line.startswith(("torch==", "torchvision==", "torchaudio==")) for line in lines)


def test_setup_takes_nothing_else() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    installs = [line for line in makefile.splitlines() if "-r requirements/cpu.txt" in line]
    assert len(installs) == 1
    assert "--require-hashes" in installs[0]
    assert "--no-deps" in installs[0]

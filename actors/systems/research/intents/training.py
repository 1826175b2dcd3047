"""Trains the classifier of research's intents, and says by a digest what it was made of.

Called by `make train-research-intents`, the benchmark and tests, never by an agent: see
`actors/platform/text/classifying/training.py` for what it takes.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from actors.platform.text.classifying.messages_file import read_messages
from actors.platform.text.classifying.similarity import Block
from actors.platform.text.classifying.training import Examples, Setting, fitted_temperature
from actors.systems.research.intents.classify import ResearchIntents, sign_counts
from actors.systems.research.intents.cues import SignWords, notice
from models.errors import ConfigInvalid
from models.research.intents import TASKS, AskedResearch

# Goes up when features or their arithmetic change.
_MAKE = 1
# Chosen by leaving writers out of the training messages.
_SETTING = Setting(letters=0.4, ridge=0.1, signs=0.1)
_STRONGEST = 30_000
_GROUPS = 12


def training_files(folder: Path) -> list[Path]:
    """The files of training messages, by name. ConfigInvalid where there are none."""
    found = sorted(folder.glob("training*.yaml"))
    if not found:
        raise ConfigInvalid(f"{folder}: has no training*.yaml: name the folder of training messages")
    return found


def read_asked(path: Path) -> tuple[AskedResearch, ...]:
    """The messages in a file. ConfigInvalid: one line per fault."""
    return read_messages(path, AskedResearch)


def made_of(folder: Path, signs: Path) -> str:
    """The digest of what weights are made of: training messages, signs, and how they are counted.

    Raises:
        ConfigInvalid: a file is missing or can't be read.
    """
    digest = hashlib.sha256(f"research {_MAKE}".encode())
    for path in (*training_files(folder), signs):
        try:
            digest.update(hashlib.sha256(path.read_bytes()).digest())
        except OSError as error:
            raise ConfigInvalid(f"{path}: can't be read: {error.strerror}") from error
    return digest.hexdigest()


def fit(asked: Sequence[AskedResearch], signs: SignWords, *, temperature: float = 1.0) -> ResearchIntents:
    """Train on messages: a few seconds for 2,000. Probabilities are by the temperature given."""
    noticed = [notice(each.text, signs) for each in asked]
    examples = Examples(
        [each.text for each in noticed],
        [(each.task_type, each.complexity) for each in asked],
        common=len(asked),
        noticed=[sign_counts(each) for each in noticed],
    )
    weights = examples.solve(_SETTING).weights
    found = examples.likeness(_SETTING, weights, temperature, strongest=_STRONGEST)
    # What a message is about is new in each: what no training message had makes it no less clear.
    known = replace(
        found,
        letters=_known_only(found.letters),
        stems=_known_only(found.stems),
        signs=None if found.signs is None else _known_only(found.signs),
    )
    return ResearchIntents(signs, known)


def unheard(
    asked: Sequence[AskedResearch], signs: SignWords, *, temperature: float = 1.0
) -> Iterator[tuple[ResearchIntents, list[AskedResearch]]]:
    """Twelve groups of writers, and for each a classifier that was trained on all others."""
    writers = list(dict.fromkeys((each.language, each.person) for each in asked))
    group_of = {writer: number % _GROUPS for number, writer in enumerate(writers)}
    for group in range(min(_GROUPS, len(writers))):
        left = [each for each in asked if group_of[each.language, each.person] == group]
        others = [each for each in asked if group_of[each.language, each.person] != group]
        yield fit(others, signs, temperature=temperature), left


def train(asked: Sequence[AskedResearch], signs: SignWords) -> ResearchIntents:
    """The classifier from all messages; its probabilities are fitted on writers left out in turn."""
    scores: list[Any] = []
    wanted: list[list[bool]] = []
    for without, left in unheard(asked, signs):
        scores += [without.task_scores(notice(each.text, signs)) for each in left]
        wanted += [[each.task_type == task for task in TASKS] for each in left]
    return fit(asked, signs, temperature=fitted_temperature(np.array(scores), np.array(wanted)))


def _known_only(block: Block) -> Block:
    return replace(block, unseen=0.0)

"""Leave-one-voice-out: for each voice a classifier that has never heard it, chosen without it.

Called by `eval_intents`. Rarities of features come from the examples of the intents file alone, and those
are nobody's voice, so nothing of a voice is in its own classifier. The setting (share of letters, ridge) and
the temperature are chosen within the other eleven voices, by leaving out each of those in turn as well.
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np

from actors.platform.text.classifying.similarity import Likeness
from actors.platform.text.classifying.training import STRONGEST, Setting, fitted_temperature
from cluster.train_intents import Corpus

SETTINGS = (Setting(0.4, 0.08), Setting(0.4, 0.15), Setting(0.5, 0.15))


class Unheard(NamedTuple):
    """A classifier that was made without one voice."""

    likeness: Likeness
    setting: Setting


class _Tried(NamedTuple):
    setting: Setting
    right: float
    temperature: float
    weights: np.ndarray


def unheard(
    corpus: Corpus, *, settings: tuple[Setting, ...] = SETTINGS, strongest: int = STRONGEST
) -> dict[str, Unheard]:
    """A classifier for each voice, trained and tuned on all the others."""
    examples = corpus.examples()
    best: dict[str, _Tried] = {}
    for setting in settings:
        solution = examples.solve(setting)
        inner: dict[str, list[np.ndarray]] = {name: [] for name in corpus.places}
        wanted: dict[str, list[np.ndarray]] = {name: [] for name in corpus.places}
        for one, other in combinations(corpus.places, 2):
            groups = corpus.places[one], corpus.places[other]
            scores = solution.scores_without(np.concatenate(groups))
            # Without both: what `other` scores tells which setting suits `one`, and the other way round.
            inner[one].append(scores[len(groups[0]) :])
            wanted[one].append(examples.wanted[groups[1]])
            inner[other].append(scores[: len(groups[0])])
            wanted[other].append(examples.wanted[groups[0]])
        for name, place in corpus.places.items():
            scores, truth = np.concatenate(inner[name]), np.concatenate(wanted[name])
            right = float((scores.argmax(axis=1) == truth.argmax(axis=1)).mean())
            if name not in best or right > best[name].right:
                weights = solution.weights_without(place)
                best[name] = _Tried(setting, right, fitted_temperature(scores, truth), weights)
    return {
        name: Unheard(
            examples.likeness(tried.setting, tried.weights, tried.temperature, strongest=strongest),
            tried.setting,
        )
        for name, tried in best.items()
    }

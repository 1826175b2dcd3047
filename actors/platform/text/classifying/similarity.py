"""How likely each label is of a text: weighted sums, with weights that were found before.

A score is a weighted sum of a text's features; the softmax of the scores is a probability, because its
temperature was fitted on people whose texts the weights had not seen (`training.py`). Used by the chat's
router and by research; the weights come from a file (`weights_file.py`).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from actors.platform.text.classifying.features import Counts, letters, stems


@dataclass(frozen=True)
class Block:
    """The weights of one sort of features.

    `keys` are the features that have weights, sorted (uint32); `rarity` has a number and `weights` a row for
    each. A text's other features count for its length alone, as ones of rarity `unseen`.
    """

    keys: Any
    rarity: Any
    weights: Any
    unseen: float

    def scores(self, counts: Counts) -> Any:
        """The score of each label by these features, counted as TF-IDF of length 1."""
        if not len(counts.keys) or not len(self.keys):
            return np.zeros(self.weights.shape[1], dtype=np.float32)
        places = np.minimum(np.searchsorted(self.keys, counts.keys), len(self.keys) - 1)
        known = self.keys[places] == counts.keys
        values = counts.values * np.where(known, self.rarity[places], self.unseen)
        length = max(float(np.linalg.norm(values)), 1e-9)
        return (values[known] / length) @ self.weights[places[known]]


@dataclass(frozen=True)
class Likeness:
    """A linear classifier of texts in normal form; blocks have a column of weights per label.

    `signs` are weights of what the caller has noticed in a text, where it was trained with such.
    """

    labels: tuple[str, ...]
    letters: Block
    stems: Block
    temperature: float
    signs: Block | None = None

    def scores(self, text: str, noticed: Counts | None = None) -> Any:
        """The score of each label: about 1 for what it is, about 0 for what it is not."""
        found = self.letters.scores(letters(text)) + self.stems.scores(stems(text))
        return found if self.signs is None or noticed is None else found + self.signs.scores(noticed)

    def probabilities(self, text: str) -> dict[str, float]:
        """The probability of each label, the likeliest first; they add up to 1."""
        found = softmax(self.scores(text), self.temperature)
        pairs = zip(self.labels, found.tolist(), strict=True)
        return dict(sorted(pairs, key=lambda pair: -pair[1]))


def softmax(scores: Any, temperature: float) -> Any:
    """Probabilities of scores (the last axis); the higher the temperature, the more alike they are."""
    raised = np.asarray(scores, dtype=np.float64) / temperature
    raised = np.exp(raised - raised.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)

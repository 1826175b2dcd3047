"""Finds the weights of a classifier: kernel ridge regression over examples, and a temperature.

Called by `make train-intents`, `make train-research-intents` and benchmarks, never by an agent: it takes
SciPy and some hundred megabytes. From the inverse of the kernel follow the weights without any group of
examples by a small solve (the block form of leave-one-out). So leaving out each voice, and each pair of
voices to choose a setting by, is exact and takes one training for each setting.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from actors.platform.text.classifying.features import Counts, letters, stems
from actors.platform.text.classifying.similarity import Block, Likeness, softmax

_TEMPERATURES = np.geomspace(0.02, 1.0, 60)
# Of each sort: leaving out the weaker ones changes one answer in a thousand, and makes the file small.
STRONGEST = 90_000


class Setting(NamedTuple):
    """The shares of letters and signs (the rest is the stems') in how alike two texts are, and the ridge."""

    letters: float
    ridge: float
    signs: float = 0.0

    @property
    def stems(self) -> float:
        """What is left for the stems."""
        return 1 - self.letters - self.signs


# Of the chat. The one that leave-one-voice-out takes most often; anything near it does as well.
CHOSEN = Setting(letters=0.4, ridge=0.15)


class _Samples(NamedTuple):
    """One sort of features of all examples: a sparse row for each, of length 1."""

    keys: Any
    rarity: Any
    unseen: float
    matrix: Any


class Examples:
    """Texts in normal form, counted once for all settings.

    Args:
        texts: the examples, one at least.
        labels: the label of each, or all labels that are true of it.
        common: how many of the texts, from the first, tell how rare a feature is; those are never left out.
        noticed: the signs of each, where there are such.
    """

    def __init__(
        self,
        texts: Sequence[str],
        labels: Sequence[str | tuple[str, ...]],
        *,
        common: int,
        noticed: Sequence[Counts] = (),
    ) -> None:
        theirs = [(each,) if isinstance(each, str) else each for each in labels]
        self.labels = tuple(dict.fromkeys(label for each in theirs for label in each))
        self.wanted = np.array([[known in each for known in self.labels] for each in theirs], np.float32)
        self._letters = _rows([letters(text) for text in texts], common)
        self._stems = _rows([stems(text) for text in texts], common)
        self._signs = _rows(noticed, common) if noticed else None
        self._alike = tuple(
            np.asarray((rows.matrix @ rows.matrix.T).todense(), np.float32)
            for rows in (self._letters, self._stems, self._signs)
            if rows is not None
        )

    def solve(self, setting: Setting) -> "Solution":
        """Train: some seconds for 5,000 examples.

        Raises:
            ArithmeticError: the ridge is too small for these examples.
        """
        from scipy.linalg import cho_factor, lapack

        kernel = setting.letters * self._alike[0] + setting.stems * self._alike[1]
        if self._signs is not None:
            kernel += setting.signs * self._alike[2]
        kernel[np.diag_indices_from(kernel)] += setting.ridge
        factor, _ = cho_factor(kernel, lower=True, overwrite_a=True, check_finite=False)
        inverse, fault = lapack.spotri(factor, lower=1)
        if fault:
            raise ArithmeticError(f"the kernel can't be inverted ({fault}): take a larger ridge")
        return Solution(self, setting, np.tril(inverse) + np.tril(inverse, -1).T)

    def likeness(
        self, setting: Setting, weights: Any, temperature: float, *, strongest: int = STRONGEST
    ) -> Likeness:
        """The classifier of a solution's weights, a row per example; rows of 0 are examples left out.

        Of each sort no more than the `strongest` features are kept.
        """
        return Likeness(
            self.labels,
            _block(self._letters, setting.letters, weights, strongest),
            _block(self._stems, setting.stems, weights, strongest),
            temperature,
            None if self._signs is None else _block(self._signs, setting.signs, weights, strongest),
        )


class Solution:
    """The trained weights, and what they would be without some of the examples."""

    def __init__(self, examples: Examples, setting: Setting, inverse: Any) -> None:
        self._examples = examples
        self.setting = setting
        self._inverse = inverse
        self.weights: Any = inverse @ examples.wanted

    def scores_without(self, group: Any) -> Any:
        """The scores of the examples of `group` (their numbers) by weights that never saw them."""
        return self._examples.wanted[group] - self._unseen(group)

    def weights_without(self, group: Any) -> Any:
        """The weights of training on all but `group`, whose own rows are 0."""
        weights = self.weights - self._inverse[:, group] @ self._unseen(group)
        weights[group] = 0
        return weights

    def _unseen(self, group: Any) -> Any:
        return np.linalg.solve(self._inverse[np.ix_(group, group)], self.weights[group])


def fitted_temperature(scores: Any, wanted: Any) -> float:
    """The temperature by which the scores of unseen texts become the truest probabilities (log loss)."""
    losses = [
        -float(np.log(np.maximum(softmax(scores, each)[wanted > 0], 1e-12)).mean()) for each in _TEMPERATURES
    ]
    return float(_TEMPERATURES[int(np.argmin(losses))])


def _rows(counted: Sequence[Counts], common: int) -> _Samples:
    from scipy.sparse import csr_matrix

    starts = np.cumsum([0, *(len(counts.keys) for counts in counted)])
    keys, columns = np.unique(np.concatenate([counts.keys for counts in counted]), return_inverse=True)
    seen = np.bincount(columns[: starts[common]], minlength=len(keys))
    rarity: Any = (1 + np.log((1 + common) / (1 + seen))).astype(np.float32)
    values = np.concatenate([counts.values for counts in counted]) * rarity[columns]
    lengths = np.sqrt(np.add.reduceat(values**2, starts[:-1]))
    values /= np.repeat(np.maximum(lengths, 1e-9), np.diff(starts))
    matrix = csr_matrix((values, columns, starts), shape=(len(counted), len(keys)), dtype=np.float32)
    return _Samples(keys, rarity, float(1 + np.log(1 + common)), matrix)


def _block(rows: _Samples, share: float, weights: Any, strongest: int) -> Block:
    found = share * (rows.matrix.T @ weights)
    strength = np.abs(found).max(axis=1) * rows.rarity
    kept = np.sort(np.argsort(-strength, kind="stable")[:strongest])
    # Half the digits are more than enough: features are many and their weights small.
    found = found[kept].astype(np.float16).astype(np.float32)
    return Block(rows.keys[kept], rows.rarity[kept], found, rows.unseen)

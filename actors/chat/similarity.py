"""How alike a text is to the examples of each intent: the arithmetic of routing.

Two texts are as similar as their letter sequences are, which sees through misspellings and endings in any
language, and as their embeddings are, where there are some. A score for an intent is a weighted sum of the
similarities to all examples; least squares finds the weights (kernel ridge regression), so that what the
examples of many intents have in common, such as their subjects, counts for little.
"""

import zlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

# Letter sequences are counted in this many buckets, so that memory does not grow with the examples.
_BUCKETS = 4096
_SLICE = 512
_SHORTEST, _LONGEST = 2, 5
# Found by cross-validation over the examples; anything near them does as well.
_SHARE_OF_MEANING = 0.35
_RIDGE = 0.3


class Likeness:
    """A linear classifier of texts in normal form, made from examples.

    Args:
        texts: the examples, one at least.
        labels: the intent of each.
        vectors: their embeddings as rows of length 1; None to go by letters alone.
    """

    def __init__(self, texts: Sequence[str], labels: Sequence[str], vectors: Any | None = None) -> None:
        self.labels = tuple(dict.fromkeys(labels))
        counted = [_count(text) for text in texts]
        seen: Any = np.zeros(_BUCKETS, dtype=np.float32)
        for places, _ in counted:
            seen[places] += 1
        self._rarity = 1 + np.log((1 + len(texts)) / (1 + seen))

        rows: Any = np.repeat(np.arange(len(texts)), [len(places) for places, _ in counted])
        columns = np.concatenate([places for places, _ in counted])
        values = np.concatenate([self._weighed(*buckets) for buckets in counted])
        share = 0.0 if vectors is None else _SHARE_OF_MEANING
        # 32 bits are enough under this ridge. In slices, because agents are to stay small.
        kernel: Any = np.zeros((len(texts), len(texts)), dtype=np.float32)
        for start in range(0, _BUCKETS, _SLICE):
            here = (columns >= start) & (columns < start + _SLICE)
            letters: Any = np.zeros((len(texts), _SLICE), dtype=np.float32)
            letters[rows[here], columns[here] - start] = values[here]
            kernel += letters @ letters.T
        kernel *= 1 - share
        if vectors is not None:
            kernel += share * (vectors @ vectors.T)
        kernel[np.diag_indices_from(kernel)] += _RIDGE
        wanted = np.array([[label == known for known in self.labels] for label in labels], dtype=np.float32)
        weights = np.linalg.solve(kernel, wanted)
        # The similarities are linear, so the weighted sum over examples folds into one row per feature.
        self._by_letter: Any = np.zeros((_BUCKETS, len(self.labels)), dtype=np.float32)
        np.add.at(self._by_letter, columns, (1 - share) * values[:, None] * weights[rows])
        self._by_meaning = None if vectors is None else share * (vectors.T @ weights)

    @property
    def dimension(self) -> int | None:
        """The length of the embeddings; None where it goes by letters alone."""
        return None if self._by_meaning is None else int(self._by_meaning.shape[0])

    def scores(self, text: str, vector: Any | None = None) -> dict[str, float]:
        """The score of each label, best first: about 1 for what it is, about 0 for what it is not.

        `vector`, of length 1 and `dimension`, is given if, and only if, the examples had theirs.
        """
        places, times = _count(text)
        found = self._weighed(places, times) @ self._by_letter[places]
        if self._by_meaning is not None:
            found = found + vector @ self._by_meaning
        pairs = zip(self.labels, np.clip(found, -1, 1).tolist(), strict=True)
        return dict(sorted(pairs, key=lambda pair: -pair[1]))

    def _weighed(self, places: Any, times: Any) -> Any:
        """A text's features that are not 0: TF-IDF, of length 1."""
        values = (1 + np.log(times)) * self._rarity[places]
        return values / max(float(np.linalg.norm(values)), 1e-9)


def _count(text: str) -> tuple[Any, Any]:
    """The buckets that a text's letter sequences fall into, and how often; a word's ends count as letters."""
    found: Counter[int] = Counter()
    for word, times in Counter(text.split()).items():
        padded = f" {word} ".encode()
        for size in range(_SHORTEST, _LONGEST + 1):
            for start in range(len(padded) - size + 1):
                # Not hash(): it differs from process to process.
                found[zlib.crc32(padded[start : start + size]) % _BUCKETS] += times
    return (
        np.fromiter(found.keys(), dtype=np.intp, count=len(found)),
        np.fromiter(found.values(), dtype=np.float32, count=len(found)),
    )

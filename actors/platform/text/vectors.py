"""How near two embeddings are. Pure."""

import math
from collections.abc import Sequence


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of two vectors of one length, from -1 to 1; 0 where one is nothing but zeros."""
    lengths = math.sqrt(sum(x * x for x in one) * sum(x * x for x in other))
    return sum(x * y for x, y in zip(one, other, strict=True)) / lengths if lengths else 0.0

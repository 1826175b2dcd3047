"""How much an agreement says: the weights of Fellegi and Sunter (1969), in bits. Pure.

Called by the scoring of items and of tables' records. Of two records that belong together a share `matching`
agrees so, of two that don't a share `random`: the rarer by chance, the more it says.
"""

import math

_LEAST = 1e-9
_MOST_BITS = 60.0


def weight(matching: float, random: float) -> float:
    """The bits that an outcome of a comparison says for two records' being one; below 0 against it."""
    return math.log2(max(matching, _LEAST) / max(random, _LEAST))


def probability(bits: float) -> float:
    """The probability that two records belong together, by all bits for it and against it, 0 to 1."""
    return 1 / (1 + 2 ** -max(-_MOST_BITS, min(bits, _MOST_BITS)))

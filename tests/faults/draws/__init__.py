"""The faults: each is drawn by name and moment, does its worst for a while, and takes it back.

Each says whether it struck: something was there and was hit; what hit nothing is not counted.
`ALONE` are those that measure something and so take place while nothing else does.
"""

import random
from collections.abc import Callable, Coroutine
from typing import Any

from tests.faults.draws import claims, knowledge, operations, people, postgres, processes, services, writes
from tests.faults.draws.scene import Scene

FAULTS: dict[str, Callable[[Scene], Coroutine[Any, Any, bool]]] = {
    fault.__name__: fault
    for fault in (
        processes.kill,
        processes.stop,
        processes.stop_in_a_call,
        processes.namesake,
        processes.upgrade,
        postgres.lost_answers,
        postgres.cut,
        postgres.partition,
        postgres.slow_link,
        postgres.away,
        postgres.restart,
        postgres.fail_over,
        postgres.locked_rows,
        postgres.clock_step,
        services.model_down,
        services.model_slow,
        services.model_lies,
        services.disk_full,
        services.disk_full_at_a_summary,
        services.target_away,
        operations.books_away,
        operations.kill_in_an_operation,
        operations.kill_at_a_question,
        writes.stop_before_a_write,
        claims.cancel_in_an_effect,
        claims.stop_in_an_effect,
        claims.locked_lease,
        knowledge.knowledge_cut_off,
        knowledge.kill_before_passages,
        knowledge.disk_full_at_knowledge,
        people.decisions,
        people.decided_early,
        people.late,
        people.cancel,
        people.many_stopped,
        people.abandoned_batch,
    )
}
ALONE = {"locked_rows", "stop_in_a_call", "abandoned_batch"}
# What is cheap and hits most is drawn more often; what costs seconds of everybody's, less.
WEIGHTS = {
    "kill": 6,
    "lost_answers": 8,
    "cut": 4,
    "decisions": 6,
    "slow_link": 3,
    "abandoned_batch": 0.7,
    "fail_over": 0.3,
    "restart": 1,
    "late": 1,
    "books_away": 1,
    "kill_at_a_question": 1,
    "disk_full_at_a_summary": 1,
    "many_stopped": 1,
    "kill_before_passages": 0.7,
    "disk_full_at_knowledge": 0.7,
}


def draw(rng: random.Random, count: int, only: list[str]) -> list[tuple[str, float, int]]:
    """So many faults: name, the pause before it, and a seed of its own."""
    names = only or list(FAULTS)
    weights = [WEIGHTS.get(name, 2) for name in names]
    drawn = rng.choices(names, weights, k=count)
    return [(name, rng.uniform(0.05, 0.8), rng.randrange(2**32)) for name in drawn]

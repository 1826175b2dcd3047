"""Every step is committed once, and begun again only where the run that had begun it lost its claim.

Pure functions over what the steps' trace and Postgres' ledger say.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

from models.store.runtime.documents import GATE_PREFIX
from tests.faults.disturbances import Disturbance, had_an_outage, lost_its_claim
from tests.faults.ledger import Keep, Move
from tests.faults.site.kinds import BROKEN, Begun

# Seconds within which two things that are done at the same time are noted.
_JUST = 0.5


def committed_once(
    keeps: Sequence[Keep], told: Sequence[tuple[str, str]], kept: Mapping[str, Collection[str]]
) -> Iterator[str]:
    """Each document is written once, by the run that has the claim, told of once, and there in the end.

    The note that a write is about to be sent may be taken back, and made again.

    Args:
        told: the `step.done` events, as (workflow, step).
        kept: the keys of the documents that there are, by workflow.
    """
    back = Counter((keep.workflow, keep.key) for keep in keeps if _is_taken_back(keep))
    written = Counter((keep.workflow, keep.key) for keep in keeps if keep.did == "INSERT")
    events = Counter(told)
    there = {(workflow, key) for workflow, keys in kept.items() for key in keys}
    for (workflow, key), times in written.items():
        if times > 1 + back[workflow, key]:
            yield f"{key} of {workflow} was committed {times} times"
    for keep in keeps:
        name = f"{keep.key} of {keep.workflow}"
        if keep.did != "INSERT" and not _is_taken_back(keep):
            yield f"{name} was committed, and changed afterwards ({keep.did})"
        if keep.status != "running":
            yield f"{name} was kept while its workflow was {keep.status}"
        if keep.made_under not in (None, keep.epoch):
            yield f"a zombie wrote {name}: made under epoch {keep.made_under}, kept under {keep.epoch}"
    for workflow, key in written.keys() | events.keys() | there:
        again = back[workflow, key]
        counts = written[workflow, key], events[workflow, key], int((workflow, key) in there)
        counts = counts[0] - again, counts[1] - again, counts[2]
        if again and counts == (0, 0, 0):
            continue
        untold = key.startswith(GATE_PREFIX)  # its approval's events tell of a gate
        if 0 in (counts[0], counts[2]) or counts[1] != (0 if untold else 1):
            yield f"{key} of {workflow} was written, told and kept {counts} times"


def _is_taken_back(keep: Keep) -> bool:
    return keep.did == "DELETE" and keep.key.startswith("write_sent/")


def begun_for_a_reason(
    trace: Sequence[Begun],
    keeps: Sequence[Keep],
    moves: Sequence[Move],
    done: Sequence[Disturbance],
    mended: Collection[str],
) -> Iterator[str]:
    """What is committed is never begun again; what was in flight, if its run lost the claim.

    Args:
        done: what was done to the processes.
        mended: workflows that failed at the step `BROKEN`, and were begun again.
    """
    over = {(move.workflow, move.epoch): move for move in moves if move.new_epoch != move.epoch}
    committed = {(keep.workflow, keep.key): keep.epoch for keep in keeps if keep.did == "INSERT"}
    steps: dict[tuple[str, str], list[Begun]] = defaultdict(list)
    late: Counter[tuple[str, int]] = Counter()
    for entry in trace:
        steps[entry.workflow, entry.step].append(entry)
        end = over.get((entry.workflow, entry.epoch))
        late[entry.workflow, entry.epoch] += end is not None and entry.at > end.at
    for (workflow, epoch), count in late.items():
        # One may be on its way when the claim ends; it is refused when it is to be kept.
        if count > 1:
            yield f"a zombie went on with {workflow}: {count} steps begun after epoch {epoch} was over"
    for (workflow, step), entries in steps.items():
        name = f"{step} of {workflow}"
        entries = sorted(entries, key=lambda entry: entry.epoch)
        last = committed.get((workflow, step))
        for entry in entries:
            if last is not None and entry.epoch > last:
                yield f"{name} was committed under epoch {last}, and begun again under {entry.epoch}"
        for first, second in pairwise(entries):
            if first.epoch == second.epoch:
                yield f"{name} was begun twice under epoch {first.epoch}"
            elif odd := _odd(over.get((workflow, first.epoch)), first, done, mended):
                epochs = f"{first.epoch} (by {first.pid}) and {second.epoch}"
                yield f"{name} was begun under epochs {epochs}: {odd}"


def _odd(end: Move | None, first: Begun, done: Sequence[Disturbance], mended: Collection[str]) -> str | None:
    """Why a step that was begun must not have been begun again by the next claim; None if it may."""
    if end is None:
        return "its claim was never over"
    if first.at > end.at or end.before != "running":
        return None  # it was late itself: the next claim's is the first
    if end.after == "running":
        fine = lost_its_claim(done, first.pid, first.at, end.at, lease_left=end.lease_left)
        return None if fine else "taken over, though nothing was done to its runner"
    if end.after == "parked":
        return None if had_an_outage(done, first.at, end.at) else "parked, though nothing was away"
    if end.after == "failed":
        return None if first.step == BROKEN and first.workflow in mended else "it failed"
    return f"it was {end.after} with a step in flight"


def taken_under_a_lease(moves: Sequence[Move], done: Sequence[Disturbance]) -> Iterator[str]:
    """Nobody takes a workflow once his own lease has run out. `done`: what was done to the processes."""
    stepped = [(d.start - _JUST, d.end) for d in done if d.kind == "clock step"]
    for move in moves:
        if move.taken_with is None or move.taken_with > 0:
            continue
        # The clock may have been set between the claim's look and the note of it.
        if not any(start <= move.at <= end for start, end in stepped):
            late = f"{-move.taken_with:.2f} s after the lease of who took it was over"
            yield f"{move.workflow} was claimed {late}"


def moves_are_allowed(moves: Sequence[Move]) -> Iterator[str]:
    """What has ended stays so, unless it failed and is begun again; nothing runs for a batch that is gone."""
    for move in moves:
        if move.before in ("succeeded", "cancelled") and move.after != move.before:
            yield f"{move.workflow} was {move.before}, and then {move.after}"
        elif move.before == "failed" and move.after not in ("failed", "queued"):
            yield f"{move.workflow} was failed, and then {move.after}"
        if move.after == "running" and not move.wanted:
            yield f"{move.workflow} was claimed though its batch is gone"
        if move.after in ("succeeded", "failed", "cancelled") and move.epoch == move.new_epoch:
            yield f"{move.workflow} was {move.after} and keeps its epoch"

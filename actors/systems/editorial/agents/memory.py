"""Institutional memory: what a specialist found out once is not looked up again (seed 004 §7.3).

Asked by the fact checker and the evidence finder before they search; `{root}/{subdir}/{date}/{hash}.json`.
The first record of a key stays: writers take the folder's lock, so two of them, in two processes and
on two sides of midnight, leave one whole file. A file that can't be read is an error, never a miss; a disk
that can't be used is an outage.
"""

import hashlib
import os
import re
import unicodedata
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from models.content.editorial import EvidenceRecord, FactCheckRecord
from models.errors import MemoryRecordInvalid, MemoryUnavailable
from models.files import locked, write_atomically

R = TypeVar("R", FactCheckRecord, EvidenceRecord)

_KEY_HASH = re.compile(r"[0-9a-f]{16}")


def normalize_query(query: str) -> str:
    """The query as a key: Unicode NFKC, casefolded, runs of whitespace as one space, stripped."""
    return " ".join(unicodedata.normalize("NFKC", query).casefold().split())


def cache_key_hash(*fields: str) -> str:
    """The first 16 hex digits of SHA-256 over the fields joined by `|`, the agent's name first."""
    return hashlib.sha256("|".join(fields).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def fact_check_key(query: str, model_name: str, kb_index_version: str) -> str:
    """The key of a fact check, and so the name of its file."""
    return cache_key_hash("fact_check", normalize_query(query), model_name, kb_index_version)


def evidence_key(query: str, model_name: str, kb_index_version: str) -> str:
    """The key of found evidence; `kb_index_version`, empty for a provider outside, is then no part of it."""
    index = [kb_index_version] if kb_index_version else []
    return cache_key_hash("evidence_finding", normalize_query(query), model_name, *index)


class InstitutionalMemory:
    """Files of earlier findings. All calls block on the disk: call them in a thread.

    On several nodes `root` must be one shared folder that supports locks (flock).
    """

    def __init__(self, *, root: Path, fact_checking_subdir: str, evidence_finding_subdir: str) -> None:
        self._fact_checking = root / fact_checking_subdir
        self._evidence_finding = root / evidence_finding_subdir

    def recall_fact_check(
        self, *, query: str, model_name: str, kb_index_version: str
    ) -> FactCheckRecord | None:
        """The fact check kept under this key, or None.

        Raises:
            MemoryRecordInvalid: the file of this key is not a whole, valid record.
            MemoryUnavailable: the disk can't be read.
        """
        key = fact_check_key(query, model_name, kb_index_version)
        record = _first(self._fact_checking, key, FactCheckRecord)
        if record is None or record.kb_index_version != kb_index_version:
            return None
        return record if _is_about(record, key, normalize_query(query), model_name) else None

    def recall_evidence(self, *, query: str, model_name: str, kb_index_version: str) -> EvidenceRecord | None:
        """The evidence kept under this key, or None.

        Raises:
            MemoryRecordInvalid: the file of this key is not a whole, valid record.
            MemoryUnavailable: the disk can't be read.
        """
        key = evidence_key(query, model_name, kb_index_version)
        record = _first(self._evidence_finding, key, EvidenceRecord)
        return (
            record
            if record is not None and _is_about(record, key, normalize_query(query), model_name)
            else None
        )

    def remember(self, record: FactCheckRecord | EvidenceRecord) -> None:
        """Keep a record under its `cache_key_hash`, unless that key has one already: the first stays.

        Raises:
            ValueError: the hash is not 16 hex digits, or the timestamp is not ISO 8601.
            MemoryUnavailable: the file can't be written.
        """
        if not _KEY_HASH.fullmatch(record.cache_key_hash):
            raise ValueError(f"cache_key_hash must be 16 lower-case hex digits: {record.cache_key_hash!r}")
        folder = self._fact_checking if isinstance(record, FactCheckRecord) else self._evidence_finding
        name = f"{record.cache_key_hash}.json"
        day = _day(record.timestamp)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with locked(folder):
                # Looked for under every date: the other writer may have been on the other side of midnight.
                if not any((folder / date / name).exists() for date in _dates(folder)):
                    write_atomically(folder / day / name, record.model_dump_json(indent=2))
        except OSError as error:
            raise _away(folder, error) from error


def _first(folder: Path, key: str, kind: type[R]) -> R | None:
    """The oldest record of a key, by its date folder."""
    for date in _dates(folder):
        path = folder / date / f"{key}.json"
        try:
            return kind.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            continue
        except (IsADirectoryError, ValidationError) as error:
            raise MemoryRecordInvalid(
                f"institutional memory: {path} is not a whole, valid record: {_why(error)}. Delete the "
                "file, and the finding is looked up again; or put back its backup"
            ) from error
        except OSError as error:
            raise _away(folder, error) from error
    return None


def _dates(folder: Path) -> list[str]:
    # Not Path.glob: it takes a folder that can't be read for an empty one.
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise _away(folder, error) from error


def _away(folder: Path, error: OSError) -> MemoryUnavailable:
    """What the disk says against it is no topic's fault."""
    why = error.strerror or str(error)
    return MemoryUnavailable(
        f"institutional memory: {error.filename or folder} can't be used: {why}. Check "
        "institutional_memory.data_dir: it takes a folder that this user can write, on a disk with room",
        waits_for=f"institutional memory ({folder}: {why})",
    )


def _why(error: OSError | ValidationError) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    faults = error.errors(include_url=False, include_input=False)[:3]
    return "; ".join(f"{'.'.join(map(str, fault['loc'])) or 'file'}: {fault['msg']}" for fault in faults)


def _is_about(record: FactCheckRecord | EvidenceRecord, key: str, normalized: str, model_name: str) -> bool:
    """Whether a record answers this question: a colliding hash or a file changed by hand does not."""
    return (record.cache_key_hash, record.normalized_query, record.model_name) == (
        key,
        normalized,
        model_name,
    )


def _day(timestamp: str) -> str:
    moment = datetime.fromisoformat(timestamp)
    return (moment.astimezone(UTC) if moment.tzinfo else moment).date().isoformat()

"""Names of persons: the seam to what finds them, and its side with a token-classification model.

The model is the user's own: a folder as `transformers` saves it. It runs on the CPU of whoever redacts, over
windows that overlap, so that no name is cut; how well it finds names is the model's affair.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from actors.systems.knowledge.redaction.names_folder import invalid_names_model, is_person, without_persons

_LONGEST = 512  # tokens that models of this kind read at once
_OVERLAP = 64
_SPECIAL = 2  # positions that some models keep for themselves
_AT_ONCE = 8
# Words as names have them; no sign of Markdown, so that a mark can't break a link.
_WORDS = re.compile(r"[^\W_]+(?:['’.-]*[^\W_]+)*")
_BETWEEN = re.compile(r"\.?[ \u00a0]|[.'’-]{1,2}")


class NameFinder(Protocol):
    """The seam to what finds names."""

    def find(self, text: str) -> Sequence[tuple[int, int]]:
        """Spans `text[start:end]` of persons' names, in order, without overlaps."""
        ...


class ModelNames:
    """Names that a model finds.

    Args:
        folder: with config, weights and a fast tokenizer; nothing is fetched, and no code of it is run.

    Raises:
        ConfigInvalid: it can't be loaded, or none of its labels is for persons.
    """

    def __init__(self, folder: Path) -> None:
        try:
            # Heavy, and needed by sites with a model alone.
            import torch
            import transformers
        except ImportError as error:
            raise invalid_names_model(folder, f"{error}: install transformers and torch") from error
        if not (folder / "config.json").is_file():
            raise invalid_names_model(
                folder, "there is no config.json: give the folder that save_pretrained wrote"
            )
        try:
            self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
            model: Any = transformers.AutoModelForTokenClassification.from_pretrained(
                folder, local_files_only=True
            )
        except Exception as error:  # whatever a broken file makes its parsers raise
            raise invalid_names_model(folder, f"it can't be loaded: {error}") from error
        if not self._tokenizer.is_fast:
            raise invalid_names_model(
                folder, "its tokenizer tells no offsets: save a fast one (tokenizer.json) with it"
            )
        labels: dict[int, str] = model.config.id2label
        persons = [int(n) for n, label in labels.items() if is_person(label)]
        if not persons:
            raise without_persons(folder, labels.values())
        positions = getattr(model.config, "max_position_embeddings", None) or _LONGEST + _SPECIAL
        self._window = min(self._tokenizer.model_max_length, positions - _SPECIAL, _LONGEST)
        self._overlap = min(_OVERLAP, self._window // 4)
        self._persons = torch.tensor(persons)
        self._model = model.eval()

    def find(self, text: str) -> Sequence[tuple[int, int]]:
        """See `NameFinder`. Each word is a name's or it is not; words of one name make one span."""
        pieces = [piece for piece in self._pieces(text) if piece[0] < piece[1]]
        spans: list[tuple[int, int]] = []
        near = 0
        for word in _WORDS.finditer(text):
            start, end = word.span()
            while near < len(pieces) and pieces[near][1] <= start:
                near += 1
            if near == len(pieces):
                break
            if pieces[near][0] >= end:
                continue
            if spans and _BETWEEN.fullmatch(text, spans[-1][1], start):
                start = spans.pop()[0]
            spans.append((start, end))
        return spans

    def _pieces(self, text: str) -> list[tuple[int, int]]:
        """Spans of the tokens that the model takes for parts of names, in order."""
        windows = self._tokenizer(
            text,
            truncation=True,
            max_length=self._window,
            stride=self._overlap,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
            return_special_tokens_mask=True,
            padding="max_length" if len(text) > self._window else False,
        )
        found: set[tuple[int, int]] = set()
        count = len(windows["input_ids"])
        for window, named in enumerate(self._named(windows)):
            offsets, special = windows["offset_mapping"][window], windows["special_tokens_mask"][window]
            real = [place for place, none in enumerate(special) if not none]
            # Of what two windows share, each tells of the half that it sees with more around it.
            skipped = self._overlap // 2 if window else 0
            left = self._overlap - self._overlap // 2 if window < count - 1 else 0
            for place in real[skipped : len(real) - left]:
                if named[place]:
                    found.add(tuple(offsets[place]))
        return sorted(found)

    def _named(self, windows: Any) -> Iterator[list[bool]]:
        """For each token of each window whether it is of a name."""
        import torch

        names = [name for name in self._tokenizer.model_input_names if name in windows]
        for first in range(0, len(windows["input_ids"]), _AT_ONCE):
            batch = {name: torch.tensor(windows[name][first : first + _AT_ONCE]) for name in names}
            with torch.inference_mode():
                best = self._model(**batch).logits.argmax(dim=-1)
            yield from torch.isin(best, self._persons).tolist()

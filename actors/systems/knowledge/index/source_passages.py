"""Sources cut into passages: where each begins and ends, whatever a text is and however long.

Called by the agent `knowledge_index` and the batch. A text is read by the chunker a part at a time, or
the tokens of a book would fill memory; what ends a part is cut again with the next.
"""

from actors.platform.search.chunks import Chunker
from models.config import EmbeddingConfig, KnowledgeBaseConfig

_PART = 200_000


class PassageCutter:
    """Cuts texts for the embedding model, as documents of the knowledge base are cut.

    `made_with` names all that a passage and its vector are shaped by.

    Raises:
        KnowledgeBaseInvalid: the settings and the model's files don't fit together.
    """

    def __init__(
        self, *, settings: KnowledgeBaseConfig, embedding: EmbeddingConfig, part: int = _PART
    ) -> None:
        self._chunker = Chunker(settings=settings, embedding=embedding)
        self._part = part
        self.made_with = (
            f"{embedding.model_name}, {settings.chunk_size_tokens} tokens "
            f"({settings.chunk_overlap_tokens} shared), tokenizer {self._chunker.digest[:16]}"
        )

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where each passage begins and ends, in characters: in order, no two at one place, none blank."""
        found: list[tuple[int, int]] = []
        at = 0
        while at < len(text):
            stop = min(len(text), at + self._part)
            spans = self._chunker.spans(text[at:stop])
            following = stop
            if stop < len(text) and len(spans) > 1:
                # It may go on: it is cut again with what follows.
                following = at + spans.pop()[0]
            for start, end in spans:
                start, end = at + start, at + end
                # Several tokens of one character have one place: no passage begins where another did.
                if found and start <= found[-1][0]:
                    start = found[-1][1]
                if start < end and text[start:end].strip():
                    found.append((start, end))
            at = max(following, at + 1)
        return found

    def clip(self, query: str) -> str:
        """The beginning of a query, as far as the model reads."""
        return self._chunker.clip(query)

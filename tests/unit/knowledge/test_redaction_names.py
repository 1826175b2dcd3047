"""Names by a model: places and windows, with a tiny one that knows some words. It shows no quality."""

import json
from pathlib import Path

import pytest
import torch
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from actors.systems.knowledge.parsing.page_reading import PageReading, read_plain_page
from actors.systems.knowledge.parsing.reading_pool import ReadingPool
from actors.systems.knowledge.redaction.names import ModelNames
from actors.systems.knowledge.redaction.names_folder import check_names_model
from actors.systems.knowledge.redaction.redactor import Redactor
from actors.systems.knowledge.scraping.scraping_settings import ScrapingSettings
from models.config import Config
from models.errors import ClusterProblem, ConfigInvalid

NAMES = ("jan", "kowalski", "łukasz", "żak", "nowak", "anna", "o", "brien")
OTHERS = (
    "pisze",
    "do",
    "a",
    "w",
    "łodzi",
    "i",
    "https",
    "x",
    "pl",
    "mail",
    "[",
    "]",
    "(",
    ")",
    ".",
    ":",
    "/",
    "'",
    "-",
)
LABELS = {0: "O", 1: "B-PER", 2: "I-PER"}


def _saved(folder: Path, labels: dict[int, str] = LABELS, positions: int = 34) -> Path:
    """A BERT with random weights, but for those that make a word of NAMES a person, at any place."""
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *NAMES, *OTHERS, "##ski"]
    vocabulary = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=positions,
    ).save_pretrained(folder)
    torch.manual_seed(0)
    model = transformers.BertForTokenClassification(
        transformers.BertConfig(
            vocab_size=len(words),
            hidden_size=8,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=8,
            max_position_embeddings=positions,
            id2label=labels,
            label2id={label: number for number, label in labels.items()},
        )
    )
    with torch.no_grad():
        embeddings = model.bert.embeddings.word_embeddings.weight
        embeddings.fill_(0)
        model.bert.embeddings.position_embeddings.weight.fill_(0)
        model.bert.embeddings.token_type_embeddings.weight.fill_(0)
        for name in NAMES:
            embeddings[vocabulary[name], 0] = 50
        layer = model.bert.encoder.layer[0]
        for part in (layer.attention.output.dense, layer.output.dense):
            part.weight.fill_(0)
            part.bias.fill_(0)
        model.classifier.weight.fill_(0)
        model.classifier.weight[1, 0] = 10
        model.classifier.bias.copy_(torch.tensor([15.0, 0, -5])[: len(labels)])
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> ModelNames:
    return ModelNames(_saved(tmp_path_factory.mktemp("names")))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Jan Kowalski pisze do Anna.", ["Jan Kowalski", "Anna"]),
        ("pisze Łukasz Żak w Łodzi 😀 i Nowak", ["Łukasz Żak", "Nowak"]),
        ("Nowak-Kowalski a O'Brien", ["Nowak-Kowalski", "O'Brien"]),
        ("Jan\nAnna", ["Jan", "Anna"]),
        ("[Jan Kowalski](https://x.pl/jan-kowalski)", ["Jan Kowalski", "jan-kowalski"]),
        ("[Jan](https://x.pl) Kowalski", ["Jan", "Kowalski"]),
        ("pisze do", []),
        ("", []),
    ],
)
def test_names_are_found_at_their_places(names: ModelNames, text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in names.find(text)] == found


def test_a_long_text_is_read_to_its_end_in_windows(names: ModelNames) -> None:
    """Windows have 32 tokens here: names stand at every place of one, and across the ends of two."""
    for gap in range(1, 40):
        text = "pisze " * gap + "Jan Kowalski " + ("do " * gap + "Łukasz Żak ") * 8
        found = [text[start:end] for start, end in names.find(text)]
        assert found == ["Jan Kowalski"] + ["Łukasz Żak"] * 8


def test_names_go_with_the_rest(names: ModelNames) -> None:
    redactor = Redactor(["email", "phone"], names=names)
    done = redactor.redact("Jan Kowalski pisze: [Anna](mailto:anna@x.pl), tel. 601 234 567")
    assert done.text == "[person] pisze: [[person]](mailto:[email]), tel. [phone]"
    assert done.counts == {"person": 2, "email": 1, "phone": 1}
    assert Redactor([], names=names).redact("Anna pisze").text == "[person] pisze"


def test_a_mark_begins_no_definition(names: ModelNames) -> None:
    assert Redactor([], names=names).redact("Anna: pisze").text == "[person]\\: pisze"


@pytest.mark.parametrize("broken", ["none", "config", "weights", "tokenizer", "labels"])
def test_what_can_t_be_loaded_is_said_with_its_setting(tmp_path: Path, broken: str) -> None:
    folder = tmp_path / "model"
    if broken != "none":
        _saved(folder, {0: "O", 1: "B-LOC"} if broken == "labels" else LABELS)
    if broken == "config":
        (folder / "config.json").write_text("{")
    elif broken == "weights":
        (folder / "model.safetensors").write_bytes(b"no weights")
    elif broken == "tokenizer":
        (folder / "tokenizer.json").write_text(json.dumps({"version": "1.0"}))
    with pytest.raises(ConfigInvalid, match=r"^knowledge\.redaction\.names_model: .*model: "):
        ModelNames(folder)


@pytest.mark.parametrize("broken", ["none", "config", "no labels", "tokenizer", "labels"])
def test_a_folder_without_a_model_is_refused_before_anything_is_begun(
    tmp_path: Path, config: Config, broken: str
) -> None:
    folder = tmp_path / "model"
    if broken != "none":
        _saved(folder, {0: "O", 1: "B-LOC"} if broken == "labels" else LABELS)
        check = folder / "config.json"
        check.write_text({"config": "{", "no labels": "{}"}.get(broken, check.read_text()))
    if broken == "tokenizer":
        (folder / "tokenizer.json").unlink()
    redaction = config.knowledge.redaction.model_copy(update={"names_model": folder})
    knowledge = config.knowledge.model_copy(update={"redaction": redaction})
    with pytest.raises(ConfigInvalid, match=r"^knowledge\.redaction\.names_model: .*model: "):
        ScrapingSettings.of(config.model_copy(update={"knowledge": knowledge}))


@pytest.mark.heavy
async def test_a_reader_of_pages_has_the_model_before_its_memory_is_bounded(tmp_path: Path) -> None:
    """What torch takes of address space is more than a page may."""
    folder = _saved(tmp_path / "model")
    check_names_model(folder)
    pool = ReadingPool(readers=1, seconds=20, max_memory_mb=200, names_model=folder)
    try:
        reading = await pool.read(read_plain_page, b"Jan Kowalski pisze", None, (), folder, shape=PageReading)
    finally:
        await pool.close()
    assert reading.text == "[person] pisze"


async def test_a_model_that_breaks_is_no_fault_of_a_page(tmp_path: Path) -> None:
    folder = _saved(tmp_path / "model")
    (folder / "model.safetensors").write_bytes(b"no weights")
    pool = ReadingPool(readers=1, seconds=20, names_model=folder)
    with pytest.raises(ClusterProblem, match="can't be started"):
        await pool.read(read_plain_page, b"Jan", None, (), folder, shape=PageReading)
    await pool.close()

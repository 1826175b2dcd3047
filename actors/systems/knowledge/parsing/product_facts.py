"""What a shop's page says of its product to machines: name, maker, price and description.

Read by `main_text`: shops make the price and often the description by script, while JSON-LD, microdata or
OpenGraph hold them in the page. A page that lists products is about none of them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import unescape
from typing import Any
from urllib.parse import unquote

from lxml.etree import ParserError
from lxml.html import fragment_fromstring

from actors.systems.knowledge.parsing.json_ld import Node, kinds_of, listed, text_of
from models.record import Record
from models.text import one_line, shortened

_SOLD = frozenset(("Product", "ProductGroup", "ProductModel", "IndividualProduct", "Vehicle", "Car"))
_NOT_SHOPS = frozenset(
    ("Article", "NewsArticle", "BlogPosting", "DiscussionForumPosting", "QAPage", "Recipe")
)
_LONGEST_NAME, _LONGEST_DESCRIPTION = 300, 20_000
_MOST_OFFERS = 200


class Product(Record):
    """A product as its page has it. `price` is an amount with its currency, or a range of it."""

    name: str
    brand: str = ""
    sku: str = ""
    price: str = ""
    availability: str = ""
    description: str = ""

    def missing_from(self, text: str) -> str:
        """Markdown of what a text lacks of the product; "" where it lacks nothing."""
        known = _flat(text)
        parts = [] if _flat(self.name) in known else [f"# {self.name}"]
        facts = {
            "Brand": self.brand,
            "SKU": self.sku,
            "Price": self.price,
            "Availability": self.availability,
        }
        lines = [f"- {name}: {value}" for name, value in facts.items() if value and not _holds(known, value)]
        if lines:
            parts.append("\n".join(lines))
        if self.description and not _told(self.description, known):
            parts.append(self.description)
        return "\n\n".join(parts)


def product_of(tree: Any, nodes: Sequence[Node]) -> Product | None:
    """The one product that a page is about; None where it is about none, or about several.

    Args:
        tree: an lxml tree of the page.
        nodes: of its JSON-LD.
    """
    if any(not kinds_of(node).isdisjoint(_NOT_SHOPS) for node in nodes):
        return None
    sold = [node for node in nodes if not kinds_of(node).isdisjoint(_SOLD) and text_of(node.get("name"))]
    names = {_flat(text_of(node.get("name"))) for node in sold}
    if len(names) == 1 or (names and any("ProductGroup" in kinds_of(node) for node in sold[:1])):
        return _of_node(sold[0])
    return None if names else _of_microdata(tree) or _of_opengraph(tree)


def _of_node(node: Node) -> Product:
    offers = list(_offers(node))
    return Product(
        name=_line(text_of(node.get("name"))),
        brand=_line(text_of(node.get("brand") or node.get("manufacturer"))),
        sku=_line(text_of(node.get("sku") or node.get("mpn") or node.get("productID"))),
        price=_price([(text_of(one.get("price")), text_of(one.get("priceCurrency"))) for one in offers]),
        availability=_line(text_of(offers[0].get("availability")).rpartition("/")[2]) if offers else "",
        description=_plain(text_of(node.get("description"))),
    )


def _offers(node: Node) -> Iterator[Mapping[str, object]]:
    """The offers of a product, those of its variants and the ends of ranges among them."""
    holders = [node, *(one for one in listed(node.get("hasVariant")) if isinstance(one, Mapping))]
    waiting = [one for holder in holders[:_MOST_OFFERS] for one in listed(holder.get("offers"))]
    for one in waiting[:_MOST_OFFERS]:
        if not isinstance(one, Mapping):
            continue
        inner = [
            *(part for part in listed(one.get("priceSpecification")) if isinstance(part, Mapping)),
            *({"price": one[end]} for end in ("lowPrice", "highPrice") if one.get(end)),
        ]
        if one.get("price") or not inner:
            yield one
        for part in () if one.get("price") else inner[:10]:
            yield {**one, **part}


def _price(offers: Sequence[tuple[str, str]]) -> str:
    """An amount with its currency; from the lowest to the highest where there are several."""
    found: dict[float, str] = {}
    currency = next((one for _, one in offers if one), "")
    for amount, of in offers:
        if of in ("", currency) and (value := _amount(amount)) is not None and value > 0:
            found.setdefault(value, _line(amount))
    if not found:
        return ""
    low, high = found[min(found)], found[max(found)]
    return _line(f"{low if low == high else f'{low}–{high}'} {currency}")


def _amount(written: str) -> float | None:
    plain = "".join(char for char in written if char.isdigit() or char in ".,")
    if plain.count(",") == 1 and "." not in plain:
        plain = plain.replace(",", ".")
    try:
        return float(plain.replace(",", ""))
    except ValueError:
        return None


def _of_microdata(tree: Any) -> Product | None:
    found = [
        element
        for element in tree.iter("html", "body", "main", "div", "article", "section", "form", "span")
        if (element.get("itemtype") or "").rstrip("/").rpartition("/")[2] in _SOLD
    ]
    # Those within another, and those of lists, are related products.
    outer = [
        one
        for one in found
        if not any(above.get("itemtype") in _types(found) for above in one.iterancestors())
    ]
    if len(outer) != 1:
        return None
    values: dict[str, str] = {}
    for element in outer[0].iter():
        name = element.get("itemprop") if isinstance(element.tag, str) else None
        if name and name not in values:
            values[name] = _line(element.get("content") or element.get("href") or _text(element))
    if not values.get("name"):
        return None
    prices = [
        (values.get(name, ""), values.get("priceCurrency", "")) for name in ("price", "lowPrice", "highPrice")
    ]
    return Product(
        name=values["name"],
        brand=values.get("brand", "") or values.get("manufacturer", ""),
        sku=values.get("sku", "") or values.get("mpn", ""),
        price=_price(prices),
        availability=values.get("availability", "").rpartition("/")[2],
        description=values.get("description", ""),
    )


def _types(elements: Iterable[Any]) -> frozenset[str]:
    return frozenset(element.get("itemtype") for element in elements)


def _of_opengraph(tree: Any) -> Product | None:
    said: dict[str, str] = {}
    for element in tree.iter("meta"):
        name = element.get("property") or element.get("name") or ""
        if name.startswith(("og:", "product:")):
            said.setdefault(name, _line(element.get("content") or ""))
    if said.get("og:type") not in ("product", "og:product", "product.item") or not said.get("og:title"):
        return None
    amount = said.get("product:price:amount") or said.get("og:price:amount") or ""
    currency = said.get("product:price:currency") or said.get("og:price:currency") or ""
    return Product(
        name=said["og:title"],
        brand=said.get("product:brand", ""),
        sku=said.get("product:retailer_item_id", ""),
        price=_price([(amount, currency)]),
        availability=said.get("product:availability", ""),
        description=said.get("og:description", ""),
    )


def _plain(described: str) -> str:
    """A description, which often holds HTML, or is spelled as addresses are."""
    described = unescape(described[:_LONGEST_DESCRIPTION])
    if "%20" in described and " " not in described:
        described = unquote(described)
    if "<" in described:
        try:
            described = " ".join(fragment_fromstring(described, create_parent="div").itertext())
        except (ParserError, ValueError):
            return ""
    return one_line(described)


def _line(text: str) -> str:
    # Names are often escaped once too often.
    return shortened(unescape(unescape(text[: 4 * _LONGEST_NAME])), _LONGEST_NAME)


def _text(element: Any) -> str:
    return " ".join(part for _, part in zip(range(200), element.itertext(), strict=False))


def _flat(text: str) -> str:
    return " ".join("".join(char if char.isalnum() else " " for char in text.casefold()).split())


def _holds(known: str, value: str) -> bool:
    return f" {_flat(value)} " in f" {known} "


def _told(description: str, known: str) -> bool:
    """Whether most of a description's words stand in the text already, in its order or another."""
    words = _flat(description).split()
    have = frozenset(known.split())
    return sum(word in have for word in words) >= 0.8 * len(words)

"""Whether an expression asks for what there is: its metrics, and the labels that they have.

What it comes to has labels, too: those that a template may name (`{{ $labels.kind }}`, `{{kind}}`).
"""

from collections.abc import Mapping

from serve.monitoring.families import FAMILIES
from tests.promql.parsing import Aggregation, Binary, Call, Expression, Number, Selector

# What Prometheus gives every series of a target, and what it tells of the target itself.
OF_TARGETS = frozenset(("job", "instance"))
UP: Mapping[str, frozenset[str]] = {"up": frozenset()}


class Misnamed(Exception):
    """It asks for a metric or a label that there is not, or uses one as what it is not."""


def there_are() -> dict[str, frozenset[str]]:
    """The labels of every sample that `/metrics` may have, by its name."""
    return {
        sample: frozenset(family.labels) | ({"le"} if sample.endswith("_bucket") else set())
        for family in FAMILIES
        for sample in family.samples
    }


def check(expression: Expression, known: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """The labels of what an expression comes to. Misnamed where it asks for what is not among `known`."""
    match expression:
        case Number():
            return frozenset()
        case Selector(seconds=None):
            return _selected(expression, known)
        case Selector():
            raise Misnamed(f"a range of {expression.name} where no range may be")
        case Call():
            return _called(expression, known)
        case Aggregation(by=by, without=without):
            labels = check(expression.argument, known)
            if expression.parameter is not None:
                check(expression.parameter, known)
            _among(by or without or (), labels, f"{expression.op} by")
            if expression.op == "topk":
                return labels
            return frozenset(by or ()) if without is None else labels - set(without)
        case Binary(on=on):
            left, right = check(expression.left, known), check(expression.right, known)
            if Number in (type(expression.left), type(expression.right)):
                return left | right
            _among(on or (), left, f"{expression.op} on, left")
            _among(on or (), right, f"{expression.op} on, right")
            _among(expression.group_left or (), right, "group_left")
            one_to_one = expression.op not in ("or", "and", "unless") and expression.group_left is None
            if on is None and expression.ignoring is None and left != right and expression.op != "or":
                raise Misnamed(f"{expression.op} between {sorted(left)} and {sorted(right)}: say on which")
            if on is not None and one_to_one:
                return frozenset(on)
            return left | set(expression.group_left or ())


def _selected(selector: Selector, known: Mapping[str, frozenset[str]]) -> frozenset[str]:
    if selector.name not in known:
        raise Misnamed(f"there is no metric {selector.name}")
    labels = known[selector.name] | OF_TARGETS
    _among([matcher.label for matcher in selector.matchers], labels, selector.name)
    return labels


def _called(call: Call, known: Mapping[str, frozenset[str]]) -> frozenset[str]:
    ranged = [type(each) is Selector and each.seconds is not None for each in call.arguments]
    if any(ranged) != (call.function in ("rate", "increase")):
        raise Misnamed(f"{call.function} of {'a range' if any(ranged) else 'no range'}")
    if call.function in ("rate", "increase"):
        [selector] = call.arguments
        assert isinstance(selector, Selector)
        if not selector.name.endswith(("_total", "_count", "_sum", "_bucket")):
            raise Misnamed(f"{call.function} of {selector.name}, which is no counter")
        return _selected(selector, known)
    labels = [check(each, known) for each in call.arguments]
    if call.function == "histogram_quantile":
        if len(labels) != 2 or "le" not in labels[1]:
            raise Misnamed("histogram_quantile of what has no le")
        return labels[1] - {"le"}
    if call.function == "absent":
        return frozenset()
    return labels[0] if labels else frozenset()


def _among(names: object, labels: frozenset[str], where: str) -> None:
    assert isinstance(names, tuple | list)
    if missing := sorted(set(names) - labels):
        raise Misnamed(f"{where}: there is no label {', '.join(missing)}, only {', '.join(sorted(labels))}")

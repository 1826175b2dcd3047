"""The four figures of linked items. Called by `link`; the formulas are in `CorrelationFigures`."""

from collections.abc import Sequence

from models.operations.evidence import Conflict, Correlation, CorrelationFigures, Identifier


def figures_of(
    items: int,
    identifiers: Sequence[Identifier],
    correlations: Sequence[Correlation],
    conflicts: Sequence[Conflict],
) -> CorrelationFigures:
    """The figures of so many items."""
    agreeing = sum(len({match.kind for match in correlation.matches}) for correlation in correlations)
    compared = agreeing + len(conflicts)
    consistency = agreeing / compared if compared else 0.0
    linked = {item for correlation in correlations for item in (correlation.left, correlation.right)}
    share = min(len(linked) / items, 1.0) if items else 0.0
    sureness = sum(one.score for one in correlations) / len(correlations) if correlations else 0.0
    vendors = {(found.item, found.normal) for found in identifiers if found.kind == "vendor"}
    return CorrelationFigures(
        cross_references=len(correlations),
        data_consistency=round(consistency, 4),
        vendor_mentions=len(vendors),
        quality_score=round(min((share + sureness + consistency) / 3, 1.0), 4),
    )

"""The figures of a whole campaign, as they are kept in benchmarks/RESULTS.md."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.harness.machine import describe_host, describe_packages
from benchmarks.harness.report import Aim, Report, Table
from tests.faults.campaign import Campaign

ENOUGH = 1000


@dataclass(frozen=True)
class Search:
    """A defect that was put back and looked for, by a seed and some faults.

    `seen` is what gave it away after so many `faults`; None: nothing did. `control` is what the same runs
    without the defect found; None: nothing, as it must be.
    """

    what: str
    how: str
    faults: int
    seen: str | None
    control: str | None

    @property
    def is_found(self) -> bool:
        """Whether it was seen, and nothing was without it."""
        return self.seen is not None and self.control is None

    @property
    def row(self) -> tuple[str, str, str, str, str]:
        """It in the table."""
        found = "not found" if self.seen is None else str(self.faults)
        return self.what, self.how, found, self.seen or "", self.control or "ended well"


def report(campaign: Campaign, found: Sequence[Search], host: Sequence[str]) -> Report:
    """What came of it. `found`: defects that were put back; `host`: the machine as it was before."""
    outcomes, wrong = campaign.outcomes, campaign.wrong
    struck = Counter(name for outcome in outcomes for name in outcome.struck)
    drawn = Counter(name for outcome in outcomes for name in outcome.drawn)
    minutes = sum(outcome.seconds for outcome in outcomes) / 60
    workflows = sum(outcome.workflows for outcome in outcomes)
    messages = sum(outcome.messages for outcome in outcomes)
    seen = sum(search.is_found for search in found)
    return Report(
        name="faults",
        measured=f"`make faults`, seed {campaign.seed}: {campaign.done} faults that struck, of "
        f"{campaign.drawn} drawn, in {len(outcomes)} runs and {minutes:.0f} minutes; {workflows} workflows "
        f"(marches, batches, drafted and deep researches, operations, publications) and {messages} messages "
        "of chats.",
        machine=[*host, describe_packages(("psycopg", "langgraph", "fastapi"))],
        tables=[
            Table(
                "faults",
                ("fault", "struck", "drawn"),
                [(name, str(struck[name]), str(count)) for name, count in drawn.most_common()],
            ),
            Table(
                "defects put back, each found by the named faults alone",
                ("defect", "`--seed`, `--only`", "faults until it was found", "by", "without it"),
                [search.row for search in found],
            ),
        ],
        aims=[
            Aim(f"at least {ENOUGH} faults", campaign.done >= ENOUGH, str(campaign.done)),
            Aim("no run ends badly", not wrong, f"{len(wrong)} of {len(outcomes)}"),
            Aim(
                "each defect is found when it is put back, and nothing without it",
                seen == len(found),
                f"{seen} of {len(found)}",
            ),
        ],
        notes=[f"run {outcome.run}: {line}" for outcome in wrong for line in outcome.wrong],
    )


def host() -> list[str]:
    """The machine as it is now."""
    return describe_host(repetitions=1)

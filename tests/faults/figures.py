"""The figures of a whole campaign, as they are kept in benchmarks/RESULTS.md."""

from collections import Counter
from collections.abc import Sequence

from benchmarks.machine import describe_host, describe_packages
from benchmarks.report import Aim, Report, Table
from tests.faults.campaign import Campaign

ENOUGH = 1000


def report(campaign: Campaign, found: Sequence[tuple[str, str, int | None]], host: Sequence[str]) -> Report:
    """What came of it. `found`: defects that were put back, how, and after how many faults; None: not found.

    `host` is the machine as it was before.
    """
    outcomes, wrong = campaign.outcomes, campaign.wrong
    struck = Counter(name for outcome in outcomes for name in outcome.struck)
    drawn = Counter(name for outcome in outcomes for name in outcome.drawn)
    minutes = sum(outcome.seconds for outcome in outcomes) / 60
    workflows = sum(outcome.workflows for outcome in outcomes)
    messages = sum(outcome.messages for outcome in outcomes)
    seen = sum(n is not None for *_, n in found)
    return Report(
        name="faults",
        measured=f"`make faults`, seed {campaign.seed}: {campaign.done} faults that struck, of "
        f"{campaign.drawn} drawn, in {len(outcomes)} runs and {minutes:.0f} minutes; {workflows} workflows "
        f"(marches, batches, researches, publications) and {messages} messages of chats.",
        machine=[*host, describe_packages(("psycopg", "langgraph", "fastapi"))],
        tables=[
            Table(
                "faults",
                ("fault", "struck", "drawn"),
                [(name, str(struck[name]), str(count)) for name, count in drawn.most_common()],
            ),
            Table(
                "defects put back, each found by the named faults alone",
                ("defect", "`--seed`, `--only`", "faults until it was found"),
                [(what, how, "not found" if n is None else str(n)) for what, how, n in found],
            ),
        ],
        aims=[
            Aim(f"at least {ENOUGH} faults", campaign.done >= ENOUGH, str(campaign.done)),
            Aim("no run ends badly", not wrong, f"{len(wrong)} of {len(outcomes)}"),
            Aim("each defect is found when it is put back", seen == len(found), f"{seen} of {len(found)}"),
        ],
        notes=[f"run {outcome.run}: {line}" for outcome in wrong for line in outcome.wrong],
    )


def host() -> list[str]:
    """The machine as it is now."""
    return describe_host(repetitions=1)

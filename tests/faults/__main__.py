"""Run a campaign: `python -m tests.faults --faults 1000 --seed 1`.

What is drawn follows from seed and run; when it strikes does not, so a run that ended badly is begun again
with `--seed S --run K`, some times over if need be. A whole one, of 1000 faults or more, then looks for the
defects that can be put back, and writes its figures to benchmarks/RESULTS.md.
"""

import argparse
import asyncio
import logging
import signal
import sys
from collections import Counter
from dataclasses import replace

from rich.console import Console

from benchmarks.harness.report import SECTIONS, keep
from tests.faults import figures
from tests.faults.campaign import Campaign
from tests.faults.defects import DEFECTS, FOUND_BY
from tests.faults.draws import FAULTS

# After so many faults a defect that was put back is not found; so few are in one run, to see it soon.
_PATIENCE = 150
_FEWEST, _MOST = 4, 6


def main() -> int:
    """The exit code says whether every run ended well; with a defect, whether it was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--faults", type=int, default=1000, help="how many that strike, at least")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--run", type=int, help="this run only")
    parser.add_argument("--load", type=int, default=0, help="so many processes burn beside it")
    parser.add_argument("--few", action="store_true", help=f"{_FEWEST} to {_MOST} faults in a run")
    parser.add_argument("--only", default="", help=f"of these only, with commas: {', '.join(FAULTS)}")
    parser.add_argument("--defect", type=int, choices=sorted(DEFECTS), help="put back, to be found")
    parser.add_argument(
        "--search", type=int, choices=sorted(FOUND_BY), help="look for a defect as a whole campaign does"
    )
    told = parser.parse_args()
    logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)  # Postgres is away on purpose
    only = [name for name in told.only.split(",") if name]
    if unknown := set(only) - set(FAULTS):
        parser.error(f"--only: there is no fault {min(unknown)}")
    campaign = Campaign(
        seed=told.seed,
        faults=told.faults,
        only=only,
        defect=told.defect,
        first_run=told.run or 0,
        runs=None if told.run is None else 1,
        load=told.load,
    )
    if told.defect is not None or told.few:
        campaign.fewest, campaign.most = _FEWEST, _MOST
    host = figures.host()
    if told.search is not None:
        looked = _look_for(told.search)
        print(looked)  # noqa: T201
        return 0 if looked.is_found else 1
    try:
        asyncio.run(_carry(campaign, until_wrong=told.defect is not None))
    except asyncio.CancelledError:
        return 130
    struck = Counter(name for outcome in campaign.outcomes for name in outcome.struck)
    workflows = sum(outcome.workflows for outcome in campaign.outcomes)
    print(f"{campaign.done} faults of {campaign.drawn} drawn in {len(campaign.outcomes)} runs, ", end="")  # noqa: T201
    print(f"{workflows} workflows, seed {told.seed}, load {told.load}")  # noqa: T201
    print(", ".join(f"{name} {count}" for name, count in struck.most_common()))  # noqa: T201
    if told.defect is not None:
        print(f"defect {told.defect}: {'found' if campaign.wrong else 'NOT FOUND'}")  # noqa: T201
        return 0 if campaign.wrong else 1
    print(f"{len(campaign.wrong)} runs ended badly")  # noqa: T201
    if told.run is None and not only and told.faults >= figures.ENOUGH:
        made = figures.report(campaign, [_look_for(number) for number in FOUND_BY], host)
        made.show(Console(width=None if sys.stdout.isatty() else 140))
        keep(made, order=SECTIONS)
        return 0 if all(aim.met for aim in made.aims) else 1
    return 1 if campaign.wrong else 0


def _look_for(number: int) -> figures.Search:
    """Put a defect back, and look for it; then the same without it, which must end well."""
    search = FOUND_BY[number]
    assert search.seed is not None, "a campaign looks for it"
    only = list(search.only)
    campaign = Campaign(
        seed=search.seed, faults=_PATIENCE, fewest=_FEWEST, most=_MOST, only=only, defect=number
    )
    asyncio.run(_carry(campaign, until_wrong=True))
    control = replace(campaign, defect=None, runs=len(campaign.outcomes), outcomes=[])
    asyncio.run(_carry(control, until_wrong=True))
    return figures.Search(
        what=f"{number} {search.what}",
        how=f"{search.seed}, {','.join(search.only)}",
        faults=campaign.done,
        seen=campaign.wrong[0].wrong[0] if campaign.wrong else None,
        control=control.wrong[0].wrong[0] if control.wrong else None,
    )


async def _carry(campaign: Campaign, *, until_wrong: bool) -> None:
    """Carry it; whoever stops it by a signal finds everything taken away."""
    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    await campaign.carry(until_wrong=until_wrong)


if __name__ == "__main__":
    sys.exit(main())
